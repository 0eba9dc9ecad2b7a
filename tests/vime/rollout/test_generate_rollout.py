"""Whole rollouts against a server that speaks vLLM's protocol."""

import pytest
from engines import Faults, turn
from rollout_world import options, serving, tiny_model, write_prompts

from vime.rollout.data_source import RolloutDataSourceWithBuffer
from vime.rollout.groups import leaves
from vime.rollout.train_data import convert_samples_to_train_data
from vime.rollout.vllm_rollout import generate_rollout


@pytest.fixture(autouse=True)
def model(monkeypatch):
    tiny_model(monkeypatch)


@pytest.fixture
def world(tmp_path):
    def make(server, **more):
        args = options(vllm_router_port=server.port, prompt_data=write_prompts(tmp_path / "p.jsonl"), **more)
        return args, RolloutDataSourceWithBuffer(args)

    return make


def test_a_rollout(world):
    with serving([turn("a0"), turn("no")]) as server:
        args, source = world(server)
        output = generate_rollout(args, 0, source)
        assert [group[0].group_index for group in output.samples] == [0, 1, 2, 3]
        assert [len(group) for group in output.samples] == [2, 2, 2, 2]
        assert sum(sample.reward for sample in leaves(output.samples)) <= 1
        assert output.metrics["rollout/prompts_issued"] == output.metrics["rollout/prompts_trained"] == 4
        batch = convert_samples_to_train_data(args, output.samples)
        assert [len(mask) for mask in batch["loss_masks"]] == batch["response_lengths"]
        assert server.engine.violations == []


def test_what_is_left_over_goes_back(world):
    with serving([turn("x" * 8)], Faults(pace=0.005)) as server:
        args, source = world(server, over_sampling_batch_size=6)
        output = generate_rollout(args, 0, source)
        assert output.metrics["rollout/prompts_buffered"] == source.get_buffer_length() == 2
        assert all(sample.response == "" for sample in leaves(source.buffer))
        again = generate_rollout(args, 1, source)
        trained = [group[0].group_index for group in output.samples + again.samples]
        buffered = [group[0].group_index for group in source.buffer]
        assert sorted(trained + buffered) == list(range(source.sample_group_index))


def refuse(args, groups):
    raise ValueError("a hook of the user's fails")


def test_a_hook_that_fails_at_the_end_costs_no_prompt(world):
    with serving([turn("x" * 8)], Faults(pace=0.005)) as server:
        args, source = world(server, over_sampling_batch_size=6, rollout_sample_filter_path=f"{__name__}.refuse")
        with pytest.raises(ValueError, match="a hook of the user's"):
            generate_rollout(args, 0, source)
        source.check_balance()
        assert source.get_buffer_length() == 6
