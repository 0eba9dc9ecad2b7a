"""Every key of sync.toml does what it says, or is refused with its line."""

import pytest

from sync_tools.config import parse
from sync_tools.errors import SyncError
from sync_tools.policy import matches


@pytest.mark.parametrize(
    ("content", "key"),
    [
        ('schema = 1\n[[overlays]]\npath = "vime/a.py"\nwhy = "ours"\nuntil = "some day"\n', "overlays.0.until"),
        ('schema = 1\n[[overlays]]\npath = "vime/a.py"\nwhy = "ours"\nuntil = "2027-02-30"\n', "overlays.0.until"),
        ('schema = 1\n[ci]\n\ntemplate = "x.j2"\ntests = "."\n', "ci.tests"),
        ('schema = 1\nfork = "vime"\n\n\nledgers = ""\n', "ledgers"),
    ],
)
def test_a_value_that_cannot_be_meant_is_refused_at_its_line(content, key):
    with pytest.raises(SyncError) as refused:
        parse(content, "sync.toml")
    assert refused.value.what.startswith(key) and refused.value.where == "sync.toml:5"


def test_a_folder_may_be_written_with_a_slash_at_the_end():
    config = parse('schema = 1\nledgers = "./ledgers/"\n[ci]\ntests = "tests/"\n', "sync.toml")
    assert (config.ledgers, config.ci.tests) == ("ledgers", "tests")


def test_a_glob_keeps_its_slash_which_means_everything_below():
    policy = '[[policies]]\nmatch = "docs/"\naction = "skip"\nreason = "no docs here"\n'
    (only,) = parse(policy, "sync.toml").policies
    assert matches(only.match, "docs/zh/index.md")


def test_paths_ledgers_title_and_banner_are_honoured_by_a_port(ask, imported, git):
    fork = imported(1921)
    (fork / "sync.toml").write_text(
        'schema = 1\ntitle = "port {ref} of {upstream} to {fork}: {subject}"\nledgers = "records/"\n'
        '[ci]\nbanner = "made from {template}"\n'
        '[[paths]]\nold = "slime/rollout/sglang_streaming_rollout.py"\nnew = "vime/streams/rollout.py"\n'
    )
    code, value = ask("port", 1921, repo=fork)
    branch = value["branch"]
    listed = git(fork, "ls-tree", "-r", "--name-only", branch).splitlines()
    assert value["ports"][0]["ledger"] == "records/slime-1921.json" and "records/README.md" in listed
    assert "vime/streams/rollout.py" in listed and code in (0, 1)
    assert git(fork, "show", f"{branch}:.github/workflows/pr-test.yml").startswith("# made from .github/")
    request = ask("ledger show", 1921, repo=fork)[1]["pull_request"]
    assert request["title"] == "port THUDM/slime#1921 of slime to vime: Add a rollout that reads streams"


def test_an_overlay_accounts_for_what_the_fork_changes_afterwards(ask, ported, git):
    file = ported / "vime/rollout/vllm_streaming_rollout.py"
    file.write_text(file.read_text().replace("import ", "import  ", 1) + "\n" * 2)
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-9]))
    git(ported, "commit", "-qam", "ours")
    assert ask("ledger check", repo=ported)[0] == 1
    overlay = '[[overlays]]\npath = "vime/rollout/"\nwhy = "ours is shorter"\nwho = "Ada"\nuntil = "2099-01-31"\n'
    (ported / "sync.toml").write_text("schema = 1\n" + overlay)
    code, value = ask("ledger check", repo=ported)
    assert (code, value["ledgers"], value["problems"]) == (0, 1, [])


@pytest.mark.parametrize("module", ["vime..seam", "vime.", "vime.2"])
def test_a_seam_that_python_cannot_name_is_refused(module):
    with pytest.raises(SyncError, match=r"seam\.module"):
        parse(f'schema = 1\n[seam]\nmodule = "{module}"\n', "sync.toml")
