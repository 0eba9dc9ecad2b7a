"""The Markdown shows what reviewers know, and nothing that upstream wrote acts in it."""

import re

import pytest
from ledger_world import Files, change_set, port, sample
from markdown_it import MarkdownIt

from sync_tools.config import Config
from sync_tools.ledger.escape import code, plain, printable, prose, references, words
from sync_tools.ledger.github import pull_request, title
from sync_tools.ledger.markdown import index, render
from sync_tools.ledger.model import Ledger, Registration
from sync_tools.ledger.proof import CheckRun, Finding, Verification
from sync_tools.ledger.verified import verified

HOSTILE = [
    "</td></tr></table><script>alert(1)</script>",
    "a | b || c \\| d \\",
    "`tick` ``two`` |",
    "@torvalds see #12 and GH-7",
    "fixes #5, closes THUDM/slime#6",
    "![x](https://evil.example/a.png) [y](javascript:alert(1))",
    "<!-- hidden --> <img src=x onerror=alert(1)>",
    "line\none\r\ntwo\u2028three",
    "\x1b[31mred\x1b[0m \x07 \u202eevil",
    "**bold** __x__ ~~y~~ $m$ :smile:",
    "# not a heading",
]


def told(subject: str = "Add streaming (#1921)", path: str = "slime/a.py", reason: str = "") -> Ledger:
    files = Files({path: b"a\n"}, {path: b"a\nslime\n"})
    ledger = port(change_set(files.changes(), subject=subject), files.fork()).landing.ledger
    entry = ledger.entries[0].model_copy(update={"op": "deferred", "state": "open", "reason": reason, "who": reason})
    return ledger.model_copy(update={"entries": (entry,)})


def tables(text: str) -> list[set[int]]:
    """The number of cells in the rows of each table, as GitHub's flavour reads it."""
    found, counts, cells = [], set(), 0
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        cells += token.type in ("th_open", "td_open")
        if token.type == "tr_close":
            counts.add(cells)
            cells = 0
        if token.type == "table_close":
            found.append(counts)
            counts = set()
    return found


def acting(text: str) -> set[str]:
    """What in the text is more than words."""
    inline = [c for t in MarkdownIt("commonmark").enable("table").parse(text) for c in (t.children or [])]
    html = {re.match(r"</?(\w+|!--)", c.content)[1] for c in inline if c.type == "html_inline"}
    links = {c.attrs["href"] for c in inline if c.type == "link_open"}
    return html | links | {c.type for c in inline if c.type in ("image", "em_open", "s_open")}


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_stay_words(words: str) -> None:
    calm, wild = render(told(reason="words")), render(told(subject=words, reason=words))
    assert [len(t) for t in tables(wild)] == [1] * len(tables(calm))
    assert tables(wild) == tables(calm)
    assert acting(wild) <= {"code", "https://github.com/THUDM/slime/pull/1921"}
    assert not re.search(r"(?<![\w/&])#\d|@[a-z]|\x1b|\x07", wild)
    assert wild.count("\n") == calm.count("\n")


@pytest.mark.parametrize("path", ["slime/a|b.py", "slime/`x`.py", "docs/<b>.md", "docs/@team #12.md"])
def test_hostile_paths_stay_paths(path: str) -> None:
    wild = render(told(path=path))
    assert tables(wild) == tables(render(told(path="slime/a" + path[path.rindex(".") :])))
    assert acting(wild) <= {"code", "https://github.com/THUDM/slime/pull/1921"}


def test_every_row_of_the_table_is_printed() -> None:
    files = Files({"a.sh": b"a\n"}, {"a.sh": b"b\n"})
    text = render(port(change_set(files.changes()), files.fork()).landing.ledger)
    rows = re.findall(
        r"^\| (Ported|Translated \(sglang->vllm\)|Dropped/Deferred|Diverged|Verified) \| (.*) \|$", text, re.M
    )
    assert len(rows) == 5
    assert [detail for _, detail in rows[1:]] == ["none"] * 4
    assert "| op | detail (2026-05-19) |" in text


def test_the_mapping_has_a_row_for_each_rule() -> None:
    files, fork = sample()
    text = render(port(change_set(files.changes()), fork).landing.ledger)
    mapping = text.split("## Mapping")[1].split("## ")[0]
    assert "`max_new_tokens` | `max_tokens`" in mapping
    assert "`--sglang-enable-metrics` | (dropped)" in mapping
    assert "| rule | SGLang | vLLM | times |" in mapping


def test_numbers_are_upstreams() -> None:
    assert (
        references("fix #5 (#1921), a/b#3, x#4, GH-9", "THUDM/slime")
        == "fix THUDM/slime#5 (THUDM/slime#1921), a/b#3, x#4, THUDM/slime#9"
    )


def test_a_closing_word_does_not_close() -> None:
    assert (
        re.search(r"(?i)(fix|close|resolve)\w*:?\s+\S*#\d", prose("Fixes #5 and closes: a/b#6", "THUDM/slime")) is None
    )


def test_code_and_plain_and_printable() -> None:
    assert code("a_b.py") == "`a_b.py`"
    assert code("") == ""
    assert "|" not in code("a|b`c")
    assert plain("a\nb\x1b[0m") == "a b\ufffd[0m"
    assert printable("\tx\x1b") == "    x\ufffd"


def test_the_index_has_a_row_for_each_ledger() -> None:
    files, fork = sample()
    ledger = port(change_set(files.changes()), fork).landing.ledger
    text = index([ledger, ledger.model_copy(update={"upstream": ledger.upstream.model_copy(update={"pr": None})})])
    assert "[THUDM/slime#1921](slime-1921.md)" in text
    assert f"(slime-{'c' * 12}.md)" in text


def test_a_pull_request_has_title_body_and_labels() -> None:
    rows = (
        Registration(change="added", job="e2e-short", test_file="test_a.py", label="run-ci-short"),
        Registration(change="removed", job="e2e-long", test_file="test_b.py", label="run-ci-long"),
        Registration(change="added", job="cpu", test_file="test_c.py", label=""),
        Registration(change="moved", job="x", test_file="test_d.py", label="run-ci-x\nrun-ci-y"),
    )
    request = pull_request(told().model_copy(update={"ci": rows}), Config())
    assert request.title == "[slime-sync] Add streaming (THUDM/slime#1921)"
    assert request.labels == ("run-ci-short",)
    assert "| op | detail" in request.body


def test_the_title_follows_sync_toml() -> None:
    assert (
        title(told(), Config(title="{fork}: {subject} {ref} {other}")) == "vime: Add streaming THUDM/slime#1921 {other}"
    )


def test_a_long_body_leaves_the_detail_to_the_file() -> None:
    ledger = told()
    many = ledger.model_copy(update={"entries": ledger.entries * 1000})
    body = pull_request(many, Config()).body
    assert len(body) < 65_536
    assert "The rest is in `ledgers/slime-1921.md`" in body


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        (
            "--sglang-enable-metrics has no counterpart (SY306)",
            "`--sglang-enable-metrics` has no counterpart (`SY306`)",
        ),
        ("rendered from .github/workflows/pr-test.yml.j2", "rendered from `.github/workflows/pr-test.yml.j2`"),
        ("the fork removed it in 0123456789ab", "the fork removed it in `0123456789ab`"),
        ("see `vime-sync ci check`", "see `vime-sync ci check`"),
        ("/flush_cache answers 200", "`/flush_cache` answers 200"),
        ("either and/or SGLang/vLLM, 3-4 times", "either and/or SGLang/vLLM, 3-4 times"),
        ("`fixes #5`", "&#96;fixes&#8203; THUDM/slime#5&#96;"),
        ("see https://x.org/a_b.md", "see https:&#8203;//x.org/a_b.md"),
    ],
)
def test_identifiers_in_reasons_are_code(reason: str, shown: str) -> None:
    assert words(reason, "THUDM/slime") == shown


def test_an_open_entry_names_both_places() -> None:
    files, fork = sample()
    ledger = port(change_set(files.changes()), fork).landing.ledger
    first = next(e for e in ledger.entries if e.added and e.downstream.lines and e.downstream.lines.count)
    text = render(ledger.model_copy(update={"entries": (first.model_copy(update={"state": "open"}),)}))
    opened = text.split("## Open")[1].split("## ")[0]
    assert f"`{first.upstream.name}:{first.upstream.new.start}`" in opened
    assert f"`{first.downstream.path}:{first.downstream.lines.start}`" in opened


def test_checks_tell_the_worst_first_and_their_findings() -> None:
    found = Finding(rule="RV101", path="vime/a.py", line=3, what="zeros", standing="introduced")
    old = found.model_copy(update={"standing": "inherited"})
    checks = (
        CheckRun(name="parse", result="passed"),
        CheckRun(name="review", result="failed", findings=(found, old)),
        CheckRun(name="tests", result="not run", waits_for="--run-tests"),
    )
    text = verified(told().model_copy(update={"verification": Verification(checks=checks)}))
    assert text.split("\n") == [
        "- **failed** `review`",
        "- **pending** `tests`, waits for `--run-tests`",
        "- introduced, found by `review`:",
        "  - `vime/a.py:3` zeros (`RV101`)",
        "- passed: `parse`",
        "- inherited, upstream or the fork had them before: `review` 1",
    ]


def test_empty_columns_are_left_out() -> None:
    text = render(told())
    assert "| op | in | upstream lines | fork lines | reason | entry |" not in text
    assert "| op | in | upstream lines | fork lines | " in render(told(reason="because"))
