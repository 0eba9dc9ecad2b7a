"""The examples beside the rules of the seam pass are its tests."""

import pytest

from sync_tools.translate.python import needs, translate_module
from sync_tools.translate.python.rules import Rule, tables

SEAM = "vime.backends.vllm_utils.seam"
TABLES = ("endpoints", "request", "sampling", "headers", "exchanges", "inline")
RULES = [rule for table in TABLES for rule in tables(table)]


def translated(text: str, rule: Rule) -> str:
    return translate_module(text, style=rule.style, seam_module=SEAM).source


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.before], ids=lambda rule: rule.code)
def test_before_becomes_after_and_names_the_rule(rule: Rule) -> None:
    done = translate_module(rule.before, style=rule.style, seam_module=SEAM)
    assert done.source == rule.after
    assert rule.code in {application.rule for application in done.applications}
    assert translated(done.source, rule) == done.source


@pytest.mark.parametrize(
    ("rule", "text"), [(rule, text) for rule in RULES for text in rule.unchanged], ids=lambda v: getattr(v, "code", "")
)
def test_what_must_not_change_does_not(rule: Rule, text: str) -> None:
    assert translated(text, rule) == text


def test_every_rule_explains_itself() -> None:
    assert all(rule.title and rule.why and (rule.source or rule.rows) for rule in RULES)
    assert len({rule.code for rule in RULES}) == len(RULES)
    assert all(row.get("source") for rule in RULES for row in rule.rows)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.before], ids=lambda rule: rule.code)
def test_the_words_of_the_rules_find_their_examples(rule: Rule) -> None:
    assert needs(rule.before)
