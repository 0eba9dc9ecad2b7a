"""The generated pages of the documentation are current, and links between documents lead somewhere."""

import re
from pathlib import Path

import pytest

from sync_tools.reference import pages
from sync_tools.verify.review.rules import RULES
from sync_tools.verify.table import CHECKS

ROOT = Path(__file__).parents[3]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("path", sorted(pages()))
def test_a_generated_page_is_current(path: str) -> None:
    assert (ROOT / path).read_text("utf-8") == pages()[path], "run `make docs`"


def test_every_check_and_review_rule_has_its_section() -> None:
    page = pages()["docs/checks.md"]
    assert [row.name for row in CHECKS if f"| `{row.name}` |" not in page] == []
    assert [code for code in RULES if f"### {code}: " not in page] == []


def test_every_command_has_an_example() -> None:
    sections = pages()["docs/commands.md"].split("\n## `")[1:]
    assert [s.split("`")[0] for s in sections if "```sh\nvime-sync " not in s] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    prose = re.sub(r"^(`{3,}).*?^\1", "", document.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    links = re.findall(r"\]\((?!https?:)([^)#\s]+)", prose)
    assert [link for link in links if not (document.parent / link).exists()] == []


def test_every_key_of_the_configuration_is_documented() -> None:
    from sync_tools.config import Config

    page = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    keys = [field.alias or name for name, field in Config.model_fields.items()]
    assert [key for key in keys if not re.search(rf"`(\[\[)?{key}\b", page)] == []
