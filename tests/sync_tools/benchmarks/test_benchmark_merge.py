"""What the benchmark of merging says of a file that did not come out as the person made it."""

import shutil

import pytest

from benchmarks.merge_fidelity import Case, score, wiggle
from benchmarks.merge_fidelity import git as git_merge
from benchmarks.merge_others import Sides, other, own_lines, readings

BASE, OURS, THEIRS = b"a\nb\nc\nd\ne\n", b"A\nb\nc\nd\ne\n", b"a\nb\nc\nd\nE\n"
BOTH = b"A\nb\nc\nd\nE\n"


def case(person: bytes, ours: bytes = OURS, theirs: bytes = THEIRS) -> Case:
    return Case("0" * 40, "a.txt", "a.txt", BASE, theirs, ours, person)


def test_an_exact_merge_is_no_other() -> None:
    total, others = score([case(BOTH)], git_merge, lambda _, data: data)
    assert (total.exact, total.exact_of_reachable, others) == (1, 1, [])


def test_what_the_person_added_is_told() -> None:
    total, [file] = score([case(BOTH + b"own\n")], git_merge, lambda _, data: data)
    assert (total.clean_different, total.reachable, file.verdict) == (1, 0, "clean_different")
    assert file.why == "the person also wrote 1 line, 1 of them in no side"


def test_a_conflict_names_what_both_changed_and_whose_side_the_person_took() -> None:
    total, [file] = score([case(b"x\nb\nc\nd\ne\n", theirs=b"x\nb\nc\nd\ne\n")], git_merge, lambda _, data: data)
    assert total.conflict == 1
    assert file.why == "both sides changed the same lines; the person took upstream's"


def test_a_line_of_the_forks_that_a_merge_drops_is_lost() -> None:
    total, _ = score([case(BOTH)], lambda path, base, ours, theirs: git_merge(path, base, base, theirs), lambda _, d: d)
    assert total.ours_lost == 1


def test_another_order_is_said() -> None:
    sides = Sides(BASE, OURS, THEIRS, b"b\nA\nc\nd\nE\n")
    assert other("0" * 40, "a.txt", BOTH, True, (), sides).why == "the person put the same lines in another order"
    assert own_lines(sides) == 0


def test_the_readings_are_one_line_each() -> None:
    assert readings() and all(text and "\n" not in text for text in readings().values())


@pytest.mark.skipif(shutil.which("wiggle") is None, reason="wiggle is not installed")
def test_wiggle_merges_words_and_says_when_it_cannot() -> None:
    assert wiggle("a.txt", BASE, OURS, THEIRS).data == BOTH
    assert wiggle("a.txt", b"f(a, b)\n", b"g(a, b)\n", b"f(a, c)\n").data == b"g(a, c)\n"
    assert not wiggle("a.txt", b"1\n", b"2\n", b"3\n").clean
