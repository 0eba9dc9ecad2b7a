import difflib

from ci_fixtures import HEAD, git_merge, row, template

from sync_tools.ci.matrix import parse
from sync_tools.ci.port import TemplatePort, port_template
from sync_tools.config import Place

A, B, C, N = row("a"), row("b"), row("c"), row("n", 4)
BEFORE = template({"e2e-megatron": [A, B], "e2e-sglang": [row("sglang_c")]})
ADDED = template({"e2e-megatron": [A, N, B], "e2e-sglang": [row("sglang_c")]})


def rename(name: str) -> str:
    return name.replace("sglang", "vllm")


def port(before: str, after: str, ours: str, *places: Place) -> TemplatePort:
    return port_template(
        before.encode(),
        after.encode(),
        ours.encode(),
        rename=rename,
        translate=lambda data: data.replace(b"sglang", b"vllm"),
        merge=git_merge,
        places=places,
    )


def text(ported: TemplatePort) -> str:
    assert ported.data is not None
    return ported.data.decode()


def changes(ours: str, ported: TemplatePort) -> list[str]:
    """The lines that a port took and gave."""
    lines = difflib.unified_diff(ours.splitlines(), text(ported).splitlines(), n=0, lineterm="")
    return [line for line in lines if line[:3] not in ("---", "+++") and line[:2] != "@@"]


def rows(ported: TemplatePort) -> dict[str, list[str]]:
    return {job.name: [r.test_file for r in job.rows] for job in parse(text(ported), "").matrix.jobs}


def test_an_unedited_template_becomes_upstreams() -> None:
    ported = port(BEFORE, ADDED, rename(BEFORE))
    assert text(ported) == rename(ADDED)
    assert [(c.job, c.test_file) for c in ported.added] == [("e2e-megatron", "test_n.py")]


def test_a_row_lands_behind_its_neighbour_in_the_forks_own_style() -> None:
    fork = (
        "<% set jobs = {\n  'e2e-vllm': {'label': 'own', 'tests': []},\n"
        f"  'e2e-megatron': {{'tests': [{A}, {row('own')}, {B}], 'label': 'x'}},\n}} %>\n" + HEAD
    )
    ported = port(BEFORE, ADDED, fork)
    assert changes(fork, ported) == [
        f"-  'e2e-megatron': {{'tests': [{A}, {row('own')}, {B}], 'label': 'x'}},",
        f"+  'e2e-megatron': {{'tests': [{A}, {N}, {row('own')}, {B}], 'label': 'x'}},",
    ]


def test_names_are_translated_and_an_untranslated_job_of_the_fork_is_found() -> None:
    after = BEFORE.replace(row("sglang_c"), f"{row('sglang_c')},\n        {row('sglang_d')}")
    for fork in (rename(BEFORE).replace(A, row("a", 2)), BEFORE):
        ported = port(BEFORE, after, fork)
        assert changes(fork, ported) == [f"+        {row('vllm_d')},"]


def test_comments_and_blank_lines_of_the_fork_stay() -> None:
    fork = rename(BEFORE).replace(f"        {B},", f"\n        # slow\n        {B},  # b").replace(A, row("a", 2))
    after = BEFORE.replace(f"        {B},\n", "").replace(A, f"{A},\n        {C}")
    ported = port(BEFORE, after, fork)
    assert changes(fork, ported) == ["-", "-        # slow", f"-        {B},  # b", f"+        {C},"]


def test_a_changed_option_changes_alone() -> None:
    fork = rename(BEFORE).replace(A, "{'test_file': 'test_a.py', 'num_gpus': 8, 'mine':'1'}")
    after = BEFORE.replace(A, row("a", 4, enable_eval="0"))
    ported = port(BEFORE, after, fork)
    assert changes(fork, ported) == [
        "-        {'test_file': 'test_a.py', 'num_gpus': 8, 'mine':'1'},",
        "+        {'test_file': 'test_a.py', 'num_gpus': 4, 'enable_eval': '0', 'mine':'1'},",
    ]
    assert len(ported.changed) == 1


def test_a_row_that_the_fork_has_is_present_and_says_whether_it_differs() -> None:
    for own, differs in ((N, False), (row("n", 2), True)):
        fork = rename(BEFORE).replace(f"        {B},\n", f"        {B},\n        {own},\n")
        ported = port(BEFORE, ADDED, fork)
        assert text(ported) == fork
        assert [(p.job, p.differs) for p in ported.delta.present] == [("e2e-megatron", differs)]
        assert ported.added == ()


def test_a_new_test_that_the_fork_runs_in_another_job_is_present_there() -> None:
    fork = rename(BEFORE).replace(row("vllm_c"), f"{row('vllm_c')},\n        {N}")
    ported = port(BEFORE, ADDED, fork)
    assert text(ported) == fork
    assert [(p.job, p.upstream_job) for p in ported.delta.present] == [("e2e-vllm", "e2e-megatron")]


def test_a_place_sends_the_row_to_its_job_and_later_changes_follow() -> None:
    fork = template({"e2e-megatron": [A, B], "e2e-vllm": [row("vllm_c")], "e2e-short": [row("own")]})
    place = Place(test_file="test_n.py", job="e2e-megatron", to="e2e-short")
    ported = port(BEFORE, ADDED, fork, place)
    assert changes(fork, ported) == [f"+        {N},"]
    assert rows(ported)["e2e-short"] == ["test_own.py", "test_n.py"]
    assert ported.diverged == (place,)

    later = port(ADDED, ADDED.replace(N, row("n", 2)), text(ported), place)
    assert changes(text(ported), later) == [f"-        {N},", f"+        {row('n', 2)},"]
    gone = port(ADDED, BEFORE, text(ported), place)
    assert text(gone) == fork


def test_a_place_holds_in_an_unedited_template_too() -> None:
    fork = template({"e2e-megatron": [A, B], "e2e-sglang": [row("sglang_c")]})
    place = Place(test_file="test_n.py", job="e2e-megatron", to="e2e-vllm")
    assert rows(port(BEFORE, ADDED, rename(fork), place))["e2e-vllm"] == ["test_vllm_c.py", "test_n.py"]


def test_a_job_that_the_fork_lacks_is_reported() -> None:
    fork = template({"unit": [row("own")]})
    ported = port(BEFORE, ADDED, fork)
    assert text(ported) == fork
    assert ported.missing_jobs == ("e2e-megatron",)
    assert [(u.job, u.kind, u.row.test_file) for u in ported.delta.unplaced] == [("e2e-megatron", "added", "test_n.py")]


def test_a_changed_row_that_the_fork_lacks_is_reported() -> None:
    fork = rename(BEFORE).replace(f"        {A},\n", "")
    ported = port(BEFORE, BEFORE.replace(A, row("a", 4)), fork)
    assert text(ported) == fork
    assert [(u.kind, u.row.test_file) for u in ported.delta.unplaced] == [("changed", "test_a.py")]


def test_what_both_sides_changed_is_a_conflict_in_its_line_alone() -> None:
    fork = rename(BEFORE).replace(A, row("a", 2))
    after = ADDED.replace(A, row("a", 4))
    ported = port(BEFORE, after, fork)
    marked = text(ported).splitlines()
    start = next(i for i, line in enumerate(marked) if line.startswith("<<<<<<<"))
    assert marked[start + 1 : start + 6 : 2] == [f"        {row('a', 2)},", f"        {A},", f"        {row('a', 4)},"]
    assert f"        {N}," in marked
    (conflict,) = ported.conflicts
    at = BEFORE.splitlines().index(f"        {A},")
    assert (conflict.base, conflict.ours, conflict.theirs) == ((at, at + 1), (at, at + 1), (at, at + 1))


def test_a_row_that_upstream_removed_and_the_fork_edited_is_a_conflict() -> None:
    fork = rename(BEFORE).replace(B, row("b", 2))
    ported = port(BEFORE, BEFORE.replace(f"        {B},\n", ""), fork)
    assert len(ported.conflicts) == 1 and row("b", 2) in text(ported)
    assert ported.removed == ()


def test_jobs_come_go_and_change_their_name_and_label() -> None:
    fork = template({"e2e-megatron": [A, B, row("own")], "e2e-vllm": [row("vllm_c")], "own": [row("mine")]})
    after = template({"e2e-megatron": [A, B], "agents": [N]})
    ported = port(BEFORE, after, fork)
    assert rows(ported) == {
        "e2e-megatron": ["test_a.py", "test_b.py", "test_own.py"],
        "agents": ["test_n.py"],
        "own": ["test_mine.py"],
    }
    assert [(j.kind, j.after) for j in ported.delta.jobs] == [("added", "agents"), ("removed", "e2e-vllm")]
    assert (len(ported.added), len(ported.removed)) == (1, 1)

    renamed = BEFORE.replace("'e2e-megatron'", "'cpu-unittest'").replace(B, C)
    ported = port(BEFORE, renamed, fork)
    assert rows(ported)["cpu-unittest"] == ["test_a.py", "test_c.py", "test_own.py"]
    assert [(j.kind, j.before, j.after) for j in ported.delta.jobs] == [("renamed", "e2e-megatron", "cpu-unittest")]

    labelled = port(BEFORE, BEFORE.replace("run-ci-e2e-megatron", "run-ci-big"), fork)
    assert changes(fork, labelled) == ["-      'label': 'run-ci-e2e-megatron',", "+      'label': 'run-ci-big',"]


def test_a_job_that_upstream_removed_and_the_fork_edited_is_a_conflict() -> None:
    fork = template({"e2e-megatron": [A, B], "e2e-vllm": [row("vllm_c", 2)]})
    ported = port(BEFORE, template({"e2e-megatron": [A, B]}), fork)
    assert len(ported.conflicts) == 1
    assert row("vllm_c", 2) in text(ported)


def test_a_list_shared_by_both_is_edited_once() -> None:
    jobs = {"e2e-megatron": "shared", "e2e-image": "shared"}
    before, after = template(jobs, {"shared": [A, B]}), template(jobs, {"shared": [A, N, B]})
    fork = template(jobs | {"own": [C]}, {"shared": [A, B, row("own")]})
    ported = port(before, after, fork)
    assert changes(fork, ported) == [f"+    {N},"]
    assert len(ported.added) == 1


def test_a_list_that_only_the_fork_shares_is_left_and_reported() -> None:
    before = template({"e2e-megatron": [A, B], "e2e-image": [A, B]})
    after = template({"e2e-megatron": [A, N, B], "e2e-image": [A, B]})
    fork = template({"e2e-megatron": "mine", "e2e-image": "mine"}, {"mine": [A, B]})
    ported = port(before, after, fork)
    assert text(ported) == fork
    assert [(u.job, u.row.test_file) for u in ported.delta.unplaced] == [("e2e-megatron", "test_n.py")]
    assert port(before, template({"e2e-megatron": [A, N, B], "e2e-image": [A, N, B]}), fork).added != ()


def test_upstreams_new_shared_list_is_taken_over_where_ours_was_as_upstreams() -> None:
    before = template({"e2e-megatron": [A, B], "e2e-image": [A]})
    after = template({"e2e-megatron": "shared", "e2e-image": "shared"}, {"shared": [A, B]})
    fork = template({"own": [C], "e2e-megatron": [A, B], "e2e-image": [A, row("own")]})
    ported = port(before, after, fork)
    assert f"<% set shared = [\n    {A},\n    {B},\n] %>\n<% set jobs" in text(ported)
    assert rows(ported) == {
        "own": ["test_c.py"],
        "e2e-megatron": ["test_a.py", "test_b.py"],
        "e2e-image": ["test_a.py", "test_b.py", "test_own.py"],
    }
    assert "'tests': shared," in text(ported)

    back = port(
        after, before, template({"own": [C], "e2e-megatron": "shared", "e2e-image": "shared"}, {"shared": [A, B]})
    )
    assert "set shared" not in text(back)
    assert rows(back)["e2e-image"] == ["test_a.py"]


def test_the_rest_of_the_template_is_merged_as_text() -> None:
    fork = rename(BEFORE).replace("branches: [main]", "branches: [main, next]").replace(B, row("b", 2))
    after = ADDED.replace("actions", "actions").replace("'self-hosted'", "'gpu'")
    ported = port(BEFORE, after, fork)
    assert sorted(changes(fork, ported)) == sorted(
        [
            f"+        {N},",
            "-    runs-on: << config.get('runner', 'self-hosted') >>",
            "+    runs-on: << config.get('runner', 'gpu') >>",
        ]
    )
    clash = port(BEFORE, after, fork.replace("'self-hosted'", "'mine'"))
    assert len(clash.conflicts) == 1 and f"        {N}," in text(clash)


def test_line_ends_and_undecodable_bytes_come_through() -> None:
    fork = rename(BEFORE).replace(B, row("b", 2)).replace("\n", "\r\n").encode() + b"\xff\r\n"
    before, after = BEFORE.replace("\n", "\r\n").encode(), ADDED.replace("\n", "\r\n").encode()
    for old, new in ((before, after), (BEFORE.encode(), ADDED.encode())):
        ported = port_template(old, new, fork, rename=rename, translate=lambda d: d, merge=git_merge)
        assert ported.data == fork.replace(A.encode() + b",\r\n", f"{A},\r\n        {N},\r\n".encode())


def test_templates_that_are_no_matrix_are_merged_as_text() -> None:
    broken = "<% set jobs = {'a': \n%>\nname: a\n\n\n\nend: b\n"
    ported = port(broken, broken.replace("name: a", "name: z"), broken.replace("end: b", "end: y"))
    assert text(ported) == broken.replace("name: a", "name: z").replace("end: b", "end: y")


def test_a_template_that_comes_or_goes() -> None:
    keep = {"rename": rename, "translate": lambda d: d, "merge": git_merge}
    assert port_template(None, b"new", b"ours", **keep).data == b"ours"
    assert port_template(b"ours", None, b"ours", **keep).data is None
    edited = port_template(b"theirs", None, b"ours", **keep)
    assert edited.data == b"ours" and len(edited.conflicts) == 1


def test_a_removed_job_stays_where_the_fork_edited_the_list_that_it_shares() -> None:
    jobs = {"e2e-megatron": "shared"}
    before, fork = template(jobs, {"shared": [A]}), template(jobs, {"shared": [A, row("own")]})
    ported = port(before, template({"unit": [N]}), fork)
    assert rows(ported) == {"e2e-megatron": ["test_a.py", "test_own.py"], "unit": ["test_n.py"]}
    assert [(u.kind, u.row.test_file) for u in ported.delta.unplaced] == [("removed", "test_a.py")]


def test_a_job_that_upstream_removed_stays_where_it_is_for_its_placed_rows() -> None:
    before = template({"short": [A], "e2e-megatron": [B, N]})
    fork = template({"short": [A, N], "e2e-megatron": [B]})
    place = Place(test_file="test_n.py", job="e2e-megatron", to="short")
    ported = port(before, template({"e2e-megatron": [B, N]}), fork, place)
    assert list(rows(ported).items()) == [("short", ["test_n.py"]), ("e2e-megatron", ["test_b.py"])]
