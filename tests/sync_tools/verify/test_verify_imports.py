"""imports: names of our packages exist, seen without importing anything."""

import pytest

CORE = {
    "vime/__init__.py": "",
    "vime/utils/__init__.py": "from .misc import load_function as load\n",
    "vime/utils/misc.py": """\
        import os
        from third.party import thing
        try:
            import fast as json_lib
        except ImportError:
            json_lib = None
        if os.name == "nt":
            ONLY = 1
        _client = None

        def load_function(path): ...

        def init():
            global late
            late = 1
        """,
    "vime/utils/types.py": "class Sample: ...\n",
    "vime/ray/actor.py": "class Actor: ...\n",
    "vime/stars.py": "from vime.utils.misc import *\n",
    "vime/open.py": "def __getattr__(name): ...\n",
    "vime/foreign_stars.py": "from torch import *\n",
}


def imports(found, code: str, path: str = "vime/new.py", **more):
    after = {**CORE, path: code}
    return [(line, rule) for _, line, rule in found("imports", after, CORE, **more)]


@pytest.mark.parametrize(
    "code",
    [
        "import vime\n",
        "import vime.utils.misc\n",
        "import vime.utils.misc as m\nm.load_function('x')\n",
        "from vime.utils import misc, types\nmisc._client\n",
        "from vime.utils.misc import load_function, thing, json_lib, ONLY, late, __name__\n",
        "from vime.utils import load\n",
        "from .utils.misc import load_function\nfrom . import utils\nfrom .ray import actor\n",
        "from vime.stars import load_function\n",
        "from vime.open import anything\n",
        "from vime.foreign_stars import Tensor\n",
        "from vime.utils.misc import *\n",
        "try:\n    from vime.gone import x\nexcept ImportError:\n    x = None\n",
        "try:\n    import vime.gone\nexcept (ModuleNotFoundError, OSError):\n    pass\n",
        "import torch\nfrom transformers import X\nfrom megatron.core import Y\nimport sglang\n",
        "from vllm.engine.arg_utils import AsyncEngineArgs\n",
        "__all__ = ['a']\na = 1\n",
        "import vime.utils.misc as m\ndef f(m):\n    return m.nothing\n",
    ],
)
def test_what_exists_passes(found, code):
    assert imports(found, code) == []


@pytest.mark.parametrize(
    ("code", "line", "rule"),
    [
        ("import vime.gone\n", 1, "imports.no-module"),
        ("from vime.gone import x\n", 1, "imports.no-module"),
        ("\nfrom .gone import x\n", 2, "imports.no-module"),
        ("from ...far import x\n", 1, "imports.no-module"),
        ("from vime.utils.misc import (\n    load_function,\n    gone,\n)\n", 3, "imports.no-name"),
        ("from vime.utils import load_function\n", 1, "imports.no-name"),
        ("from vime.stars import gone\n", 1, "imports.no-name"),
        ("from . import gone\n", 1, "imports.no-name"),
        ("def f():\n    from vime.utils.types import Gone\n", 2, "imports.no-name"),
        ("if True:\n    from vime.utils.types import Gone\n", 2, "imports.no-name"),
        ("import vime.utils.misc as m\nm.gone()\n", 2, "imports.no-attribute"),
        ("from vime.utils import misc\nx = misc.gone\n", 2, "imports.no-attribute"),
        ("from vllm.srt.parser import x\n", 1, "imports.no-engine-module"),
        ("__all__ = ['a', 'gone']\na = 1\n", 1, "imports.all"),
        ("try:\n    from vime.gone import x\nexcept ValueError:\n    pass\n", 2, "imports.no-module"),
        ("try:\n    pass\nexcept ImportError:\n    from vime.gone import x\n", 4, "imports.no-module"),
    ],
)
def test_what_does_not_exist_is_found_at_its_line(found, code, line, rule):
    assert imports(found, code) == [(line, rule)]


def test_a_name_is_followed_through_reexports(found):
    after = {
        "vime/__init__.py": "",
        "vime/a.py": "from vime.b import f\n",
        "vime/b.py": "from .c import f\n",
        "vime/c.py": "def g(): ...\n",
        "vime/d.py": "from vime.a import f\n",
    }
    assert ("vime/d.py", 1, "imports.no-name") in found("imports", after)


def test_circular_reexports_end(found):
    assert found("imports", {"vime/a.py": "from vime.b import f\n", "vime/b.py": "from vime.a import f\n"}) == []


SCRIPTS = {"examples/x/run.py": "from helper import f\n", "examples/x/helper.py": "def f(): ...\n"}


def test_siblings_by_bare_name_are_looked_into(found):
    assert found("imports", SCRIPTS) == []
    broken = {**SCRIPTS, "examples/x/helper.py": "def g(): ...\n"}
    assert found("imports", broken) == [("examples/x/run.py", 1, "imports.no-name")]


def test_a_sibling_that_upstream_has_and_the_fork_lacks_is_found(found):
    alone = {"examples/x/run.py": "from helper import f\nimport numpy\n"}
    assert found("imports", alone) == []
    theirs = {**alone, "examples/x/helper.py": "def f(): ...\n"}
    assert found("imports", alone, upstream_tree=theirs) == [("examples/x/run.py", 1, "imports.no-sibling")]


def test_a_sibling_that_the_port_removed_is_found(found):
    after = {"examples/x/run.py": SCRIPTS["examples/x/run.py"] + "x = 1\n"}
    assert found("imports", after, SCRIPTS) == [("examples/x/run.py", 1, "imports.no-sibling")]


def test_a_test_finds_modules_in_the_folders_above(found):
    after = {"tests/pack/test_a.py": "from pack.shared import f\n", "tests/pack/shared.py": "f = 1\n"}
    assert found("imports", after) == []


def test_a_module_of_ours_never_shadows_the_standard_library(found):
    after = {**CORE, "vime/utils/new.py": "import types\ntypes.SimpleNamespace()\n"}
    assert found("imports", after, CORE) == []


def test_a_missing_import_that_the_fork_had_is_inherited(check):
    code = "from vime.utils.types import Gone\n"
    result = check("imports", {**CORE, "vime/x.py": code + "y = 1\n"}, {**CORE, "vime/x.py": code})
    assert [f.origin for f in result.findings] == ["inherited"]


def test_an_image_of_upstreams_does_not_excuse_a_missing_module(check):
    code = "from vime.gone import x\n"
    result = check("imports", {**CORE, "vime/x.py": code}, CORE, upstream={"vime/x.py": code})
    assert [f.origin for f in result.findings] == ["introduced"]


def test_a_module_that_upstream_itself_lacks_is_inherited(check):
    after = {
        "vime/__init__.py": "",
        "vime/x.py": "from vime.gone import x\n",
        "vime/y.py": "from vime.there import y\n",
    }
    theirs = {**after, "vime/there.py": "y = 1\n"}
    result = check("imports", after, upstream_tree=theirs)
    assert [(f.path, f.origin) for f in result.findings] == [("vime/x.py", "inherited"), ("vime/y.py", "introduced")]
