"""Shapes of call sites, run in both worlds by the harness of tests/callsites, in the styles with a seam and without."""

import importlib.util
import logging
from functools import cache
from pathlib import Path

import pytest

from sync_tools.translate import Translator

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
HARNESS = HERE.parent / "harness.py"


@cache
def _harness():
    spec = importlib.util.spec_from_file_location("shapes_harness", HARNESS)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def _translator(style):
    return Translator(style=style)


def _cases():
    spec = importlib.util.spec_from_file_location("shapes_scenarios", HERE / "scenarios.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CASES


CASES = _cases()


@pytest.fixture(autouse=True)
def quiet():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def problems(name, out, words=True):
    harness, case = _harness(), CASES[name]
    source = (HERE / case["file"]).read_bytes()
    found = []
    if words:
        found += [f"left: {word}" for word in case.get("must_not", ()) if word in out]
        found += [f"missing: {word}" for word in case.get("must", ()) if word not in out]
    for number, scenario in enumerate(case["scenarios"]):
        merged = {**case, **scenario}
        upstream = harness.run(source, "slime", "sglang", merged)
        ported = harness.run(out, "vime", "vllm", merged, ROOT)
        found += [f"scenario {number}: {problem}" for problem in harness.compare(upstream, ported, merged)]
    return found


@pytest.mark.parametrize("name", CASES)
def test_with_the_seam_every_shape_works(name):
    done = _translator("module").file(f"examples/{name}.py", (HERE / CASES[name]["file"]).read_bytes())
    assert not problems(name, done.data.decode()), done.data.decode()


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "in_place_differs" not in case])
def test_in_place_every_shape_works_or_is_listed(name):
    done = _translator("inline").file(f"examples/{name}.py", (HERE / CASES[name]["file"]).read_bytes())
    assert "utils.seam" not in done.data.decode()
    assert done.unresolved or not problems(name, done.data.decode(), words=False), done.data.decode()
