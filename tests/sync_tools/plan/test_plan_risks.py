"""The marks of a plan are true of the change."""

import pytest

MODULE = 'def f(x):\n    """Says x."""\n    return x\n'


@pytest.fixture
def marks(grown, fork_at, planned):
    """The marks of the last of two commits, by mark."""

    def of(before: dict, after: dict, fork_files: dict | None = None, git=None) -> dict:
        base = grown.land("begin (#1)", before)
        grown.land("it (#2)", after)
        fork = fork_at(grown.at, base)
        for path, content in (fork_files or {}).items():
            (fork / path).write_text(content)
        if fork_files:
            git(fork, "add", "-A")
            git(fork, "commit", "-q", "-m", "ours")
        return {risk["mark"]: risk for risk in planned(2, repo=fork, upstream=grown.at)["risks"]}

    return of


def test_behaviour_without_a_test(marks):
    found = marks({"slime/a.py": MODULE}, {"slime/a.py": MODULE.replace("return x", "return -x")})
    assert found["untested"]["paths"] == ["slime/a.py"]


@pytest.mark.parametrize(
    "after",
    [
        {"slime/a.py": MODULE.replace("Says x.", "Tells x.") + "# the end\n"},
        {"slime/a.py": MODULE.replace("return x", "return -x"), "tests/test_a.py": "def test_a(): pass\n"},
        {"docs/en/a.md": "# A\n"},
    ],
)
def test_words_alone_tested_code_and_documents_have_no_such_mark(marks, after):
    assert "untested" not in marks({"slime/a.py": MODULE}, after)


def test_the_seam_by_the_rules_that_apply_in_changed_lines(marks):
    call = 'async def ask(args, post, ids):\n    url = f"http://{args.sglang_router_ip}:1/generate"\n'
    call += '    return (await post(url, {"input_ids": ids, "sampling_params": {}}))["text"]\n'
    found = marks({"slime/a.py": MODULE}, {"slime/b.py": call})
    assert found["engine"]["paths"] == ["slime/b.py"] and "SY101" in found["engine"]["rules"]
    assert "engine" not in marks({}, {"slime/a.py": MODULE + "y = 1\n"})


def test_what_ci_or_an_install_runs(marks):
    found = marks({"slime/a.py": MODULE}, {"setup.py": "x = 1\n", ".github/workflows/other.yml": "on: push\n"})
    assert found["executes"]["paths"] == ["setup.py"]
    assert found["ci"]["paths"] == [".github/workflows/other.yml"]


def test_lines_that_the_fork_changed_are_a_conflict(marks, git):
    found = marks(
        {"slime/a.py": MODULE},
        {"slime/a.py": MODULE.replace("return x", "return -x")},
        {"vime/a.py": MODULE.replace("return x", "return 2 * x")},
        git,
    )
    assert found["conflict"]["paths"] == ["vime/a.py"] and "f" in found["conflict"]["why"]


@pytest.mark.parametrize(
    ("name", "user", "text"),
    [
        ("lookup_table", "ours.py", "from vime.a import lookup_table\n"),
        ("--keep-it", "ours.sh", "train.py --keep-it 3\n"),
        ("lookup_table", "", ""),
    ],
)
def test_a_name_or_an_option_that_goes_while_the_fork_uses_it(name, user, text, marks, git):
    option = 'def add(parser):\n    parser.add_argument("--keep-it", type=int)\n'
    found = marks(
        {"slime/a.py": MODULE.replace("f(x)", "lookup_table(x)"), "slime/o.py": option},
        {"slime/a.py": MODULE.replace("f(x)", "other(x)"), "slime/o.py": "def add(parser):\n    pass\n"},
        {user: text} if user else {},
        git,
    )
    assert (found["removes"]["paths"] == [user] and name in found["removes"]["why"]) if user else "removes" not in found
