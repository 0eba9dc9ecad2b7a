"""Upstream's fully-async rollout, translated, beside ours: at the same engine the same groups, in the same order."""

import sys
import types

import pytest
from async_world import leave
from engines import turn
from quickstart_world import INSTALLED, NEEDED, train
from rollout_world import options, serving, tiny_model, write_prompts

from sync_tools.translate import Translator
from vime.rollout.data_source import RolloutDataSourceWithBuffer
from vime.rollout.fully_async_rollout import generate_rollout_fully_async
from vime.rollout.groups import leaves
from vime.utils.async_utils import run

MODULE = "slime/rollout/fully_async_rollout.py"
LATER = "624b824a898ab0ec1fcb4d373004c7f3852bf515"
TOLD = ("group_index", "index", "tokens", "response", "rollout_log_probs", "reward", "status")

pytestmark = pytest.mark.upstream


@pytest.fixture
def source(show):
    return Translator(style="module").file(MODULE, show(f"{LATER}:{MODULE}")).data


def groups_of(generate, tmp_path):
    """The samples of a rollout, group by group."""
    with serving([turn("a1")]) as server:
        args = options(vllm_router_port=server.port, prompt_data=write_prompts(tmp_path / "p.jsonl", 40))
        data = RolloutDataSourceWithBuffer(args)
        output = generate(args, 0, data)
        run(leave(data))
    groups = getattr(output, "samples", output)
    return [[{name: getattr(one, name) for name in TOLD} for one in leaves(group)] for group in groups]


def test_the_same_groups_come_out(source, tmp_path, monkeypatch):
    tiny_model(monkeypatch)
    module = types.ModuleType("translated_fully_async")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(source, MODULE, "exec"), module.__dict__)
    try:
        theirs = groups_of(module.generate_rollout_fully_async, tmp_path)
    finally:
        module._stop_global_worker()
    ours = groups_of(generate_rollout_fully_async, tmp_path)
    assert ours == theirs and len(ours) == 4 and any(one["reward"] for group in ours for one in group)


@pytest.mark.slow
@pytest.mark.skipif(not INSTALLED, reason=f"needs {', '.join(NEEDED)}")
def test_the_translated_one_runs_in_the_loop(source, tmp_path):
    """It bounds no staleness, so that samples may be of weights many updates old: whether it learns is not asked."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules/translated_fully_async.py").write_bytes(source)
    words = ("--rollout-function-path", "translated_fully_async.generate_rollout_fully_async")
    words += ("--eval-function-path", "vime.rollout.vllm_rollout.generate_rollout")
    made = train(tmp_path / "run", "vime.rollout.vllm_rollout.generate", 6, *words, modules=tmp_path / "modules")
    assert len(made.series["rollout/raw_reward"].values) == 6 and len(made.series["eval/rev3"].values) == 2
    assert made.series["train/train_rollout_logprob_abs_diff"].values[0] <= 1e-5
    rows = [row for file in made.samples for row in file.rows()]
    assert rows and all(len(row["log_probs"]) == row["response_length"] > 0 for row in rows)
