"""`sync port` says what it stood on, what became of it, and what a conflict comes from."""

import json

BODY = "".join(f"def step_{n}(x):\n    return x + {n}\n\n\n" for n in range(4))


def history(grown):
    base = grown.land("begin (#1)", {"slime/a.py": BODY})
    one = BODY.replace("x + 1", "x + 11")
    grown.land("first (#2)", {"slime/a.py": one})
    two = one.replace("x + 11", "x - 1")
    grown.land("it (#3)", {"slime/a.py": two})
    grown.land("fix it (#4)", {"slime/a.py": two.replace("x - 1", "x - 2")})
    return base


def test_a_conflict_on_lines_of_what_is_missing_names_it(grown, fork_at, sync):
    fork = fork_at(grown.at, history(grown))
    told = sync("port", 3, "--dry-run", repo=fork, upstream=grown.at).out
    assert "the conflict in vime/a.py lies on lines of THUDM/slime#2, which is not ported: port it first" in told
    assert "plan: needs #2 (not ported); later #4 fixes its lines" in told
    [port] = json.loads(sync("port", 3, "--json", repo=fork, upstream=grown.at).out)["ports"]
    assert [p["pr"] for p in port["plan"]["prerequisites"]] == [2]
    assert [(x["kind"], x["pr"]) for x in port["plan"]["later_changes"]] == [("fix", 4)]
    assert [(c["path"], c["pr"]) for c in port["plan"]["conflicts"]] == [("vime/a.py", 2)]


def test_in_a_stack_what_comes_before_is_there(grown, fork_at, sync):
    fork = fork_at(grown.at, history(grown))
    words = ("port", 2, 3, 4, "--as", "all", "--json")
    first, second, third = json.loads(sync(*words, repo=fork, upstream=grown.at).out)["ports"]
    assert [port["plan"]["prerequisites"] for port in (first, second, third)] == [[], [], []]
    assert [x["pr"] for x in second["plan"]["later_changes"]] == [4]


def test_a_conflict_beside_the_lines_of_what_is_missing_names_nobody(grown, fork_at, sync, git):
    base = grown.land("begin (#1)", {"slime/a.py": BODY})
    one = BODY.replace("x + 0", "x + 10")
    grown.land("first (#2)", {"slime/a.py": one})
    grown.land("it (#3)", {"slime/a.py": one.replace("x + 10", "x - 1").replace("x + 3", "x - 3")})
    fork = fork_at(grown.at, base)
    ours = BODY.replace("x + 0", "x + 10").replace("x + 3", "x + 99")
    (fork / "vime/a.py").write_text(ours)
    git(fork, "commit", "-q", "-a", "-m", "ours, with what the first did")
    told = sync("port", 3, "--dry-run", repo=fork, upstream=grown.at).out
    assert "conflict: vime/a.py step_3" in told and "needs #2" in told and "port it first" not in told


def test_a_conflict_with_the_forks_own_edit_names_nobody(grown, fork_at, sync, git):
    fork = fork_at(grown.at, history(grown))
    (fork / "vime/a.py").write_text(BODY.replace("x + 1", "x + 99"))
    git(fork, "commit", "-q", "-a", "-m", "ours")
    told = sync("port", 2, "--dry-run", repo=fork, upstream=grown.at).out
    assert "conflict: vime/a.py" in told and "port it first" not in told
