"""What a function of the user's must do beyond having the right parameters. To check one of your own:

VIME_CONTRACT_CUSTOM_RM_PATH=my_package.rewards.judge pytest tests/vime/plugin_contracts
"""

import asyncio
import os

import pytest
from contract_world import PREFIX, contract_path
from engines import turn
from rollout_world import options, serving, tiny_model, write_prompts

from vime.rollout.base_types import RolloutFnEvalOutput, RolloutFnTrainOutput, call_rollout_fn
from vime.rollout.data_source import DataSource
from vime.rollout.filter_hub.base_types import DynamicFilterOutput, call_dynamic_filter
from vime.rollout.groups import leaves
from vime.rollout.hooks import HOOKS, load_hook
from vime.rollout.rewarding import RewardRunner, check_reward
from vime.rollout.sample_checks import check_sample
from vime.rollout.sample_hooks import apply_rollout_sample_hooks
from vime.rollout.train_data import convert_samples_to_train_data
from vime.rollout.vllm_rollout import generate_and_rm
from vime.utils.types import Sample

HERE = __name__


async def judge(args, sample, **kwargs):
    return [0.5] * len(sample) if isinstance(sample, list) else 0.5


async def generate(args, sample, sampling_params):
    sample.tokens = [1]
    sample.append_response_tokens(tokens=[2, 3], log_probs=[-0.1, -0.2], text="ab")
    sample.status = Sample.Status.COMPLETED
    return sample


def nothing(args, sample):
    return None


def keep(args, samples, **kwargs):
    return DynamicFilterOutput(keep=True)


def mark(args, groups):
    groups[0][0].remove_sample = True


def look(args, all_groups, data_source):
    return None


def halve(args, samples):
    return [sample.reward for sample in samples], [sample.reward / 2 for sample in samples]


def columns(args, samples):
    return {"tokens": [sample.tokens for sample in samples]}


@pytest.fixture(autouse=True)
def model(monkeypatch):
    tiny_model(monkeypatch)


def done(index=0, group=0, reward=1.0):
    sample = Sample(index=index, group_index=group, prompt="p", label="a", reward=reward, tokens=[1])
    sample.append_response_tokens(tokens=[2, 3], log_probs=[-0.1, -0.2], text="ab")
    sample.status = Sample.Status.COMPLETED
    return sample


def test_every_function_that_the_environment_names_fits():
    named = {
        hook.kind: os.environ[PREFIX + hook.kind.upper()] for hook in HOOKS if PREFIX + hook.kind.upper() in os.environ
    }
    for kind, path in named.items():
        load_hook(kind, path)


def test_rollout_function(tmp_path):
    path = contract_path("rollout_function_path", "vime.rollout.vllm_rollout.generate_rollout")
    function = load_hook("rollout_function_path", path)
    with serving([turn("ok")]) as server:
        data = write_prompts(tmp_path / "p.jsonl")
        args = options(vllm_router_port=server.port, prompt_data=data, eval_prompt_data=("held", data))
        source = load_hook("data_source_path", contract_path("data_source_path", "vime.rollout.data_source.RolloutDataSourceWithBuffer"))(args)  # fmt: skip
        output = call_rollout_fn(function, args, 0, source, evaluation=False)
        assert isinstance(output, RolloutFnTrainOutput) and len(output.samples) == args.rollout_batch_size
        convert_samples_to_train_data(args, output.samples)
        output = call_rollout_fn(function, args, 0, source, evaluation=True)
        assert isinstance(output, RolloutFnEvalOutput)
        for found in output.data.values():
            assert len(found["rewards"]) == len(found["samples"]) == len(found["truncated"])


def test_data_source(tmp_path):
    path = contract_path("data_source_path", "vime.rollout.data_source.RolloutDataSourceWithBuffer")
    args = options(prompt_data=write_prompts(tmp_path / "p.jsonl"), save=str(tmp_path), load=str(tmp_path))
    source = load_hook("data_source_path", path)(args)
    assert isinstance(source, DataSource)
    groups = source.get_samples(3)
    assert [len(group) for group in groups] == [args.n_samples_per_prompt] * 3
    assert len({sample.index for sample in leaves(groups)}) == len(leaves(groups))
    source.add_samples(groups[:1])
    source.save(0)
    again = load_hook("data_source_path", path)(args)
    again.load(0)
    assert [s.prompt for s in leaves(again.get_samples(2))] == [s.prompt for s in leaves(source.get_samples(2))]


def test_generate_function():
    path = contract_path("custom_generate_function_path", f"{HERE}.generate")
    load_hook("custom_generate_function_path", path)
    with serving([turn("ok")]) as server:
        args = options(vllm_router_port=server.port, custom_generate_function_path=path)
        made = asyncio.run(
            generate_and_rm(args, Sample(prompt="p", label="a", index=0, group_index=0), {"max_new_tokens": 8})
        )
    for sample in leaves([made]):
        assert sample.status in (Sample.Status.COMPLETED, Sample.Status.TRUNCATED, Sample.Status.FAILED)
        check_sample(args, sample)


def test_reward_function():
    args = options(custom_rm_path=contract_path("custom_rm_path", f"{HERE}.judge"))
    one, group = done(reward=None), [done(i, reward=None) for i in range(3)]
    group_rm = os.environ.get(PREFIX + "GROUP_RM", "both")

    async def go():
        if group_rm in ("0", "both"):
            await RewardRunner(args).reward_one(args, one)
            check_reward(one, one.reward, args.reward_key)
        if group_rm in ("1", "both"):
            await RewardRunner(args).reward_group(args, group)
            assert all(sample.reward is not None for sample in group)

    asyncio.run(go())


def test_dynamic_filter():
    path = contract_path("dynamic_sampling_filter_path", f"{HERE}.keep")
    function = load_hook("dynamic_sampling_filter_path", path)
    assert isinstance(call_dynamic_filter(function, options(), [done(0), done(1, reward=0.0)]).keep, bool)


def test_buffer_filter():
    path = contract_path("buffer_filter_path", "vime.rollout.data_source.pop_first")
    buffer = [[done(0)], [done(1)], [done(2)]]
    taken = load_hook("buffer_filter_path", path)(options(), None, buffer, 2)
    assert len(taken) <= 2 and not {id(group) for group in taken} & {id(group) for group in buffer}


def test_sample_hook():
    args = options(rollout_sample_hook_path=(contract_path("rollout_sample_hook_path", f"{HERE}.nothing"),))
    assert isinstance(asyncio.run(apply_rollout_sample_hooks(args, done(), rollout_id=0, evaluation=False)), Sample)


def test_whole_rollout_hooks():
    groups = [[done(0), done(1)], [done(2, 1), done(3, 1)]]
    filter_ = load_hook("rollout_sample_filter_path", contract_path("rollout_sample_filter_path", f"{HERE}.mark"))
    assert filter_(options(), groups) is None and [len(group) for group in groups] == [2, 2]
    path = contract_path("rollout_all_samples_process_path", f"{HERE}.look")
    load_hook("rollout_all_samples_process_path", path)(options(), groups, None)


def test_reward_post_process_and_conversion():
    samples = [done(0), done(1, reward=0.0)]
    path = contract_path("custom_reward_post_process_path", f"{HERE}.halve")
    batch = convert_samples_to_train_data(options(custom_reward_post_process_path=path), samples)
    assert len(batch["rewards"]) == len(batch["raw_reward"]) == 2
    path = contract_path("custom_convert_samples_to_train_data_path", f"{HERE}.columns")
    batch = convert_samples_to_train_data(options(custom_convert_samples_to_train_data_path=path), samples)
    assert {len(column) for column in batch.values()} == {2}
