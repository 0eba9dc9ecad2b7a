"""The miniature's rollout code does in SGLang's world what the hand-written fork's does in vLLM's."""

import asyncio
from copy import deepcopy
from dataclasses import asdict

import pytest
from demo_doubles import Engine, Turn, arguments, world

WORLDS = {"sglang": "slime", "vllm": "vime"}
CODE = '<tool_call>{"name": "code_interpreter", "arguments": {"code": "print(6 * 7)"}}</tool_call>'
PARAMS = {"max_new_tokens": 64, "temperature": 0.8, "top_k": -1, "stop": None, "no_stop_trim": True}
RESUMED = {
    "tokens": [104, 105, 33],
    "response": "!",
    "response_length": 1,
    "rollout_log_probs": [-0.25],
    "loss_mask": [0],
}


def generate(tree, protocol, script, module, function="generate", args=None, folders=(), start=None, params=PARAMS):
    """The sample that one call gives, and the engine that it spoke to."""
    engine = Engine(protocol, script)
    args = args or arguments()
    with world(tree, WORLDS[protocol], engine, *folders) as load:
        sample = load(f"{WORLDS[protocol]}.utils.types").Sample(prompt="hi", label="42")
        for key, value in deepcopy(start or {}).items():
            setattr(sample, key, value)
        result = asyncio.run(getattr(load(module), function)(args, sample, dict(params)))
    seen = asdict(result) | {"status": result.status.value}
    seen["metadata"] = {k: v for k, v in seen["metadata"].items() if k != "trace"}
    return seen, engine


@pytest.mark.parametrize("kind", ["rollout", "streaming_rollout"])
@pytest.mark.parametrize(
    "turn", [Turn("fine"), Turn("größer 漢", "length", 4), Turn("cut", "abort"), Turn("", "abort")]
)
@pytest.mark.parametrize("resumed", [False, True])
def test_upstream_and_fork_give_the_same_sample(upstream, fork, kind, turn, resumed):
    if kind == "streaming_rollout" and not turn.text:
        pytest.skip("an answer without a token is no stream")
    function = "generate_streaming" if "streaming" in kind else "generate"
    start = RESUMED if resumed else {}
    theirs, _ = generate(upstream, "sglang", [turn], f"slime.rollout.sglang_{kind}", function, start=start)
    ours, _ = generate(fork, "vllm", [turn], f"vime.rollout.vllm_{kind}", function, start=start)
    assert ours == theirs
    assert theirs["response"] == start.get("response", "") + turn.text
    assert len(theirs["rollout_log_probs"]) == theirs["response_length"] == len(turn.tokens) + resumed


def test_what_the_fork_sends_is_what_upstream_asks_for(upstream, fork):
    params = {**PARAMS, "max_new_tokens": 9, "sampling_seed": 5, "stop": ["."], "spaces_between_special_tokens": False}
    session = {"session_id": "s1"}
    _, sglang = generate(
        upstream, "sglang", [Turn("x")], "slime.rollout.sglang_rollout", start=session, params=params,
        args=arguments(router_policy="consistent_hashing"),
    )  # fmt: skip
    _, vllm = generate(
        fork, "vllm", [Turn("x")], "vime.rollout.vllm_rollout", start=session, params=params,
        args=arguments(router_policy="consistent_hash"),
    )  # fmt: skip
    theirs, ours = sglang.requests[0], vllm.requests[0]
    assert ours["token_ids"] == theirs["input_ids"]
    assert theirs["return_logprob"] and ours["sampling_params"].pop("logprobs") == 1
    assert ours["sampling_params"] == {
        "max_tokens": 9, "seed": 5, "stop": ["."], "temperature": 0.8, "include_stop_str_in_output": True,
        "spaces_between_special_tokens": False,
    }  # fmt: skip
    assert sglang.headers == [{"X-SMG-Routing-Key": "s1"}] and vllm.headers == [{"x-session-id": "s1"}]


def test_the_fork_takes_a_broken_stream_up_again_and_no_longer_than_the_budget(fork):
    script = [Turn("abcdef", drop_after=4), Turn("ef")]
    params = {**PARAMS, "max_new_tokens": 6}
    sample, engine = generate(
        fork, "vllm", script, "vime.rollout.vllm_streaming_rollout", "generate_streaming", params=params
    )
    assert sample["response"] == "abcdef" and sample["status"] == "completed"
    assert [r["sampling_params"]["max_tokens"] for r in engine.requests] == [6, 2]
    assert engine.requests[1]["token_ids"] == list(b"hiabcd")


def test_retool_runs_the_code_and_masks_what_it_printed(upstream):
    script = [Turn(CODE), Turn("\\boxed{42}")]
    sample, engine = generate(upstream, "sglang", script, "generate_with_retool", folders=["examples/retool"])
    assert "<interpreter>\n42\n" in sample["response"] and sample["status"] == "completed"
    assert sum(sample["loss_mask"]) == len(CODE) + len("\\boxed{42}")
    assert len(sample["rollout_log_probs"]) == len(sample["loss_mask"]) == sample["response_length"]
    assert len(engine.requests) == 2 and sample["metadata"] == {"tool_calls": 1}


def test_1861_keeps_a_retried_retool_sample_within_the_limit_and_in_step(upstream):
    stale = {"rollout_log_probs": [-9.0] * 3, "response": "old", "response_length": 3, "status": None}
    prompt = 500  # longer than the prompt with the tools, so that there is room for one call and little more
    sample, engine = generate(
        upstream, "sglang", [Turn(CODE), Turn("never asked for")], "generate_with_retool", folders=["examples/retool"],
        start=stale, args=arguments(rollout_max_context_len=prompt + len(CODE)),
    )  # fmt: skip
    assert len(sample["tokens"]) <= prompt + len(CODE)
    assert len(sample["rollout_log_probs"]) == sample["response_length"] == len(sample["loss_mask"])
    assert "old" not in sample["response"]
    assert engine.requests[0]["sampling_params"]["max_new_tokens"] <= prompt + len(CODE) - len(
        engine.requests[0]["input_ids"]
    )


def test_a_group_is_generated_and_rewarded_in_both_worlds(upstream, fork):
    rewards = []
    for protocol, tree, module in (
        ("sglang", upstream, "slime.rollout.sglang_rollout"),
        ("vllm", fork, "vime.rollout.vllm_rollout"),
    ):
        with world(tree, WORLDS[protocol], Engine(protocol, [Turn("\\boxed{42}"), Turn("no idea")])) as load:
            sample = load(f"{WORLDS[protocol]}.utils.types").Sample
            group = [sample(prompt="6 * 7", label="42") for _ in range(2)]
            group = asyncio.run(load(module).generate_and_rm_group(arguments(), group, dict(PARAMS)))
            rewards.append(sorted(one.reward for one in group))
    assert rewards == [[0.0, 1.0]] * 2


@pytest.mark.parametrize(
    ("protocol", "module", "folders"),
    [("sglang", "slime.rollout.fully_async_rollout", []), ("vllm", "fully_async_rollout", ["examples/fully_async"])],
)
def test_the_fully_async_rollout_gives_whole_batches_and_loses_no_group(upstream, fork, protocol, module, folders):
    tree = upstream if protocol == "sglang" else fork
    args = arguments(prompt_data=None, rollout_global_dataset=True, rollout_num_gpus=1)
    engine = Engine(protocol, [Turn("cut", "abort"), Turn("\\boxed{42}")])
    with world(tree, WORLDS[protocol], engine, *folders) as load:
        sample = load(f"{WORLDS[protocol]}.utils.types").Sample
        source = Source(sample)
        loaded = load(module)
        try:
            batches = [loaded.generate_rollout_fully_async(args, n, source) for n in range(2)]
        finally:
            getattr(loaded, "stop_worker", getattr(loaded, "_stop_workers", None))()
    indices = [group[0].index for batch in batches for group in batch]
    assert [len(batch) for batch in batches] == [2, 2]
    assert len(set(indices)) == 4
    assert all(one.status.value == "completed" for batch in batches for group in batch for one in group)
    assert source.returned, "the aborted group went back"


class Source:
    """Groups without end; what comes back is handed out first."""

    def __init__(self, sample):
        self.sample, self.made, self.returned, self.buffer = sample, 0, 0, []

    def get_samples(self, count):
        groups = []
        for _ in range(max(count, 0)):
            groups.append(self.buffer.pop() if self.buffer else self._group())
        return groups

    def add_samples(self, groups):
        self.returned += len(groups)
        self.buffer += groups

    def _group(self):
        self.made += 1
        return [self.sample(prompt="q", label="42", index=self.made) for _ in range(2)]
