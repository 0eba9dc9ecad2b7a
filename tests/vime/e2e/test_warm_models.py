"""The quick start's warm models, tied and untied, which whole runs begin with."""

import json
from pathlib import Path

import pytest
from whole_run import prepare

for name in ("torch", "transformers"):
    pytest.importorskip(name)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("fixture", "words"), [("prepared", ()), ("tied", ("--tied",))])
def test_it_prefers_a_wrong_answer_and_knows_the_right_one(
    request: pytest.FixtureRequest, fixture: str, words: tuple[str, ...]
) -> None:
    out: Path = request.getfixturevalue(fixture)
    log = Path(f"{out}.log")
    assert fixture == "prepared" or "step 200/200" in log.read_text("utf-8"), "the other may be a copy"
    told = json.loads((out / "prepared.json").read_text("utf-8"))
    assert told["greedy_accuracy"] <= 0.15 and 0.15 <= told["sampled_accuracy"] <= 0.4
    assert json.loads((out / "warm/config.json").read_text("utf-8"))["tie_word_embeddings"] is bool(words)
    before = (out / "warm/model.safetensors").stat().st_mtime_ns
    prepare(out, *words)
    assert "is ready: greedy accuracy" in log.read_text("utf-8")
    assert (out / "warm/model.safetensors").stat().st_mtime_ns == before
    assert sorted(one.name for one in out.parent.iterdir()) == ["out", "out.log"]
