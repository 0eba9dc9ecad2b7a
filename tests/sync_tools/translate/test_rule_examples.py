"""The examples beside the rules are their tests."""

import pytest

from sync_tools.translate import Translator
from sync_tools.translate.rules import Rule, all_rules

TRANSLATOR = Translator()


def _id(value: object) -> str:
    return value.code if isinstance(value, Rule) else ""


def examples() -> list[tuple[Rule, str, str]]:
    return [(r, before, after) for r in all_rules() for before, after in r.examples]


def expected(rule: Rule, after: str) -> str:
    """The seam pass's examples stand in upstream's names, which the names pass changes after it."""
    return TRANSLATOR.file(rule.path, after.encode()).data.decode() if rule.code.startswith("SY1") else after


@pytest.mark.parametrize(("rule", "before", "after"), examples(), ids=_id)
def test_before_becomes_after_and_the_rule_is_named(rule: Rule, before: str, after: str) -> None:
    done = TRANSLATOR.file(rule.path, before.encode())
    assert done.data.decode() == expected(rule, after)
    assert rule.code in {a.rule for a in done.applications} or after == before
    assert TRANSLATOR.file(rule.path, done.data).data == done.data


@pytest.mark.parametrize(("rule", "text"), [(r, t) for r in all_rules() for t in r.unchanged], ids=_id)
def test_what_must_not_change_does_not(rule: Rule, text: str) -> None:
    done = TRANSLATOR.file(rule.path, text.encode())
    assert rule.code not in {a.rule for a in done.applications}
    assert done.data.decode() == expected(rule, text)


def test_codes_are_unique_and_every_rule_explains_itself() -> None:
    rules = all_rules()
    assert len({r.code for r in rules}) == len(rules)
    assert all(r.title and r.why and r.source for r in rules)
    assert all(r.examples or r.unchanged or r.data.get("config") for r in rules)
