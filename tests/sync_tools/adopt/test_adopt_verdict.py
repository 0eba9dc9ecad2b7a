"""How lines of evidence add up to the state of a path and of a landing."""

import pytest

from sync_tools.adopt.verdict import Excuse, PathVerdict, State, Tally, Verdict, overall, state_of

WRITTEN, MISSING = Tally(held=10, written=10), Tally(held=0, written=10)


def path(*pieces: Tally, weak: bool = False, excuse: Excuse | None = None) -> PathVerdict:
    return PathVerdict("slime/a.py", "vime/a.py", pieces, weak, excuse=excuse)


def landing(*paths: PathVerdict) -> Verdict:
    return Verdict(overall(Verdict("landed", paths)), paths)


@pytest.mark.parametrize(
    ("piece", "done"),
    [
        (Tally(held=2, written=4), True),
        (Tally(held=1, written=4), False),
        (Tally(held=4, written=4, gone=1, removed=4), False),
        (Tally(held=4, written=4, gone=2, removed=4), True),
    ],
)
def test_a_piece_is_there_when_half_is_written_and_half_of_the_old_is_gone(piece: Tally, done: bool) -> None:
    assert piece.done is done


def test_what_wrote_nothing_is_measured_by_what_it_removed() -> None:
    assert Tally(gone=1, removed=4).share == 0.25
    assert Tally(held=1, written=2, gone=0, removed=4).share == 0.5
    assert Tally().share == 1.0


@pytest.mark.parametrize(
    ("pieces", "state"),
    [
        ([WRITTEN], "landed"),
        ([], "landed"),
        ([MISSING], "absent"),
        ([WRITTEN, MISSING], "partly"),
        ([Tally(held=1, written=1), Tally(held=0, written=20)], "absent"),
    ],
)
def test_a_trace_of_a_large_change_is_not_partly(pieces: list[Tally], state: State) -> None:
    assert state_of(pieces) == state


def test_intact_is_what_upstream_replaced_and_the_fork_has_as_it_was() -> None:
    untouched, begun = Tally(written=4, removed=3), Tally(held=1, written=4, removed=3)
    assert path(untouched).intact and landing(path(untouched)).intact
    assert not path(begun).intact and not landing(path(begun)).intact
    assert not path(Tally(written=4, gone=1, removed=3)).intact
    assert not path(Tally(written=4)).intact


def test_lines_that_prove_little_count_only_where_there_are_no_others() -> None:
    weak = path(MISSING, weak=True)
    assert landing(path(WRITTEN), weak).state == "landed" and not landing(path(WRITTEN), weak).weak
    assert landing(weak).state == "absent" and landing(weak).weak


def test_excused_paths_do_not_judge_and_an_owned_one_is_not_skipped() -> None:
    dropped, owned = path(excuse=Excuse("not wanted")), path(excuse=Excuse("the fork's", owned=True))
    assert landing(path(MISSING), dropped).state == "absent" and landing(path(WRITTEN), dropped).state == "landed"
    assert landing(dropped).state == "skipped" and dropped.state == "skipped"
    assert landing(dropped, owned).state == "absent"
