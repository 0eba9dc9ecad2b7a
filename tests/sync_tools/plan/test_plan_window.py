"""The plan of a window."""

import json

import pytest

A, B = "".join(f"a{n} = {n}\n" for n in range(9)), "".join(f"b{n} = {n}\n" for n in range(9))


@pytest.fixture
def window(sync):
    def of(repo, upstream, cutoff, tip="main"):
        answer = sync("plan", "--json", repo=repo, upstream=upstream, cutoff=cutoff, tip=tip)
        assert answer.code == 0, answer.err
        return json.loads(answer.out)

    return of


def row(found: dict, number: int) -> dict:
    return next(each for each in found["prs"] if each["pr"] == number)


def test_landings_in_upstreams_order_with_their_state(sync, imported, upstream, window, git):
    fork = imported(1861)
    start = git(upstream, "log", "-1", "--format=%H", "--grep", "(#1861)$")
    sync("port", 1861, repo=fork, upstream=upstream)
    git(fork, "merge", "-q", "sync/slime-pr-1861")
    found = window(fork, upstream, f"{start}^")
    assert [each["pr"] for each in found["prs"]][:4] == [1861, 1874, 1880, 1887]
    assert row(found, 1861)["state"] == "landed" and row(found, 1874)["state"] == "missing"
    assert found["cutoff"] == git(upstream, "rev-parse", f"{start}^")


def test_what_a_policy_drops_whole_is_skipped_and_not_to_port(imported, upstream, sync, git, tmp_path):
    config = tmp_path / "sync.toml"
    config.write_text('[[policies]]\nmatch = "docs/**"\naction = "skip"\nreason = "not ours"\n')
    start, fork = git(upstream, "log", "-1", "--format=%H", "--grep", "(#1861)$"), imported(1861)
    before, after = (
        sync("plan", repo=fork, upstream=upstream, cutoff=start, tip="main", **more).out.splitlines()
        for more in ({}, {"config": config})
    )
    state = {line.split()[0]: " ".join(line.split()[1:3]) for line in after[:-1]}
    assert state["#1874"].startswith("skipped") and state["#1920"] == "to port"
    assert not any(" skipped " in line for line in before)
    to_port = sum(" to port " in line for line in after[:-1])
    assert f", {to_port} to port;" in after[-1]


def test_a_change_and_its_revert_come_to_nothing(imported, upstream, window, git):
    start = git(upstream, "log", "-1", "--format=%H", "--grep", "(#1861)$")
    found = window(imported(1861), upstream, start)
    assert row(found, 1887)["together"]["pr"] == 1899 and row(found, 1899)["together"]["pr"] == 1887
    assert row(found, 1920)["together"] is None


def test_a_revert_that_leaves_something_is_no_pair(grown, fork_at, window):
    base = grown.land("begin (#1)", {"slime/a.py": A})
    grown.land("it (#2)", {"slime/a.py": A + "z = 1\ny = 1\n"})
    grown.land('Revert "it (#2)" (#3)', {"slime/a.py": A + "z = 1\n"})
    found = window(fork_at(grown.at, base), grown.at, base)
    assert row(found, 2)["together"] is None
    assert [(each["kind"], each["pr"]) for each in row(found, 2)["later_changes"]] == [("revert", 3)]


def test_fixes_within_it_and_what_is_missing_from_before_it(grown, fork_at, window, sync):
    base = grown.land("begin (#1)", {"slime/a.py": A, "slime/b.py": B})
    grown.land("before (#2)", {"slime/a.py": A.replace("a4 = 4", "a4 = 44")})
    start = grown.land("nothing (#3)", {"slime/c.py": "C = 1\n"})
    grown.land("inside (#4)", {"slime/b.py": B.replace("b4 = 4", "b4 = 44")})
    grown.land("on it (#5)", {"slime/a.py": A.replace("a4 = 4", "a4 = 45")})
    grown.land("fix 4 (#6)", {"slime/b.py": B.replace("b4 = 4", "b4 = 45")})
    fork = fork_at(grown.at, base)
    found = window(fork, grown.at, start)
    assert [each["pr"] for each in found["prs"]] == [4, 5, 6]
    assert [(each["kind"], each["pr"]) for each in row(found, 4)["later_changes"]] == [("fix", 6)]
    assert [(each["pr"], each["for"]["pr"]) for each in found["prerequisites"]] == [(2, 5)]
    told = sync("plan", repo=fork, upstream=grown.at, cutoff=start).out
    assert "mended by #6" in told and "needs #2 from before" in told and "3 landings, 3 to port" in told


def test_absent_edited_and_dropped_files_are_marked(grown, fork_at, window, git):
    patch = "docker/patch/latest/sglang.patch"
    base = grown.land("begin (#1)", {"slime/a.py": A, "slime/b.py": B, "docs/en/x.md": "x\n"})
    grown.land("it (#2)", {"slime/a.py": A + "z = 1\n", "slime/b.py": B + "z = 1\n", patch: "p\n"})
    grown.land("new (#3)", {"slime/new.py": "N = 1\n"})
    grown.land("on the new (#4)", {"slime/new.py": "N = 2\n"})
    fork = fork_at(grown.at, base)
    git(fork, "rm", "-q", "vime/a.py")
    (fork / "vime/b.py").write_text("ours = 1\n" + B)
    git(fork, "add", "-A")
    git(fork, "commit", "-q", "-m", "ours")
    found = window(fork, grown.at, base)
    assert [each["path"] for each in row(found, 2)["absent_paths"]] == ["vime/a.py"]
    assert [risk["paths"] for risk in row(found, 2)["risks"] if risk["mark"] == "edited"] == [["slime/b.py"]]
    assert [left["path"] for left in row(found, 2)["left_paths"]] == [patch]
    assert row(found, 4)["absent_paths"] == []


def test_a_cutoff_off_the_main_line_is_refused(sync, imported, upstream):
    assert sync("plan", repo=imported(1861), upstream=upstream, cutoff="no-such-commit").code == 2


def test_an_empty_window(grown, fork_at, window, sync):
    base = grown.land("begin (#1)", {"slime/a.py": A})
    fork = fork_at(grown.at, base)
    assert window(fork, grown.at, base)["prs"] == []
    assert "0 landings" in sync("plan", repo=fork, upstream=grown.at, cutoff=base).out
