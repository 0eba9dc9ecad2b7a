"""One request, one sample, one group, against a server that speaks vLLM's protocol."""

import argparse
import asyncio
import threading

import pytest
from doubles import ByteTokenizer
from engines import Faults, VllmServer, turn

from vime.rollout import vllm_rollout
from vime.rollout.prompt_ids import prompt_encoder
from vime.rollout.vllm_rollout import (
    GenerateState,
    _prepare_prompt_ids,
    abort,
    generate,
    generate_and_rm,
    generate_and_rm_group,
    get_model_url,
)
from vime.utils.types import Sample

PARAMS = {"max_new_tokens": 16, "temperature": 1.0, "no_stop_trim": True}


@pytest.fixture(autouse=True)
def tiny_model(monkeypatch):
    monkeypatch.setattr(vllm_rollout, "load_tokenizer", lambda *_, **__: ByteTokenizer())
    monkeypatch.setattr(vllm_rollout, "load_processor", lambda *_, **__: None)
    GenerateState.clear_instances()


async def reward(args, sample, **_):
    return [1.0] * len(sample) if isinstance(sample, list) else float(len(sample.response))


async def fan_out(args, sample, sampling_params, evaluation=False):
    return [
        Sample(response=word, status=Sample.Status.COMPLETED, reward=given)
        for word, given in (("a", 9.0), ("bb", None))
    ]


def options(port=1, **more):
    values = {
        "hf_checkpoint": "tiny", "vllm_router_ip": "127.0.0.1", "vllm_router_port": port, "vllm_server_concurrency": 4,
        "rollout_num_gpus": 1, "rollout_num_gpus_per_engine": 1, "rollout_temperature": 1.0, "rollout_top_p": 1.0, "rollout_top_k": -1,
        "rollout_max_response_len": 16, "rollout_stop": None, "rollout_stop_token_ids": None, "rollout_skip_special_tokens": True,
        "rollout_seed": 5, "n_samples_per_prompt": 2, "use_rollout_routing_replay": False, "partial_rollout": False,
        "mask_offpolicy_in_partial_rollout": False, "group_rm": False, "custom_generate_function_path": None,
        "custom_rm_path": f"{__name__}.reward", "vllm_speculative_config": None, "router_policy": None,
    }  # fmt: skip
    return argparse.Namespace(**{**values, **more})


def on_server(script, work, faults=None, **more):
    async def go():
        async with VllmServer(script, faults) as server:
            result = await work(options(server.port, **more))
            assert server.engine.violations == []
            return result, server

    return asyncio.run(go())


def test_a_sample_is_generated():
    async def work(args):
        return await generate(args, Sample(prompt="ab"), PARAMS)

    sample, server = on_server([turn("hello", cached=2, version="7")], work)
    assert (sample.response, sample.tokens) == ("hello", list(b"abhello"))
    assert sample.rollout_log_probs == pytest.approx([-0.5, -0.51, -0.52, -0.53, -0.54])
    assert (sample.status, sample.weight_versions) == (Sample.Status.COMPLETED, ["7"])
    assert sample.prefix_cache_info.cached_tokens == 2
    assert server.engine.calls[0]["max_tokens"] == 16
    assert PARAMS["max_new_tokens"] == 16


def test_an_aborted_sample_goes_on_with_what_is_left():
    async def work(args):
        sample = Sample(prompt="ab")
        await generate(args, sample, PARAMS)
        assert sample.status is Sample.Status.ABORTED
        return await generate(args, sample, PARAMS)

    sample, server = on_server([turn("hel", "abort"), turn("lo", "length")], work)
    assert (sample.response, sample.response_length, sample.status) == ("hello", 5, Sample.Status.TRUNCATED)
    assert [call["max_tokens"] for call in server.engine.calls] == [16, 13]
    assert server.engine.calls[1]["prompt"] == list(b"abhel")
    assert len(sample.loss_mask) == len(sample.rollout_log_probs) == 5


def test_nothing_is_asked_for_when_nothing_is_left():
    async def work(args):
        sample = Sample(tokens=[1, 2, 3], response="x", response_length=2, rollout_log_probs=[0.0, 0.0])
        return await generate(args, sample, {"max_new_tokens": 2})

    sample, server = on_server([turn("x")], work)
    assert (sample.status, server.requests) == (Sample.Status.TRUNCATED, [])


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        (Sample(status=Sample.Status.COMPLETED), "completed"),
        (Sample(tokens=[1] * 20, response_length=19), "3 response tokens more"),
        (Sample(prompt="ab", multimodal_inputs={"images": ["picture"]}), "images"),
    ],
)
def test_what_cannot_be_generated_is_refused(sample, message):
    async def work(args):
        with pytest.raises(ValueError, match=message):
            await generate(args, sample, PARAMS)

    _, server = on_server([turn("x")], work)
    assert server.requests == []


def test_logprobs_that_did_not_come_are_not_made_up():
    async def work(args):
        with pytest.raises(ValueError, match="log_probs"):
            await generate(args, Sample(prompt="a"), PARAMS)

    on_server([turn("abc", no_logprobs=True)], work)


@pytest.mark.parametrize(("policy", "session"), [("consistent_hash", "s-1"), (None, None)])
def test_a_session_keeps_to_one_engine(policy, session):
    async def work(args):
        return await generate(args, Sample(prompt="a", session_id="s-1"), PARAMS)

    _, server = on_server([turn("x")], work, router_policy=policy)
    assert server.engine.calls[0]["session"] == session


def test_a_group_is_generated_at_once_and_rewarded():
    async def work(args):
        return await generate_and_rm_group(args, [Sample(prompt="a"), Sample(prompt="b")], PARAMS)

    group, server = on_server([turn("one"), turn("three")], work)
    assert sorted(sample.reward for sample in group) == [3.0, 5.0]
    assert len({sample.session_id for sample in group}) == 2
    assert [call["seed"] for call in server.engine.calls] == [None, None]


def seeds_of(groups, **more):
    async def work(args):
        for group in groups:
            await generate_and_rm_group(args, group, PARAMS)

    _, server = on_server([turn("x")], work, vllm_enable_deterministic_inference=True, **more)
    return [call["seed"] for call in server.engine.calls]


def test_every_sample_of_a_deterministic_run_has_a_seed_of_its_own_and_has_it_again():
    def groups():
        return [[Sample(prompt="a", index=place + one) for one in (0, 1)] for place in (0, 2)]

    seeds = seeds_of(groups())
    assert len(set(seeds)) == 4 and all(0 <= seed < 2**63 for seed in seeds)
    assert sorted(seeds_of(groups())) == sorted(seeds)
    assert set(seeds).isdisjoint(seeds_of(groups(), rollout_seed=6))


def test_what_goes_on_does_not_draw_its_random_numbers_again():
    (first,) = seeds_of([[Sample(prompt="a", index=0)]])
    begun = Sample(prompt="a", index=0, tokens=[97, 98], response="b", response_length=1, rollout_log_probs=[-1.0])
    begun.status = Sample.Status.ABORTED
    assert seeds_of([[begun]]) != [first]


def test_samples_without_an_index_are_told_apart_by_prompt_and_place():
    assert len(set(seeds_of([[Sample(prompt=prompt) for _ in range(2)] for prompt in "ab"]))) == 4


def test_a_groups_own_reward():
    async def work(args):
        return await generate_and_rm_group(args, [Sample(prompt="a"), Sample(prompt="b")], PARAMS)

    group, _ = on_server([turn("x")], work, group_rm=True)
    assert [sample.reward for sample in group] == [1.0, 1.0]


def test_a_generate_function_may_fan_out():
    async def work(args):
        return await generate_and_rm_group(args, [Sample(prompt="a")], PARAMS)

    group, _ = on_server([turn("x")], work, custom_generate_function_path=f"{__name__}.fan_out")
    assert [[sample.reward for sample in samples] for samples in group] == [[9.0, 1.0]]


def test_a_complete_sample_comes_back_as_it_is():
    async def work(args):
        done = Sample(status=Sample.Status.COMPLETED, reward=0.5)
        assert await generate_and_rm(args, done, PARAMS) is done
        with pytest.raises(ValueError, match="no reward"):
            await generate_and_rm(args, Sample(status=Sample.Status.COMPLETED), PARAMS)

    on_server([turn("x")], work)


def test_an_aborted_sample_gets_no_reward():
    async def work(args):
        return await generate_and_rm(args, Sample(prompt="a"), PARAMS)

    sample, _ = on_server([turn("x", "abort")], work)
    assert (sample.status, sample.reward) == (Sample.Status.ABORTED, None)


def test_what_an_earlier_policy_generated_is_masked():
    async def work(args):
        sample = Sample(
            tokens=[97, 98], response="b", response_length=1, rollout_log_probs=[-0.1], status=Sample.Status.ABORTED
        )
        return await generate_and_rm(args, sample, PARAMS)

    sample, _ = on_server([turn("cd")], work, partial_rollout=True, mask_offpolicy_in_partial_rollout=True)
    assert sample.loss_mask == [0, 1, 1]


def test_what_is_finished_comes_back_with_its_own_mask():
    async def work(args):
        sample = Sample(
            tokens=[97, 98, 99], response="bc", response_length=2, rollout_log_probs=[-0.1, 0.0], loss_mask=[1, 0],
            status=Sample.Status.COMPLETED, reward=1.0,
        )  # fmt: skip
        return await generate_and_rm(args, sample, PARAMS)

    sample, _ = on_server([], work, partial_rollout=True, mask_offpolicy_in_partial_rollout=True)
    assert sample.loss_mask == [1, 0]


def test_what_the_engine_cut_off_for_repeating_itself_is_truncated():
    sample = Sample(tokens=[1])
    meta = {"finish_reason": {"type": "repetition"}}
    sample.append_response_tokens(tokens=[2], log_probs=[-0.1], meta_info=meta)
    assert sample.status is Sample.Status.TRUNCATED


@pytest.mark.parametrize("partial", [True, False])
def test_abort_brings_everything_back(partial):
    async def work(args):
        state = GenerateState(args)
        state.submit_generate_tasks([[Sample(prompt="a")], [Sample(prompt="b"), Sample(prompt="c")]])
        await asyncio.sleep(0.15)
        groups = await abort(args, rollout_id=4)
        assert state.pendings == set() and state.aborted
        assert await generate_and_rm(args, late := Sample(prompt="d"), PARAMS) is late
        assert late.status is Sample.Status.ABORTED
        return groups

    groups, server = on_server([turn("x" * 400)], work, Faults(pace=0.02), partial_rollout=partial)
    assert server.engine.control == ["/abort_requests"] * len(server.engine.control) != []
    samples = [sample for group in groups for sample in group]
    assert len(samples) == (3 if partial else 0)
    for sample in samples:
        assert 0 < sample.response_length < 400
        assert sample.metadata["start_rollout_id"] == 4


def test_a_failure_comes_out_of_abort_after_the_others_are_back():
    async def work(args):
        state = GenerateState(args)
        state.submit_generate_tasks([[Sample(status=Sample.Status.COMPLETED)], [Sample(prompt="b")]])
        await asyncio.sleep(0.05)
        with pytest.raises(ValueError, match="no reward"):
            await abort(args, rollout_id=0)
        assert not state.pendings

    on_server([turn("x" * 200)], work, Faults(pace=0.02))


def test_the_state_belongs_to_the_loop_and_the_options():
    args, other = options(), options()

    async def states():
        return GenerateState(args), GenerateState(args), GenerateState(other)

    one, same, different = asyncio.run(states())
    again, *_ = asyncio.run(states())
    assert one is same and one is not different and one is not again
    assert GenerateState(args) is GenerateState(args) is not one
    assert sorted(one.sampling_params)[:3] == ["max_new_tokens", "no_stop_trim", "skip_special_tokens"]


def test_two_loops_at_once_do_not_share_a_semaphore():
    args = options(vllm_server_concurrency=1)
    failures = []

    async def crowd():
        async def one():
            async with GenerateState(args).semaphore:
                await asyncio.sleep(0.005)

        await asyncio.gather(*(one() for _ in range(5)))

    def run():
        try:
            asyncio.run(crowd())
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert failures == []


def test_data_parallel_ranks_are_balanced():
    state = GenerateState(options(vllm_dp_size=3))
    with state.dp_rank_context() as a, state.dp_rank_context() as b, state.dp_rank_context() as c:
        assert sorted([a, b, c]) == [0, 1, 2] and state.dp_counts == [1, 1, 1]
    assert state.dp_counts == [0, 0, 0]


def test_urls_of_models():
    args = options(port=3, vllm_model_routers={"ref": ("10.0.0.1", 99)})
    assert get_model_url(args, "ref") == "http://10.0.0.1:99/inference/v1/generate"
    assert get_model_url(args, "other", "/health") == "http://127.0.0.1:3/health"


class Processor:
    def __call__(self, text, images, text_kwargs, **_):
        return {"input_ids": [[1, 2, len(images)]], "attention_mask": [[1, 1, 1]], "pixel_values": images}


def test_prompt_ids():
    tokenizer, images = ByteTokenizer(), {"images": ["i"], "videos": None}
    assert _prepare_prompt_ids(Sample(prompt="ab"), tokenizer, None) == [97, 98]
    assert _prepare_prompt_ids(Sample(prompt="ab", tokens=[5]), tokenizer, None) == [5]
    sample = Sample(prompt="ab", tokens=[5], multimodal_inputs=images)
    assert _prepare_prompt_ids(sample, tokenizer, Processor()) == [1, 2, 1]
    assert sample.multimodal_train_inputs == {"pixel_values": ["i"]}
    assert _prepare_prompt_ids(sample, tokenizer, Processor()) == [5]
    assert _prepare_prompt_ids(Sample(prompt="ab", multimodal_inputs={"images": None}), tokenizer, Processor()) == [
        97,
        98,
    ]


def test_a_groups_prompt_is_encoded_once_and_each_sample_has_a_list_of_its_own():
    asked = []

    class Counting(ByteTokenizer):
        def encode(self, text, **kwargs):
            asked.append(text)
            return super().encode(text, **kwargs)

    encode = prompt_encoder(Counting())
    first, second, other = (
        _prepare_prompt_ids(Sample(prompt=prompt), Counting(), None, encode) for prompt in ("ab", "ab", "c")
    )
    first.append(7)
    assert (second, other, asked) == ([97, 98], [99], ["ab", "c"])


@pytest.mark.parametrize(("top_p", "asked"), [(1.0, None), (0.9, {"return_top_p_token_ids": True})])
def test_a_nucleus_is_asked_for_where_there_is_one(top_p, asked):
    assert GenerateState(options(rollout_top_p=top_p)).sampling_params.get("custom_params") == asked
