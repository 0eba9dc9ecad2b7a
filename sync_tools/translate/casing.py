"""One rename in all the casings in which a project writes its name."""

from dataclasses import dataclass
from functools import cache

from sync_tools.translate import rules


@dataclass(frozen=True)
class Casing:
    """How one spelling is replaced: alone (prose), and as a part of an identifier."""

    old: str
    alone: str
    joined: str


@cache
def _brands() -> dict[str, tuple[str, str]]:
    import tomllib

    raw = tomllib.loads(rules.source_of("names").decode("utf-8")).get("brands", {})
    return {word: (str(forms[0]), str(forms[1])) for word, forms in raw.items()}


def casings(old: str, new: str) -> tuple[Casing, ...]:
    """The spellings of `old`, longest first: lower, Title, UPPER, the brand, and `-` as `_` in each of them."""
    found = {form(old): (form(new), form(new)) for form in (str.lower, _title, str.upper)}
    if old in _brands():
        alone, joined = _brands().get(new, (_title(new), _title(new)))
        found[_brands()[old][0]] = (alone, joined)
    if "-" in old:
        found |= {k.replace("-", "_"): (a.replace("-", "_"), j.replace("-", "_")) for k, (a, j) in found.items()}
    return tuple(Casing(k, *found[k]) for k in sorted(found, key=lambda k: (-len(k), k)))


def _title(word: str) -> str:
    return word[:1].upper() + word[1:]
