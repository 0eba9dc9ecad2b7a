"""What holds for any three matrices, in whatever style the fork writes its own."""

from dataclasses import dataclass

from ci_fixtures import HEAD, git_merge
from hypothesis import given, settings
from hypothesis import strategies as st

from sync_tools.ci.matrix import Template, parse
from sync_tools.ci.port import port_template, settle


@dataclass(frozen=True)
class Style:
    """How a template is written: rows on lines of their own or in one, with or without a last comma, in other quotes."""

    lines: bool
    comma: bool
    quote: str

    def listed(self, items: list[str], brackets: str, indent: int) -> str:
        if not items or not self.lines:
            return brackets[0] + ", ".join(items) + brackets[1]
        pad = "\n" + " " * indent
        last = "," if self.comma else ""
        return brackets[0] + pad + f",{pad}".join(items) + last + pad[:-2] + brackets[1]


Rows = tuple[tuple[str, int, str], ...]
styles = st.builds(Style, st.booleans(), st.booleans(), st.sampled_from(["'", '"']))
rows = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from([1, 8]), st.sampled_from(["", "x"])), max_size=5
).map(tuple)
jobs = st.dictionaries(
    st.sampled_from(["one", "two", "three", "four"]), st.one_of(rows, st.just("shared")), min_size=1, max_size=4
)
matrices = st.tuples(jobs, rows.filter(bool))


def written(matrix: tuple[dict[str, Rows | str], Rows], style: Style = Style(True, True, "'")) -> str:
    jobs, shared = matrix
    q = style.quote

    def row(name: str, gpus: int, extra: str) -> str:
        option = f", {q}extra{q}: {q}{extra}{q}" if extra else ""
        return f"{{{q}test_file{q}: {q}test_{name}.py{q}, {q}num_gpus{q}: {gpus}{option}}}"

    entries = []
    for name, body in jobs.items():
        tests = body if isinstance(body, str) else style.listed([row(*r) for r in body], "[]", 8)
        entries.append(
            f"{q}{name}{q}: " + style.listed([f"{q}label{q}: {q}l-{name}{q}", f"{q}tests{q}: {tests}"], "{}", 6)
        )
    listing = (
        f"<% set shared = {style.listed([row(*r) for r in shared], '[]', 4)} %>\n" if "shared" in jobs.values() else ""
    )
    return listing + f"<% set jobs = {style.listed(entries, '{}', 4)} %>\n" + HEAD


def read(text: str) -> Template:
    return parse(text, "")


@settings(max_examples=100, deadline=None)
@given(matrices, matrices)
def test_upstreams_change_made_to_upstream_before_is_upstream_after(before: tuple, after: tuple) -> None:
    old, new = read(written(before)), read(written(after))
    settled = settle(old, old, new)
    assert read(settled.ours).matrix == new.matrix
    assert settled.base == settled.ours == settled.theirs


@settings(max_examples=100, deadline=None)
@given(matrices, matrices, styles)
def test_no_change_upstream_leaves_the_fork_byte_for_byte(before: tuple, fork: tuple, style: Style) -> None:
    old, ours = read(written(before)), read(written(fork, style))
    settled = settle(old, ours, old)
    assert settled.ours == ours.text
    assert settled.base == settled.theirs
    assert not settled.delta.added and not settled.delta.removed and not settled.delta.unplaced


@settings(max_examples=100, deadline=None)
@given(matrices, matrices, styles)
def test_the_style_of_the_fork_makes_no_difference_to_the_matrix(before: tuple, after: tuple, style: Style) -> None:
    old, ours, new = read(written(before)), read(written(before, style)), read(written(after))
    assert read(settle(old, ours, new).ours).matrix == new.matrix


@settings(max_examples=100, deadline=None)
@given(matrices, matrices, matrices, styles)
def test_the_forks_own_rows_survive_and_every_row_of_upstreams_is_accounted_for(
    before: tuple, fork: tuple, after: tuple, style: Style
) -> None:
    old, ours, new = read(written(before)), read(written(fork, style)), read(written(after))
    ported = port_template(
        old.text.encode(), new.text.encode(), ours.text.encode(), rename=str, translate=lambda d: d, merge=git_merge
    )
    assert ported.data is not None
    if ported.conflicts:
        return
    result = read(ported.data.decode())
    renamed = {j.before: j.after for j in ported.delta.jobs if j.kind == "renamed"}
    known = {row.test_file for job in old.matrix.jobs for row in job.rows}
    for job in ours.matrix.jobs:
        left = result.matrix.job(renamed.get(job.name, job.name))
        for row in job.rows:
            if row.test_file not in known:
                assert left is not None and row.key in {r.key for r in left.rows}

    told = {c.test_file for c in (*ported.added, *ported.changed)}
    told |= {p.row.test_file for p in ported.delta.present} | {u.row.test_file for u in ported.delta.unplaced}
    had = {row.key for job in old.matrix.jobs for row in job.rows}
    standing = {row.key for job in result.matrix.jobs for row in job.rows}
    for job in new.matrix.jobs:
        for row in job.rows:
            assert row.key in had | standing or row.test_file in told or job.name in ported.missing_jobs
