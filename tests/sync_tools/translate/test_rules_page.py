"""The reference of the rules is made from their tables, and current."""

from pathlib import Path

import pytest

from sync_tools.translate.reference import rules_page
from sync_tools.translate.rules import all_rules

PAGE = Path(__file__).parents[3] / "docs" / "rules.md"


def test_every_rule_has_its_section_with_its_examples() -> None:
    page = rules_page()
    for rule in all_rules():
        assert f"### {rule.code}: {rule.title}\n" in page
        assert all(before.strip("\n") in page for before, _ in rule.examples)


@pytest.mark.skipif(not PAGE.exists(), reason="docs/rules.md is written by `make docs`")
def test_the_page_in_the_repository_is_current() -> None:
    assert PAGE.read_text("utf-8").endswith(rules_page())
