"""The streaming rollout in the real loop: a vLLM server, Megatron-core, Ray, with aborts in every rollout."""

import pytest
from quickstart_world import INSTALLED, NEEDED, check, train

GENERATE = "vime.rollout.vllm_streaming_rollout.generate_streaming"
ROLLOUTS = 15

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not INSTALLED, reason=f"needs {', '.join(NEEDED)}"),
]


def test_it_trains_the_quick_start_with_more_prompts_than_needed_and_partial_samples(tmp_path):
    more = ("--partial-rollout", "--over-sampling-batch-size", "24")
    run = train(tmp_path / "run", GENERATE, ROLLOUTS, *more)
    check(run, ROLLOUTS, current=1)
    assert max(run.series["rollout/prompts_buffered"].values) > 0
    assert max(run.series["rollout/prompts_dropped"].values) == 0
