"""Each case does on a vLLM engine, translated, what it did on SGLang's (harness.py compares)."""

import logging
from pathlib import Path

import harness
import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CASES = harness.load_cases(HERE / "cases")


@pytest.fixture(autouse=True)
def quiet():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def source(name):
    return (HERE / "cases" / CASES[name]["file"]).read_bytes()


def scenarios(name):
    """The scenarios that the case runs under; none for one of which only the text counts."""
    if CASES[name].get("text_only"):
        return []
    return [{**CASES[name], **scenario} for scenario in CASES[name]["scenarios"]]


def test_every_file_is_a_case():
    assert {path.name for path in (HERE / "cases").glob("*.py")} == {"scenarios.py"} | {
        case["file"] for case in CASES.values()
    }


@pytest.mark.parametrize("name", CASES)
def test_the_case_runs_on_sglang(name):
    for scenario in scenarios(name):
        result = harness.run(source(name), "slime", "sglang", scenario)
        assert result["outcome"] == scenario.get("raises", "returned")


@pytest.mark.parametrize("name", CASES)
def test_the_translated_case_runs_on_vllm(name, translate):
    translation = translate(f"examples/{name}.py", source(name))
    out = translation.data.decode()
    if CASES[name].get("unresolved"):
        assert translation.unresolved
    if CASES[name].get("may_list") and translation.unresolved:
        return
    problems = [f"left: {word}" for word in CASES[name]["must_not"] if word in out]
    problems += [f"missing: {word}" for word in CASES[name].get("must", ()) if word not in out]
    for number, scenario in enumerate(scenarios(name)):
        upstream = harness.run(source(name), "slime", "sglang", scenario)
        ported = harness.run(out, "vime", "vllm", scenario, ROOT)
        problems += [f"scenario {number}: {problem}" for problem in harness.compare(upstream, ported, scenario)]
    assert not problems, "\n".join([*problems, *map(str, translation.unresolved), out])
    assert translate(f"examples/{name}.py", translation.data).data == translation.data
