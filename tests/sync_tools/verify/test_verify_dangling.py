"""dangling, duplicates and arguments: what a port leaves behind in the rest of the tree."""

import pytest

BEFORE = {
    "vime/__init__.py": "",
    "vime/rollout/old.py": "def generate_rollout(args): ...\n\n\nclass OldState: ...\n",
    "vime/rollout/keep.py": "def keep_it(): ...\n\n\ndef drop_it(): ...\n",
    "vime/opts.py": 'def f(p):\n    p.add_argument("--old-flag")\n    p.add_argument("--new-flag")\n',
    "examples/x/side.py": "def f(): ...\n",
}


def named_by(found, path: str, text: str, gone: str, replaced: str | None = None, check: str = "dangling"):
    """What an untouched file that names something removed is told."""
    before = {**BEFORE, path: text}
    after = {p: c for p, c in before.items() if p != gone} | ({gone: replaced} if replaced is not None else {})
    return [(p, line) for p, line, _ in found(check, after, before) if p == path]


OLD = "vime/rollout/old.py"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("vime/use.py", "x = 1\nfrom vime.rollout.old import generate_rollout\n"),
        ("vime/use.py", "x = 1\nPATH = 'vime.rollout.old.generate_rollout'\n"),
        ("run.sh", "set -e\ntrain --rollout-function-path vime.rollout.old.generate_rollout\n"),
        ("run.sh", "set -e\npython vime/rollout/old.py\n"),
        ("ci_templates/pr-test.yml.j2", "a:\n  - vime/rollout/old.py\n"),
        ("vime/use.py", "x = 1\nREGISTRY = {'OldState': 1}\n"),
        ("vime/use.py", "x = 1\nfrom vime.rollout import old\n"),
        ("vime/use.py", "x = 1\nfrom vime.rollout import keep, old as former\n"),
        ("vime/use.py", "x = 1\nfrom .rollout.old import generate_rollout\n"),
        ("vime/rollout/use.py", "x = 1\nfrom . import old\n"),
        ("vime/rollout/use.py", "def f():\n    from .old import generate_rollout\n"),
    ],
)
def test_what_names_a_removed_module_is_found(found, path, text):
    assert (path, 2) in named_by(found, path, text, OLD)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("vime/use.py", "x = 'vime.rollout.older.thing'\n"),
        ("vime/use.py", "x = 'evime.rollout.old'\n"),
        ("vime/use.py", "old = 1\nold.generate\n"),
        ("vime/use.py", "from .data import old\n"),
        ("vime/use.py", "try:\n    from .rollout import old\nexcept ImportError:\n    old = None\n"),
        ("ledgers/slime-1.json", '{"path": "vime/rollout/old.py"}\n'),
        ("docker/a.patch", "+vime/rollout/old.py\n"),
        ("vime/use.py", "# it was in vime/rollout/old.py once\n"),
        ("README.md", "`vime/rollout/old.py`\n"),
    ],
)
def test_what_names_something_else_or_history_passes(found, path, text):
    assert named_by(found, path, text, OLD) == []


KEEP = "vime/rollout/keep.py"
SHORTER = "def keep_it(): ...\n"


@pytest.mark.parametrize(
    "text",
    [
        "from vime.rollout.keep import drop_it\n",
        "from .rollout.keep import keep_it, drop_it\n",
        "f('vime.rollout.keep.drop_it')\n",
        "x.drop_it()\n",
        "HOOKS = ['drop_it']\n",
    ],
)
def test_what_names_a_removed_function_is_found(found, text):
    assert named_by(found, "vime/use.py", text, KEEP, SHORTER) == [("vime/use.py", 1)]


@pytest.mark.parametrize(
    "text",
    [
        "from vime.rollout.keep import keep_it\n",
        "def drop_it(): ...\n\n\ndrop_it()\n",
        "'we drop_it here'\n",
        "x = 'undrop_it'\n",
    ],
)
def test_what_names_another_of_that_name_passes(found, text):
    assert named_by(found, "vime/use.py", text, KEEP, SHORTER) == []


def test_what_upstream_leaves_dangling_itself_is_inherited(check):
    script = {"run.sh": "a vime.rollout.keep.drop_it\n", "ours.sh": "b vime.rollout.keep.drop_it\n"}
    after = {**BEFORE, **script, KEEP: SHORTER}
    theirs = {**after, "ours.sh": "b\n"}
    result = check("dangling", after, {**BEFORE, **script}, upstream_tree=theirs)
    assert [(f.path, f.origin) for f in result.findings] == [("ours.sh", "introduced"), ("run.sh", "inherited")]


@pytest.mark.parametrize("path", ["run.sh", "vime/use.py"])
def test_an_environment_variable_is_not_the_constant_of_its_name(found, path):
    text = {"run.sh": "export MAX_TRIES=3\n", "vime/use.py": "os.environ['MAX_TRIES']\n"}[path]
    before = {**BEFORE, path: "import os\n" + text, "vime/old.py": "MAX_TRIES = 3\n"}
    assert found("dangling", {**before, "vime/old.py": ""}, before) == []


def test_a_name_imported_from_elsewhere_is_another(found):
    before = {**BEFORE, "vime/use.py": "from megatron import drop_it\n\ndrop_it()\n"}
    assert found("dangling", {**before, KEEP: SHORTER}, before) == []


def test_a_moved_definition_is_named_by_its_old_path(found):
    before = {**BEFORE, "run.sh": "a vime.rollout.keep.drop_it\n", "vime/use.py": "y.drop_it()\n"}
    after = {**before, KEEP: SHORTER, "vime/rollout/other.py": "def drop_it(): ...\n"}
    assert found("dangling", after, before) == [("run.sh", 1, "dangling.name")]


def test_neighbours_of_a_removed_script_are_found_by_its_bare_name(found):
    text = "x = 1\nimport side\n"
    assert named_by(found, "examples/x/use.py", text, "examples/x/side.py") == [("examples/x/use.py", 2)]
    assert named_by(found, "examples/x/go.sh", "a --path side.f\n", "examples/x/side.py") == [("examples/x/go.sh", 1)]
    assert named_by(found, "examples/y/use.py", text, "examples/x/side.py") == []
    assert named_by(found, "examples/x/use.py", "from vime import side as s\n", "examples/x/side.py") == []


@pytest.mark.parametrize(
    "code",
    ["import os\n\n\ndef f():\n    return path\n", "def f():\n    return [y for x in z]\n", "class A(Base): ...\n"],
)
def test_a_name_that_nothing_binds_is_found(found, code):
    assert found("dangling", {"vime/a.py": code})


@pytest.mark.parametrize(
    "code",
    [
        "def f(a, *b, c=1, **d):\n    return a, b, c, d\n",
        "def f():\n    return g()\n\n\ndef g(): ...\n",
        "from x import *\n\ny()\n",
        "try:\n    pass\nexcept E as e:\n    print(e)\nE = 1\n",
        "match x:\n    case {'a': y, **z}:\n        print(y, z)\nx = 1\n",
        "print(__file__, __name__, len([]))\n",
        "if (n := 3) and [m for m in range(n)]:\n    pass\n",
        "with open('f') as h, g() as (i, j):\n    print(h, i, j)\ng = lambda q: q\n",
        "class A:\n    def f(self):\n        return __class__\n",
    ],
)
def test_names_that_something_binds_pass(found, code):
    assert found("dangling", {"vime/a.py": code}) == []


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("def f(): ...\n\n\ndef f(): ...\n", "definition"),
        ("class A:\n    def m(self): ...\n    def m(self): ...\n", "definition"),
        ("if x:\n    def f(): ...\n    def f(): ...\n", "definition"),
        ("class A:\n    x: int = 1\n    y: int = 2\n    x: int = 3\n", "field"),
        ("d = {'a': 1, 'b': 2, 'a': 3}\n", "key"),
        ("import os\nimport sys\nimport os\n", "import"),
        ("from a import b\nfrom a import c, b\n", "import"),
        (
            "def f(p):\n    p.add_argument('--x')\n    p.add_argument('--y')\n    p.add_argument('--x', type=int)\n",
            "option",
        ),
    ],
)
def test_what_stands_twice_is_found(found, code, rule):
    assert [r for _, _, r in found("duplicates", {"vime/a.py": code})] == [f"duplicates.{rule}"]


@pytest.mark.parametrize(
    "code",
    [
        "if x:\n    def f(): ...\nelse:\n    def f(): ...\n",
        "try:\n    import a\nexcept ImportError:\n    import a\n",
        "class A:\n    @property\n    def x(self): ...\n    @x.setter\n    def x(self, v): ...\n",
        "@overload\ndef f(a: int): ...\n@overload\ndef f(a: str): ...\ndef f(a): ...\n",
        "@f.register\ndef _(a): ...\n@f.register\ndef _(a): ...\n",
        "@app.route('/a')\ndef f(): ...\n@app.route('/b')\ndef f(): ...\n",
        "class A:\n    def m(self): ...\nclass B:\n    def m(self): ...\n",
        "d = {1: 1, True: 2, 'a': 1, b'a': 2}\n",
        "import a.b\nimport a.c\nfrom a import b\nfrom a import b as c\n",
        "def f(p):\n    p.add_argument('--x')\ndef g(p):\n    p.add_argument('--x')\n",
        "def f(p, q):\n    p.add_argument('--x')\n    q.add_argument('--x')\n",
    ],
)
def test_what_may_stand_twice_passes(found, code):
    assert found("duplicates", {"vime/a.py": code}) == []


PARSER = {"vime/opts.py": 'def f(p):\n    p.add_argument("--known-one", type=int)\n    p.set_defaults(derived=1)\n'}


@pytest.mark.parametrize(
    "code",
    [
        "def f(args):\n    return args.known_one\n",
        "def f(args):\n    args.made = 1\n    return args.made\n",
        "def f(args):\n    return getattr(args, 'maybe', None) and args.maybe\n",
        "def f(args):\n    return args.vllm_max_num_seqs\n",
        "def f(args):\n    return args.derived\n",
        "def f(other):\n    return other.unknown_one\n",
    ],
)
def test_arguments_that_something_defines_pass(found, code):
    assert found("arguments", {**PARSER, "vime/a.py": code}, PARSER) == []


def test_an_argument_that_nothing_defines_is_found(found):
    code = "def f(args):\n    return args.unknown_one\n"
    assert found("arguments", {**PARSER, "vime/a.py": code}, PARSER) == [("vime/a.py", 2, "arguments.undefined")]
    assert found("arguments", {"vime/a.py": code}) == []


def test_an_argument_that_was_read_before_is_no_news(found):
    code = "def f(args):\n    return args.unknown_one\n"
    before = {**PARSER, "vime/a.py": code}
    after = {**PARSER, "vime/moved.py": code + "x = 1\n"}
    assert found("arguments", after, before) == []


def test_scripts_that_give_a_removed_option_are_found(found):
    opts = "vime/opts.py"
    less = BEFORE[opts].replace('    p.add_argument("--old-flag")\n', "")
    assert named_by(found, "run.sh", "a --old-flag 1\n", opts, less, check="arguments") == [("run.sh", 1)]
    assert named_by(found, "run.sh", "a --old-flag-2 1 --new-flag\n", opts, less, check="arguments") == []


def test_a_name_that_only_another_function_binds_is_bound_nowhere_around(found):
    code = "def f(a):\n    ours = a\n    return found\n\n\ndef g(a):\n    found = a\n    return found\n"
    assert found("dangling", {"vime/a.py": code}) == [("vime/a.py", 3, "dangling.undefined")]


@pytest.mark.parametrize(
    "code",
    [
        "def f(a):\n    def g():\n        return later\n    later = a\n    return g\n",
        "class A:\n    size = 1\n    def f(self, n=size):\n        return n\n",
        "def f(a):\n    return [y for x in a if (y := x)], y\n",
        "def f():\n    global n\n    n = 1\n\n\ndef g():\n    return n\n",
        "def f(a):\n    match a:\n        case {'x': x, **rest}:\n            return x, rest\n        case [first, *others]:\n            return first, others\n",
        "def f(a):\n    try:\n        a()\n    except ValueError as e:\n        raise TypeError from e\n    with a as b, a as (c, d):\n        return lambda x: (x, b, c, d)\n",
        "def f(a):\n    import os.path\n    for i, (j, k) in a:\n        del i\n        return os, j, k\n",
        "async def f(a):\n    return {k: v async for k, v in a for k in v}\n",
    ],
)
def test_what_a_scope_around_binds_is_bound(found, code):
    assert found("dangling", {"vime/a.py": code}) == []
