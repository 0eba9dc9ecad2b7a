"""What a plan says became of a change upstream."""

LINES = [f"x{n} = {n}" for n in range(12)]


def text(**changed: str) -> str:
    return "\n".join(changed.get(line.split()[0], line) for line in LINES) + "\n"


def told(found: dict) -> list[tuple]:
    return [(each["kind"], each["pr"]) for each in found["later_changes"]]


def test_reverts_and_fixes_come_first_and_lines_are_named(grown, fork_at, planned):
    base = grown.land("begin (#1)", {"slime/a.py": "A = 1\n"})
    grown.land("it (#2)", {"slime/b.py": text()})
    grown.land("elsewhere, a fix (#3)", {"slime/a.py": "A = 2\n"})
    grown.land("use it otherwise (#4)", {"slime/b.py": text(x3="x3 = 33")})
    grown.land("Fix the sixth (#5)", {"slime/b.py": text(x3="x3 = 33", x6="x6 = 66")})
    found = planned(2, repo=fork_at(grown.at, base), upstream=grown.at)
    assert told(found) == [("fix", 5), ("change", 4)]
    assert found["later_changes"][0]["places"] == [{"path": "slime/b.py", "lines": [7], "symbol": "<module>"}]
    assert found["later_changes"][0]["lines"] == 1


def test_a_change_to_a_change_is_not_a_change_to_it(grown, fork_at, planned):
    base = grown.land("begin (#1)", {"slime/a.py": "A = 1\n"})
    grown.land("it (#2)", {"slime/b.py": text()})
    grown.land("once (#3)", {"slime/b.py": text(x3="x3 = 33")})
    grown.land("twice (#4)", {"slime/b.py": text(x3="x3 = 333")})
    assert told(planned(2, repo=fork_at(grown.at, base), upstream=grown.at)) == [("change", 3)]


def test_lines_are_followed_into_a_renamed_file(grown, fork_at, planned):
    base = grown.land("begin (#1)", {"slime/a.py": "A = 1\n"})
    grown.land("it (#2)", {"slime/b.py": text()})
    grown.move("moved (#3)", "slime/b.py", "slime/deep/c.py")
    grown.land("fix c (#4)", {"slime/deep/c.py": text(x3="x3 = 33")})
    found = planned(2, repo=fork_at(grown.at, base), upstream=grown.at)
    assert told(found) == [("fix", 4)]
    assert found["later_changes"][0]["places"][0]["path"] == "slime/b.py"


def test_a_revert_is_known_by_title_number_or_hash_and_by_what_undoes_it(grown, fork_at, planned):
    base = grown.land("begin (#1)", {"slime/a.py": "A = 1\n"})
    grown.land("by title (#2)", {"slime/b.py": text()})
    grown.land('Revert "by title" (#3)', {"slime/b.py": None})
    grown.land("by number (#4)", {"slime/c.py": text()})
    grown.land("take it back (#5)", {"slime/c.py": None}, body="Reverts THUDM/slime#4")
    by_hash = grown.land("by hash (#6)", {"slime/d.py": text()})
    grown.land("Revert d (#7)", {"slime/d.py": None}, body=f"This reverts commit {by_hash}.")
    grown.land('Revert "Revert d (#7)" (#8)', {"slime/d.py": text()})
    fork = fork_at(grown.at, base)
    assert told(planned(2, repo=fork, upstream=grown.at)) == [("revert", 3)]
    by_number = planned(4, repo=fork, upstream=grown.at)
    assert told(by_number) == [("revert", 5)]
    assert "reverted" in [risk["mark"] for risk in by_number["risks"]]
    undone = planned(6, repo=fork, upstream=grown.at)
    assert told(undone) == [("revert", 7)]
    assert undone["later_changes"][0]["undone_by"]["pr"] == 8
    assert "reverted" not in [risk["mark"] for risk in undone["risks"]]


def test_the_tip_ends_the_search(grown, fork_at, planned):
    base = grown.land("begin (#1)", {"slime/a.py": "A = 1\n"})
    grown.land("it (#2)", {"slime/b.py": text()})
    tip = grown.land("between (#3)", {"slime/a.py": "A = 2\n"})
    grown.land("fix it (#4)", {"slime/b.py": text(x3="x3 = 33")})
    fork = fork_at(grown.at, base)
    assert told(planned(2, repo=fork, upstream=grown.at, tip=tip)) == []
    assert told(planned(2, repo=fork, upstream=grown.at)) == [("fix", 4)]


def test_companions_are_those_that_mention_and_those_beside_it(grown, fork_at, planned):
    other = "Bo <bo@example.org>"
    base = grown.land("begin (#1)", {"slime/a.py": "A = 1\n", "slime/e.py": "E = 1\n"})
    grown.land("it (#2)", {"slime/b.py": text()}, body="#2 follows #1 and sgl-project/sglang#77; needs #99.\nNot a#3.")
    grown.land("its other half (#3)", {"slime/b.py": text() + "LAST = 1\n"})
    grown.land("not mine (#4)", {"slime/b.py": text() + "LAST = 2\n"}, author=other)
    grown.land(
        "after it (#5)", {"slime/a.py": "A = 5\n"}, body="See https://github.com/THUDM/slime/pull/2", author=other
    )
    found = planned(2, repo=fork_at(grown.at, base), upstream=grown.at)["companions"]
    assert [each["pr"] for each in found] == [1, 99, 5, 3]
    assert found[1]["commit"] is None
    assert "same author" in found[3]["why"]


def test_the_miniature_upstream_pairs_a_change_with_its_revert(imported, upstream, planned):
    assert told(planned(1887, repo=imported(1887), upstream=upstream))[0] == ("revert", 1899)
