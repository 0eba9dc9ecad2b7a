"""`sync status`: a row for each landing since the cutoff, what needs a person, and an exit code that says so."""

import json

from sync_tools.demo.forks import parent_of


def ask(sync, fork, upstream, **options):
    answer = sync("status", "--json", repo=fork, upstream=upstream, **options)
    return answer.code, json.loads(answer.out)


def states(told):
    return {row["pr"]: row["state"] for row in told["prs"]}


def merged(sync, git, fork, upstream, number):
    told = json.loads(sync("port", number, "--json", repo=fork, upstream=upstream).out)
    git(fork, "merge", "-q", "--no-edit", told["branch"])
    return told


def test_being_behind_calls_nobody(sync, imported, upstream, git):
    fork = imported(1920)
    code, told = ask(sync, fork, upstream)
    assert code == 0 and told["schema"] == 1
    assert told["cutoff"] == parent_of(upstream, 1920)
    assert set(states(told).values()) <= {"absent", "skipped"}
    assert told["behind"]["landings"] == told["counts"]["absent"] > 3
    assert git(fork, "status", "--porcelain") == ""


def test_a_port_is_told_by_its_ledger_and_without_it_by_what_stands(sync, imported, upstream, git):
    fork = imported(1920)
    merged(sync, git, fork, upstream, 1926)
    assert states(ask(sync, fork, upstream)[1])[1926] == "ported"
    git(fork, "rm", "-rq", "ledgers")
    git(fork, "commit", "-qm", "no ledgers")
    bare = git(fork, "commit-tree", "HEAD^{tree}", "-m", "all in one")
    git(fork, "reset", "-q", "--hard", bare)
    told = ask(sync, fork, upstream, cutoff=parent_of(upstream, 1920))[1]
    assert states(told)[1926] == "landed"
    assert [n for n, state in states(told).items() if state == "landed"] == [1926]


def test_a_port_that_nobody_merged_is_named_by_its_branch(sync, imported, upstream):
    fork = imported(1920)
    told = json.loads(sync("port", 1926, "--json", repo=fork, upstream=upstream).out)
    row = next(r for r in ask(sync, fork, upstream)[1]["prs"] if r["pr"] == 1926)
    assert (row["state"], row["branch"]) == ("absent", told["branch"])


def test_open_entries_call_a_person_and_decided_ones_do_until_their_day(sync, imported, upstream, git):
    fork = imported(1926)
    (fork / "sync.toml").write_text(
        '[[policies]]\nmatch = "slime/utils/http_utils.py"\naction = "owned"\nreason = "our own way to ask"\n'
    )
    git(fork, "add", "-A")
    git(fork, "commit", "-qm", "Ours")
    merged(sync, git, fork, upstream, 1926)
    code, told = ask(sync, fork, upstream)
    assert code == 1 and states(told)[1926] == "open"
    opened = [w for w in told["waiting"] if w["open"]]
    assert {w["path"] for w in opened} == {"vime/utils/http_utils.py"}
    for until, wanted in (("2099-01-01", 0), ("2020-01-01", 1)):
        for entry in opened:
            words = ("ledger", "resolve", 1926, entry["entry"], "--as", "diverged", "--why", "ours waits longer")
            assert sync(*words, until=until, repo=fork).code in (0, 1)
        git(fork, "commit", "-qam", "Decide")
        code, told = ask(sync, fork, upstream)
        assert code == wanted
        assert {w["expired"] for w in told["waiting"]} == {bool(wanted)}


def test_a_landing_and_its_revert_are_nothing_to_bring(sync, imported, upstream):
    told = ask(sync, imported(1861), upstream)[1]
    row = next(r for r in told["prs"] if r["pr"] == 1887)
    assert (row["state"], row["by"]) == ("reverted", ["THUDM/slime#1899"])


def test_overlays_that_ran_out_or_say_nothing_any_more(sync, imported, upstream, git):
    fork = imported(1920)
    rows = [
        ("vime/utils/misc.py", "", "as upstream"),
        ("vime/utils/types.py", 'until = "2020-01-01"\n', "ours"),
        ("tools/own.py", "", "a file that upstream has not"),
    ]
    (fork / "tools").mkdir(exist_ok=True)
    (fork / "tools/own.py").write_text("OURS = 1\n")
    (fork / "vime/utils/types.py").write_text((fork / "vime/utils/types.py").read_text() + "\nOURS = 1\n")
    text = "".join(f'[[overlays]]\npath = "{path}"\nwhy = "{why}"\n{until}' for path, until, why in rows)
    (fork / "sync.toml").write_text(text)
    git(fork, "add", "-A")
    git(fork, "commit", "-qm", "Ours")
    code, told = ask(sync, fork, upstream)
    assert code == 1
    assert [(o["expired"], o["taken_in"]) for o in told["overlays"]] == [(False, True), (True, False), (False, False)]


def test_people_read_what_is_missing_and_hostile_titles_do_nothing(sync, imported, upstream):
    answer = sync("status", repo=imported(1920), upstream=upstream)
    assert "Not here" in answer.out and "#1920" in answer.out
    assert "\x1b" not in answer.out


def test_without_a_cutoff_it_says_how_to_adopt_the_fork(sync, handwritten, upstream):
    answer = sync("status", repo=handwritten, upstream=upstream)
    assert answer.code == 2 and "init --cutoff" in answer.err
