"""A dropped flag that a sentence names: it goes where the sentence stands without it."""

import re

from sync_tools.translate.edits import Claims, Edit
from sync_tools.translate.text.places import Place

# Among other items of an enumeration, or as the condition of something that vLLM does in any case.
_FORMS = (
    r"(?<=`)[,，、]\s*`(?P<flag>{})`(?=[,，、])",
    r"\s+under the `(?P<flag>{})` condition",
    r"`(?P<flag>{})`\s*情况下的\s*",
)


def left_out(claims: Claims, place: Place, start: int, stop: int, rule: str) -> bool:
    """Take the flag at start..stop, and its unprefixed twin, out of their line; False where one of them has to stay."""
    if place.style != "prose":
        return False
    text, name = claims.text[place.lo : place.hi], claims.text[start:stop]
    spelled = "|".join(map(re.escape, sorted({name, name.replace("--sglang-", "--", 1)})))
    found = [m for form in _FORMS for m in re.finditer(form.format(spelled), text)]
    named = re.findall(rf"(?<![\w-])(?:{spelled})(?![\w-])", text)
    if len(found) != len(named) or start - place.lo not in {m.start("flag") for m in found}:
        return False
    for m in found:
        at = place.lo + m.start("flag")
        claims.edit(Edit(place.lo + m.start(), place.lo + m.end(), "", rule, before=m["flag"], after="", at=at))
    return True
