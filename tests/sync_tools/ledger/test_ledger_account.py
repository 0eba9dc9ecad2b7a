"""The operation of a unit is that of its lines; the fork's lines are found where they stand."""

import pytest
from ledger_world import Files, change_set, file_change, image, module, place, port, sample, translate

from sync_tools.config import CI, Config, Overlay, Place
from sync_tools.ledger.account import Ruling, account
from sync_tools.ledger.model import Entry
from sync_tools.tree import Blob, MemoryTree
from sync_tools.upstream.changeset import EXECUTABLE, SYMLINK, FileChange, Hunk, Image

A, B = b"one\ntwo\nthree\n", b"one\n2\nthree\n"


def entries(
    before: dict[str, bytes],
    after: dict[str, bytes],
    fork: dict[str, bytes] | None = None,
    config: Config | None = None,
) -> tuple[Entry, ...]:
    files = Files(before, after)
    tree = files.fork() if fork is None else MemoryTree({p: Blob(d) for p, d in fork.items()})
    return port(change_set(files.changes()), tree, config).landing.ledger.entries


def one(*args: object, **more: object) -> Entry:
    (entry,) = entries(*args, **more)
    return entry


def test_names_alone_are_ported_and_the_seam_is_translated() -> None:
    assert one({"a.sh": b"x\n"}, {"a.sh": b"x\nslime\n"}).op == "ported"
    seam = one({"a.sh": b"x\n"}, {"a.sh": b"x\nslime max_new_tokens\n"})
    assert (seam.op, seam.rules) == ("translated", ("SY101", "SY201"))


def test_a_flag_without_counterpart_is_dropped_and_leaves_a_gap() -> None:
    found = entries({"a.sh": b"x\ny\n"}, {"a.sh": b"x\n  --sglang-enable-metrics \\\n  --lr 1\ny\n"})
    assert [(e.op, e.downstream.lines.start, e.downstream.lines.count) for e in found] == [
        ("dropped", 1, 0),
        ("ported", 2, 1),
    ]
    assert found[0].reason == "--sglang-enable-metrics has no counterpart (SY302)"


def test_an_unresolved_site_defers_its_statement_and_no_more() -> None:
    found = entries({"a.sh": b""}, {"a.sh": b"x\nimage_data\ny\n"})
    assert [(e.op, e.state, e.added) for e in found] == [
        ("ported", "settled", 1),
        ("deferred", "open", 1),
        ("ported", "settled", 1),
    ]


def test_the_forks_lines_are_found_below_its_own_and_in_a_moved_function() -> None:
    before, after = module("a", 4), module("a", 4, (2,))
    ours = translate("m.py", before).data
    first = ours.index(b"def step_0")
    second = ours.index(b"def step_2")
    moved = ours[:first] + ours[second:].rstrip(b"\n") + b"\n\n\n" + ours[first:second]
    final = moved.replace(b"first = a_2\n", b"first = a_2 + 1\n")
    files = Files({"m.py": before}, {"m.py": after})
    told = port(change_set(files.changes()), MemoryTree({"m.py": Blob(moved)}))
    (outcome,) = told.outcomes
    outcome = type(outcome)(**{**vars(outcome), "final": Blob(final), "merged": None})
    (entry,) = account(told.changes, [outcome], Config())
    assert entry.op == "ported"
    lines = final.split(b"\n")[entry.downstream.lines.lines.start : entry.downstream.lines.lines.stop]
    assert lines == [b"    first = a_2 + 1"]


def test_what_both_changed_is_a_conflict_with_both_sides() -> None:
    e = one({"a.sh": A}, {"a.sh": B}, {"a.sh": A.replace(b"two", b"ours")})
    assert (e.op, e.state) == ("conflict", "open")
    assert e.clash.ours_digest != e.clash.theirs_digest


def test_a_conflict_wins_over_a_deferred_line() -> None:
    e = one({"a.sh": A}, {"a.sh": A.replace(b"two", b"image_data")}, {"a.sh": A.replace(b"two", b"ours")})
    assert e.op == "conflict"


def test_what_the_fork_landed_by_hand_is_present() -> None:
    ours = B + b"four\nfive\n"
    assert one({"a.sh": A + b"four\n"}, {"a.sh": B + b"four\n"}, {"a.sh": ours}).op == "present"


def test_a_whole_file_that_the_fork_has_lists_what_differs() -> None:
    e = one({}, {"a.sh": b"a\nb\nc\n"}, {"a.sh": b"a\nours\nc\nmore\n"})
    assert (e.op, [str(d) for d in e.downstream.differs]) == ("present", ["2", "4"])


def ops_of(new: bytes, ours: bytes, path: str = "m.py") -> dict[str, tuple[str, str]]:
    files = Files({}, {path: new})
    told = port(change_set(files.changes()), MemoryTree({path: Blob(ours)}))
    return {e.upstream.symbol: (e.op, e.state) for e in told.landing.ledger.entries}


@pytest.mark.parametrize(
    ("ours", "op"),
    [
        (b"def other():\n    return 0\n\n\ndef wanted():\n    return 2\n", "present"),
        (b"def other():\n    return 1\n", "deferred"),
        (b"class wanted:\n    pass\n", "present"),
        (b"", "deferred"),
    ],
)
def test_a_public_definition_that_the_forks_file_lacks_is_open_and_not_present(ours: bytes, op: str) -> None:
    new = b"def _helper():\n    return 1\n\n\ndef wanted():\n    return _helper()\n"
    found = ops_of(new, ours)
    assert found["wanted"] == (op, "open" if op == "deferred" else "settled")
    assert found["_helper"] == ("present", "settled")


def test_a_method_is_open_where_the_class_lacks_it_and_a_whole_class_with_all_that_it_holds() -> None:
    new = b"class A:\n    def __init__(self):\n        self.n = 0\n\n    def count(self):\n        return self.n\n"
    found = ops_of(new, b"class A:\n    def size(self):\n        return 0\n")
    assert (found["A.__init__"][0], found["A.count"][0]) == ("present", "deferred")
    assert {op for op, _ in ops_of(new, b"class B:\n    pass\n").values()} == {"deferred"}


@pytest.mark.parametrize(("ours", "op"), [(b"set -e\nrun --fast\nmore\n", "present"), (b"echo hello\n", "deferred")])
def test_a_text_that_the_fork_has_otherwise_is_open_where_it_holds_little_of_upstreams(ours: bytes, op: str) -> None:
    found = ops_of(b"set -e\nrun --fast\nrun --slow\n", ours, "run.sh")
    assert {o for o, _ in found.values()} == {op}


def test_imports_merge_as_sets() -> None:
    before, after = b"from os import a\n\nx = 1\n", b"from os import a, b\n\nx = 1\n"
    files = Files({"m.py": before}, {"m.py": after})
    told = port(change_set(files.changes()), MemoryTree({"m.py": Blob(b"from os import a, ours\n\nx = 1\n")}))
    (outcome,) = told.outcomes
    for merged, op in (
        (b"from os import a, b, ours\n\nx = 1\n", "ported"),
        (b"from os import a, ours\n\nx = 1\n", "diverged"),
    ):
        settled = type(outcome)(**{**vars(outcome), "final": Blob(merged), "merged": None})
        assert account(told.changes, [settled], Config())[0].op == op


def test_a_difference_is_open_until_an_overlay_says_why() -> None:
    files = Files({"a.sh": A}, {"a.sh": B})
    told = port(change_set(files.changes()), MemoryTree({"a.sh": Blob(A)}))
    (outcome,) = told.outcomes
    outcome = type(outcome)(**{**vars(outcome), "final": Blob(A.replace(b"two", b"ours")), "merged": None})
    (bare,) = account(told.changes, [outcome], Config())
    assert (bare.op, bare.state) == ("diverged", "open")
    overlay = Overlay(path="*.sh", why="ours retries", who="Ada", until="2030-01-01")
    (told_why,) = account(told.changes, [outcome], Config(overlays=(overlay,)))
    assert (told_why.state, told_why.reason, told_why.until) == ("settled", "ours retries", "2030-01-01")


def test_a_row_that_sync_toml_places_elsewhere_diverges() -> None:
    row = b"rows = [\n    {'test_file': 'test_a.py'},\n]\n"
    config = Config(ci=CI(places=(Place(test_file="test_a.py", job="long", to="short", why="it is quick"),)))
    e = one({"ci.j2": b"rows = [\n]\n"}, {"ci.j2": row}, config=config)
    assert (e.op, e.state, e.reason) == (
        "diverged",
        "settled",
        "the row of test_a.py stands in short, not in long: it is quick",
    )


def test_a_row_of_the_matrix_is_found_in_the_forks_spelling() -> None:
    before, after = (
        {"ci.j2": b"a = [\n]\nb = [\n]\n"},
        {"ci.j2": b"a = [\n    {'test_file': 't.py', 'num_gpus': 8},\n]\nb = [\n]\n"},
    )
    told = port(change_set(Files(before, after).changes()), MemoryTree({"ci.j2": Blob(b"a = [\n]\nb = [\n]\n")}))
    (outcome,) = told.outcomes
    final = b'a = [\n]\nb = [\n  {"test_file": "t.py", "num_gpus": 8}\n]\n'
    outcome = type(outcome)(**{**vars(outcome), "final": Blob(final), "merged": None})
    (entry,) = account(told.changes, [outcome], Config())
    assert (entry.op, str(entry.downstream.lines)) == ("ported", "4")


@pytest.mark.parametrize(
    "name",
    [
        "Makefile",
        ".github/workflows/x.yml",
        "docker/Dockerfile.amd",
        "tests/conftest.py",
        "setup.py",
        ".githooks/pre-commit",
    ],
)
def test_what_ci_or_an_install_runs_is_marked(name: str) -> None:
    assert all(e.executes for e in entries({}, {name: b"x\n"}))


def test_ordinary_code_is_not_marked_as_executed() -> None:
    assert not one({}, {"slime/hooks.py": b"x\n"}).executes


def test_renames_modes_links_and_binaries_are_entries_without_lines() -> None:
    changes = [
        file_change(image("slime/a.py", b"x = 1\n"), image("slime/b.py", b"x = 1\n"), 100),
        FileChange("mode", Image("run.sh", 0o100644, b"x\n"), Image("run.sh", EXECUTABLE, b"x\n"), 100, False, ()),
        FileChange("added", None, Image("link", SYMLINK, b"run.sh"), 100, False, (Hunk(0, 0, 1, 1),)),
        FileChange("added", None, Image("logo.png", 0o100644, b"\0\xff"), 100, True, ()),
        FileChange("added", None, Image("slime/__init__.py", 0o100644, b""), 100, False, ()),
    ]
    fork = MemoryTree({"vime/a.py": Blob(b"x = 1\n"), "run.sh": Blob(b"x\n")})
    found = port(change_set(changes), fork).landing.ledger.entries
    assert {e.op for e in found} == {"ported"}
    assert {e.facts for e in found if not e.added + e.removed} == {
        ("renamed, 100% alike",),
        ("mode 100644 -> 100755",),
        ("symlink",),
        ("binary",),
        ("empty",),
    }


def test_a_ruling_of_the_port_holds_for_the_whole_unit() -> None:
    files, fork = sample()
    told = port(change_set(files.changes()), fork)
    unit = next(e.id for e in told.landing.ledger.entries if e.op == "ported")
    ruled = account(
        told.changes, told.outcomes, Config(), {unit: Ruling("superseded", "rewritten by it", link="THUDM/slime#2000")}
    )
    assert next((e.op, e.link) for e in ruled if e.id == unit) == ("superseded", "THUDM/slime#2000")


def test_accounting_twice_gives_the_same() -> None:
    files, fork = sample()
    assert (
        port(change_set(files.changes()), fork).landing.ledger == port(change_set(files.changes()), fork).landing.ledger
    )


def test_outcomes_must_be_those_of_the_change() -> None:
    files, fork = sample()
    told = port(change_set(files.changes()), fork)
    with pytest.raises(ValueError, match="one outcome"):
        account(told.changes, told.outcomes[1:], Config())


def test_undecodable_content_and_crlf_are_accounted_for() -> None:
    data = b"\xff\xfe slime\r\nend"
    found = entries({"a.txt": b""}, {"a.txt": data}, {"a.txt": b""})
    assert sum(e.added for e in found) == 2
    assert place("slime") == "vime"
