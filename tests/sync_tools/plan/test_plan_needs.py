"""What a plan says that a change stands on."""

from pathlib import Path

from sync_tools.plan.standing import Standing
from sync_tools.port.known import Known
from sync_tools.upstream.history import Message

BODY = "".join(f"def step_{n}(x):\n    return x + {n}\n\n\n" for n in range(6))


def edited(*pairs: tuple[str, str], text: str = BODY) -> str:
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def missing(found: dict) -> list[dict]:
    return [p for p in found["prerequisites"] if p["state"] == "missing"]


def test_what_it_edits_and_what_stands_beside_its_insertion_is_needed(grown, fork_at, planned, numbered):
    base = grown.land("begin (#1)", {"slime/a.py": BODY})
    one = edited(("x + 1", "x + 11"))
    grown.land("first (#2)", {"slime/a.py": one})
    two = edited(("return x + 4\n", "y = x + 4\n    return y\n"), text=one)
    grown.land("second (#3)", {"slime/a.py": two})
    grown.land("elsewhere (#4)", {"slime/b.py": "B = 1\n"})
    last = edited(("x + 11", "x * 11"), ("    y = x + 4\n", "    y = x + 4\n    y += 0\n"), text=two)
    grown.land("last (#5)", {"slime/a.py": last})
    found = planned(5, repo=fork_at(grown.at, base), upstream=grown.at)
    assert numbered(missing(found)) == [2, 3]
    by_edit, by_place = missing(found)
    assert by_edit["state"] == by_place["state"] == "missing"
    assert by_edit["places"] == [{"relation": "edits", "path": "slime/a.py", "lines": [6], "symbol": "step_1"}]
    assert [(p["relation"], p["lines"], p["symbol"]) for p in by_place["places"]] == [("beside", [18, 19], "step_4")]
    assert "slime/a.py:6 (step_1)" in by_edit["why"]


def test_blank_lines_are_passed_over_on_the_way_to_a_neighbour(grown, fork_at, planned, numbered):
    base = grown.land("begin (#1)", {"slime/a.py": "A = 1\n"})
    grown.land("far (#2)", {"slime/a.py": "A = 1\n\n\ndef f():\n    pass\n"})
    grown.land("after it (#3)", {"slime/a.py": "A = 1\n\n\ndef f():\n    pass\n\n\nB = 2\n"})
    found = planned(3, repo=fork_at(grown.at, base), upstream=grown.at)
    assert numbered(missing(found)) == [2]
    assert found["prerequisites"][0]["places"][0]["lines"] == [5]


def test_what_the_fork_has_is_told_as_landed(grown, fork_at, planned):
    grown.land("begin (#1)", {"slime/a.py": BODY})
    one = edited(("x + 1", "x + 11"))
    base = grown.land("first (#2)", {"slime/a.py": one})
    grown.land("last (#3)", {"slime/a.py": edited(("x + 11", "x - 1"), text=one)})
    found = planned(3, repo=fork_at(grown.at, base), upstream=grown.at)
    assert [(p["pr"], p["state"]) for p in found["prerequisites"]] == [(2, "landed")]
    assert found["searched"] is None


def test_what_was_ported_is_landed(sync, imported, upstream, planned, numbered):
    fork = imported(1920)
    assert numbered(missing(planned(1921, repo=fork, upstream=upstream))) == [1920]
    assert sync("port", 1920, repo=fork, upstream=upstream).code in (0, 1)
    found = planned(1921, repo=fork, upstream=upstream, base="sync/slime-pr-1920")
    assert missing(found) == [] and (1920, "landed") in [(p["pr"], p["state"]) for p in found["prerequisites"]]


def test_where_nothing_says_where_the_fork_begins_what_is_near_is_named(upstream, tmp_path: Path, git, planned):
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    (other / "README").write_text("no fork of it\n")
    git(other, "add", "-A")
    git(other, "commit", "-q", "-m", "begin")
    found = planned(1921, repo=other, upstream=upstream)
    assert (1920, "unknown") in [(p["pr"], p["state"]) for p in found["prerequisites"]]
    assert found["searched"] == 100


def test_sync_toml_says_where_the_fork_begins(grown, tmp_path: Path, git, planned, numbered):
    base = grown.land("begin (#1)", {"slime/a.py": BODY})
    one = edited(("x + 1", "x + 11"))
    grown.land("first (#2)", {"slime/a.py": one})
    grown.land("last (#3)", {"slime/a.py": edited(("x + 11", "x - 1"), text=one)})
    fork = tmp_path / "fork"
    fork.mkdir()
    git(fork, "init", "-q")
    (fork / "sync.toml").write_text(f'schema = 1\n[upstream]\ncutoff = "{base[:12]}"\n')
    git(fork, "add", "-A")
    git(fork, "commit", "-q", "-m", "begin")
    found = planned(3, repo=fork, upstream=grown.at)
    assert numbered(missing(found)) == [2]


def test_lines_are_followed_through_a_rename(grown, fork_at, planned, numbered):
    base = grown.land("begin (#1)", {"slime/a.py": BODY})
    one = edited(("x + 1", "x + 11"))
    grown.land("first (#2)", {"slime/a.py": one})
    grown.move("moved (#3)", "slime/a.py", "slime/new name.py")
    grown.land("last (#4)", {"slime/new name.py": edited(("x + 11", "x - 1"), text=one)})
    found = planned(4, repo=fork_at(grown.at, base), upstream=grown.at)
    assert numbered(missing(found)) == [2, 3]
    assert [p["relation"] for p in found["prerequisites"][1]["places"]] == ["file"]


def test_what_a_missing_one_needs_follows_it_and_names_it(grown, fork_at, planned):
    base = grown.land("begin (#1)", {"slime/a.py": BODY, "slime/c.py": "C = 1\n"})
    grown.land("deep (#2)", {"slime/c.py": "C = 2\n"})
    one = edited(("x + 1", "x + 11"))
    grown.land("first (#3)", {"slime/a.py": one, "slime/c.py": "C = 3\n"})
    grown.land("last (#4)", {"slime/a.py": edited(("x + 11", "x - 1"), text=one)})
    found = planned(4, repo=fork_at(grown.at, base), upstream=grown.at)
    assert [(p["pr"], p["through"] and p["through"]["pr"]) for p in missing(found)] == [(3, None), (2, 3)]


def test_what_defined_an_imported_name_is_needed(grown, fork_at, planned):
    base = grown.land("begin (#1)", {"slime/a.py": "A = 1\n", "slime/tools.py": "def old():\n    pass\n"})
    tools = "def old():\n    pass\n\n\ndef fresh():\n    pass\n"
    grown.land("a tool (#2)", {"slime/tools.py": tools})
    grown.land("last (#3)", {"slime/b.py": "from slime.tools import (\n    fresh,\n    old,\n)\n"})
    [needed] = planned(3, repo=fork_at(grown.at, base), upstream=grown.at)["prerequisites"][:1]
    assert needed["pr"] == 2
    assert needed["places"] == [{"relation": "uses", "path": "slime/tools.py", "lines": [5], "symbol": "fresh"}]


def test_dropped_paths_and_the_generated_workflow_need_nothing(grown, fork_at, planned):
    patch, workflow = "docker/patch/latest/sglang.patch", ".github/workflows/pr-test.yml"
    base = grown.land("begin (#1)", {patch: "a\n", workflow: "on: x\n"})
    grown.land("first (#2)", {patch: "b\n", workflow: "on: y\n"})
    grown.land("last (#3)", {patch: "c\n", workflow: "on: z\n", "slime/a.py": "A = 1\n"})
    grown.land("fix it (#4)", {patch: "d\n", workflow: "on: w\n"})
    found = planned(3, repo=fork_at(grown.at, base), upstream=grown.at)
    assert found["prerequisites"] == found["later_changes"] == []
    assert [p["path"] for p in found["dropped_paths"]] == ["docker/patch/latest/vllm.patch"]


def test_a_tip_before_the_forks_beginning_changes_nothing_of_what_it_has(grown, fork_at, planned):
    grown.land("begin (#1)", {"slime/a.py": BODY})
    one = edited(("x + 1", "x + 11"))
    grown.land("first (#2)", {"slime/a.py": one})
    tip = grown.land("last (#3)", {"slime/a.py": edited(("x + 11", "x - 1"), text=one)})
    base = grown.land("after it (#4)", {"slime/b.py": "B = 1\n"})
    found = planned(3, repo=fork_at(grown.at, base), upstream=grown.at, tip=tip)
    assert found["state"] == "landed"
    assert [(p["pr"], p["state"]) for p in found["prerequisites"]] == [(2, "landed")]


def test_blank_lines_above_an_insertion_are_passed_over_too(grown, fork_at, planned, numbered):
    def step(name: str) -> str:
        return f"def {name}():\n    return {name!r}\n\n\n"

    base = grown.land("begin (#1)", {"slime/a.py": step("last")})
    grown.land("first (#2)", {"slime/a.py": step("one") + step("last")})
    grown.land("between (#3)", {"slime/a.py": step("one") + step("two") + step("last")})
    found = planned(3, repo=fork_at(grown.at, base), upstream=grown.at)
    assert numbered(missing(found)) == [2]
    assert missing(found)[0]["places"][0]["symbol"] == "one"


def test_blank_lines_below_an_insertion_are_passed_over_too(grown, fork_at, planned, numbered):
    base = grown.land("begin (#1)", {"slime/a.py": "A = 1\n\n\nZ = 1\n"})
    grown.land("first (#2)", {"slime/a.py": "A = 1\n\n\nZ = 2\n"})
    grown.land("between (#3)", {"slime/a.py": "A = 1\nB = 1\n\n\nZ = 2\n"})
    found = planned(3, repo=fork_at(grown.at, base), upstream=grown.at)
    assert numbered(missing(found)) == [2]
    assert missing(found)[0]["places"][0]["lines"] == [4]


def test_neighbours_do_not_hang_everything_together(grown, fork_at, planned, numbered):
    base = grown.land("begin (#1)", {"slime/a.py": "A = 1\n", "slime/b.py": "B = 1\n"})
    grown.land("a neighbour (#2)", {"slime/b.py": "B = 1\nC = 1\n"})
    grown.land("first (#3)", {"slime/a.py": "A = 2\n", "slime/b.py": "B = 1\nC = 1\nD = 1\n"})
    grown.land("last (#4)", {"slime/a.py": "A = 3\n"})
    assert numbered(missing(planned(4, repo=fork_at(grown.at, base), upstream=grown.at))) == [3]


def test_the_search_goes_back_to_the_forks_beginning_and_a_hundred_commits_at_least():
    line = tuple(Message(f"{n:040x}", n, f"({n})", "", "", n) for n in range(400, 0, -1))
    none = Known(None, frozenset(), frozenset())

    def floor(cutoff: int | None) -> str | None:
        return Standing(line, none, None if cutoff is None else f"{cutoff:040x}").floor(f"{350:040x}")

    assert floor(None) == floor(340) == f"{250:040x}"
    assert floor(20) == f"{20:040x}"
    assert Standing(line, none, None).floor(f"{50:040x}") is None
