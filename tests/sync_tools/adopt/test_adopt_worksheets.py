"""On a path that the fork owns, upstream's change waits as a worksheet."""

import json

import pytest

PATH = "vime/utils/http_utils.py"


@pytest.fixture
def owned(sync, imported, upstream, git):
    """A fork that keeps a file for itself and renamed a function in it, with the port of a change of that function."""
    fork = imported(1926)
    (fork / "sync.toml").write_text(
        '[[policies]]\nmatch = "slime/utils/http_utils.py"\naction = "owned"\nreason = "our own way to ask"\n'
    )
    text = (fork / PATH).read_text()
    assert "async def _post(" in text
    (fork / PATH).write_text(text.replace("_post(", "_ask("))
    git(fork, "add", "-A")
    git(fork, "commit", "-qm", "Ours")
    return fork


def port(sync, fork, upstream, git):
    told = sync("port", 1926, repo=fork, upstream=upstream)
    git(fork, "switch", "-q", "sync/slime-pr-1926")
    return told


def test_the_port_leaves_the_file_alone_and_says_that_worksheets_wait(owned, sync, upstream, git):
    before = (owned / PATH).read_bytes()
    told = port(sync, owned, upstream, git)
    assert told.code == 1 and "1 worksheet to read: vime-sync ledger worksheet 1926" in told.out
    assert (owned / PATH).read_bytes() == before
    assert sync("ledger", "check", repo=owned, upstream=upstream).code == 0


def test_a_worksheet_shows_the_translated_change_beside_the_nearest_function(owned, sync, upstream, git):
    port(sync, owned, upstream, git)
    answer = sync("ledger", "worksheet", 1926, "--json", repo=owned, upstream=upstream)
    sheets = json.loads(answer.out)["sheets"]
    assert answer.code == 1
    sheet = next(s for s in sheets if s["symbol"] == "_post")
    assert (sheet["path"], sheet["ours_symbol"], sheet["state"]) == (PATH, "_ask", "open")
    assert "+" in {mark["sign"] for mark in sheet["change"]}
    lines = (owned / PATH).read_text().split("\n")
    assert sheet["ours"] == lines[sheet["start"] - 1 : sheet["start"] - 1 + len(sheet["ours"])]
    assert any("async def _ask" in line for line in sheet["ours"])
    assert not any("sglang" in mark["text"] for s in sheets for mark in s["change"])


def test_a_decision_settles_it(owned, sync, upstream, git):
    port(sync, owned, upstream, git)
    sheets = json.loads(sync("ledger", "worksheet", 1926, "--json", repo=owned, upstream=upstream).out)["sheets"]
    for entry in {e for sheet in sheets for e in sheet["entries"]}:
        words = ("ledger", "resolve", 1926, entry, "--as", "diverged", "--why", "ours waits longer already")
        assert sync(*words, repo=owned, upstream=upstream).code in (0, 1)
    answer = sync("ledger", "worksheet", 1926, repo=owned, upstream=upstream)
    assert answer.code == 0 and "decided: ours waits longer already" in answer.out
    assert sync("ledger", "check", repo=owned, upstream=upstream).code == 0


def test_the_page_needs_nothing_else_and_holds_no_markup_of_the_contents(owned, sync, upstream, git, tmp_path):
    text = (owned / PATH).read_text()
    (owned / PATH).write_text(text + '\n\nNOTE = "<script>alert(1)</script>\x1b[2J"\n')
    (owned / PATH).write_text((owned / PATH).read_text().replace("async def _ask(", "# <b>&\nasync def _ask("))
    git(owned, "commit", "-qam", "Hostile")
    port(sync, owned, upstream, git)
    out = tmp_path / "page.html"
    assert sync("ledger", "worksheet", 1926, out=out, repo=owned, upstream=upstream).code == 1
    page = out.read_text()
    assert "&lt;b&gt;&amp;" in page and "<b>" not in page and "<script" not in page and "\x1b" not in page
    assert not any(word in page for word in ("src=", "href=", "@import", "url("))


def test_a_fork_without_the_file_and_a_change_without_owned_paths(owned, sync, upstream, git):
    git(owned, "rm", "-q", PATH)
    git(owned, "commit", "-qm", "Without")
    port(sync, owned, upstream, git)
    answer = sync("ledger", "worksheet", 1926, repo=owned, upstream=upstream)
    assert "the fork has nothing like it" in answer.out
    answer = sync("ledger", "worksheet", 1926, path="nothing/**", repo=owned, upstream=upstream)
    assert answer.code == 0 and "no worksheet" in answer.out


def test_what_decides_the_ports_is_settled_as_it_was(sync, imported, upstream, git):
    fork = imported(1926)
    told = json.loads(sync("port", 1926, "--json", repo=fork, upstream=upstream).out)
    assert told["ports"][0]["entries"].get("diverged") is None
