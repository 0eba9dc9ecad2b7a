from ci_fixtures import row, template

from sync_tools.ci.check import CICheck, check
from sync_tools.ci.commands import render
from sync_tools.ci.render import workflow
from sync_tools.config import CI, Exempt
from sync_tools.tree import Blob, MemoryTree, Overlay

TEMPLATE, WORKFLOW = "ci_templates/pr-test.yml.j2", ".github/workflows/pr-test.yml"
TEXT = template({"one": [row("a"), row("b")], "two": [row("a")]})


def tree(text: str = TEXT, *tests: str, banner: str | None = None) -> MemoryTree:
    files = {path: Blob(b"") for path in (*tests, "tests/test_a.py", "tests/test_b.py")}
    bare = MemoryTree({**files, TEMPLATE: Blob(text.encode())})
    return MemoryTree(
        {**bare.files, **{path: Blob(data) for path, data in render(bare, CI(banner=banner)).files.items()}}
    )


def found(checked: CICheck) -> list[tuple[str, str, str]]:
    return [problem.identity for problem in checked.problems]


def test_a_tree_whose_ci_runs_everything_is_clean() -> None:
    assert check(tree(), CI()) == CICheck(current=True)


def test_an_edited_template_or_workflow_is_stale() -> None:
    edited = Overlay(tree(), {TEMPLATE: Blob(TEXT.replace("PR Test", "PR").encode())})
    assert found(check(edited, CI())) == [("stale", WORKFLOW, "")]
    assert not check(edited, CI()).current
    assert found(check(Overlay(tree(), {WORKFLOW: None}), CI())) == [("stale", WORKFLOW, "")]


def test_the_standing_banner_is_as_good_as_ours_but_a_configured_one_counts() -> None:
    body = workflow(TEXT.encode(), TEMPLATE, banner="")
    theirs = Overlay(tree(), {WORKFLOW: Blob(b"# made by theirs\n" + body)})
    assert check(theirs, CI()).current
    spaced = Overlay(tree(), {WORKFLOW: Blob(b"# made by theirs\n\n" + body)})
    assert check(spaced, CI()).current
    assert not check(theirs, CI(banner="ours")).current
    assert check(tree(banner="ours"), CI(banner="ours")).current


def test_every_test_is_registered_or_exempt_with_a_reason() -> None:
    more = tree(TEXT, "tests/new/test_c.py", "tests/helpers.py", "other/test_d.py")
    assert found(check(more, CI())) == [("unregistered", "tests/new/test_c.py", "")]
    ci = CI(exempt=(Exempt(match="tests/new/**", reason="needs a cluster"),))
    assert check(more, ci).problems == ()
    assert (
        check(
            tree(template({"one": [row("a"), row("b"), "{'test_file': 'new'}"]}), "tests/new/test_c.py"), CI()
        ).problems
        == ()
    )


def test_equal_rows_of_one_job_and_rows_of_nothing_are_problems() -> None:
    text = template({"one": [row("a"), row("b"), row("a"), row("a", 4)], "two": [row("gone")]})
    assert found(check(tree(text), CI())) == [("repeated", "test_a.py", "one"), ("missing", "test_gone.py", "two")]


def test_an_invalid_or_hostile_workflow_is_a_problem() -> None:
    for text in (TEXT.replace("runs-on", "runs"), TEXT + "a: &a [*a]\n", TEXT + "<< 'x: y: z' >>\n"):
        kinds = {problem.kind for problem in check(tree(text), CI()).problems}
        assert "invalid" in kinds
    escaping = Overlay(tree(), {TEMPLATE: Blob(b"<< ''.__class__ >>")})
    assert found(check(escaping, CI())) == [("template", TEMPLATE, "")]
    assert not check(escaping, CI()).current


def test_a_tree_without_a_template_is_checked_by_its_workflow() -> None:
    bare = Overlay(tree(TEXT, "tests/test_c.py"), {TEMPLATE: None})
    assert found(check(bare, CI())) == [("unregistered", "tests/test_c.py", "")]
    assert check(bare, CI()).current
    assert len(check(MemoryTree({"tests/test_a.py": Blob(b"")}), CI()).problems) == 1


def test_old_debt_is_inherited_and_new_debt_is_not() -> None:
    old = tree(TEXT, "tests/test_old.py")
    new = tree(TEXT, "tests/test_old.py", "tests/test_new.py")
    checked = check(new, CI(), base=old)
    assert found(checked) == [("unregistered", "tests/test_new.py", "")]
    assert [problem.path for problem in checked.inherited] == ["tests/test_old.py"]

    assert set(checked.to_json()) == {"current", "problems", "inherited"}
