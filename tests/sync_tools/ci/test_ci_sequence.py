from hypothesis import given
from hypothesis import strategies as st

from sync_tools.ci.sequence import Item, Slot, merge

names = st.lists(st.sampled_from("abcdefgh"), max_size=7)
items = st.lists(
    st.builds(lambda kin, edit: Item((kin, edit), kin), st.sampled_from("abcde"), st.integers(0, 1)), max_size=7
)


def of(text: str) -> list[Item]:
    """`a1` is the item a, edited once."""
    return [Item(word, word[0]) for word in text.split()]


def result(before: str, ours: str, after: str) -> str:
    """The keys of the merged sequence; `-x` for what was removed, `?x` for a change that ours has no place for."""
    b, o, a = of(before), of(ours), of(after)

    def shown(slot: Slot) -> str:
        if slot.state == "removed":
            return f"-{b[slot.before or 0].key}"
        if slot.state == "lost-by-ours":
            return f"?{a[slot.after or 0].key}"
        taken = slot.state in ("added", "changed") and slot.after is not None
        return str(a[slot.after or 0].key if taken else o[slot.ours or 0].key)

    return " ".join(shown(slot) for slot in merge(b, o, a))


def test_new_items_follow_the_one_that_they_follow_upstream() -> None:
    assert result("a b", "x a y b z", "a n b") == "x a n y b z"
    assert result("a b", "x b", "a n b") == "x n b"
    assert result("a", "x y", "a n") == "x y n"
    assert result("a", "a x", "n a") == "n a x"


def test_what_ours_has_already_is_not_added() -> None:
    assert result("a", "a x n", "a n") == "a x n"
    assert result("a", "a n1", "a n") == "a n1"


def test_removed_edited_and_lost_items_are_told_apart() -> None:
    assert result("a b", "a b", "a") == "a -b"
    assert [slot.state for slot in merge(of("a b"), of("a b1"), of("a"))] == ["kept", "kept-by-ours"]
    assert result("a b", "b", "a1 b") == "?a1 b"
    assert result("a b", "a b", "a1 b") == "a1 b"


def test_a_moved_item_moves_and_ours_stay() -> None:
    assert result("a b c", "a x b c", "c a b") == "c a x b"
    assert [slot.moved for slot in merge(of("a b c"), of("a b c"), of("c a b"))] == [True, False, False]


@given(items, items)
def test_an_unedited_sequence_becomes_upstreams(before: list[Item], after: list[Item]) -> None:
    slots = [slot for slot in merge(before, before, after) if slot.state != "removed"]
    assert [slot.after for slot in slots] == list(range(len(after)))
    for slot in slots:
        if slot.state == "kept":
            assert slot.before is not None and slot.after is not None
            assert before[slot.before].key == after[slot.after].key


@given(items, items)
def test_without_a_change_upstream_ours_stays(before: list[Item], ours: list[Item]) -> None:
    slots = merge(before, ours, before)
    assert [slot.ours for slot in slots] == list(range(len(ours)))
    assert {slot.state for slot in slots} <= {"kept", "present"}


@given(items, items, items)
def test_nothing_is_lost_and_nothing_comes_twice(before: list[Item], ours: list[Item], after: list[Item]) -> None:
    slots = merge(before, ours, after)
    assert sorted(slot.ours for slot in slots if slot.ours is not None) == list(range(len(ours)))
    taken = [slot.after for slot in slots if slot.after is not None]
    assert len(taken) == len(set(taken))
    new = {item.key for item in after} - {item.key for item in before}
    for key in new:
        assert any(slot.after is not None and after[slot.after].key == key for slot in slots)
