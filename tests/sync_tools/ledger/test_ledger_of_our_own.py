"""What our own ledgers say of this repository holds in it: tests, files and behaviours that they name are there."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LEDGERS = sorted((ROOT / "ledgers").glob("*.json"))
PATH = re.compile(r"\b(?:tests|vime|examples|docs|benchmarks|ci_templates)/[\w./-]+\.(?:py|toml|md|sh|j2|yaml)\b")
TABLE = "tests/behaviours/retool.toml"


def decided(ledger: Path) -> list[str]:
    """The reasons that people gave."""
    return re.findall(r'"why": "((?:[^"\\]|\\.)*)"', ledger.read_text("utf-8"))


@pytest.mark.parametrize("ledger", LEDGERS, ids=lambda path: path.stem)
def test_what_a_decision_points_to_is_there(ledger: Path) -> None:
    named = {path for why in decided(ledger) for path in PATH.findall(why)}
    assert {path for path in named if not (ROOT / path).exists()} == set()


def test_behaviours_that_a_decision_names_are_in_the_table() -> None:
    table = {one["name"] for one in tomllib.loads((ROOT / TABLE).read_text("utf-8"))["behaviour"]}
    whys = [why for ledger in LEDGERS for why in decided(ledger) if TABLE in why]
    named = {name for why in whys for name in re.findall(r'\\"(.*?)\\"', why)}
    assert named and named <= table
