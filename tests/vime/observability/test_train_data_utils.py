"""Dumps of training data: whatever the layout was, the samples come in the rollout's order."""

from argparse import Namespace

import pytest

torch = pytest.importorskip("torch")

from vime.observability.train_data_utils import (
    dump_payload,
    restore_context_parallel_fields_to_cpu,
    save_debug_train_data,
)


def share(partition: list[int]) -> dict:
    """The share of a rank: sample n has n + 1 response tokens of the value n."""
    return {
        "response_lengths": [place + 1 for place in partition],
        "total_lengths": [place + 3 for place in partition],
        "log_probs": [torch.full((place + 1,), float(place), requires_grad=True) for place in partition],
        "partition": partition,
        "raw_reward": [0.0, 1.0, 2.0, 3.0],
        "num_microbatches": [1, 1],
        "temperature": 1.0,
    }


def test_samples_of_all_ranks_come_in_the_rollouts_order():
    shards = [
        {"rank": rank, "data_parallel_rank": rank, "rollout_data": share(part)}
        for rank, part in enumerate(([3, 0], [2, 1]))
    ]
    dump = dump_payload(shards, rollout_id=7, writer_rank=0)
    assert [one["rollout_position"] for one in dump["samples"]] == [0, 1, 2, 3]
    assert [one["data_parallel_rank"] for one in dump["samples"]] == [0, 1, 1, 0]
    assert [one["log_probs"].tolist() for one in dump["samples"]] == [[float(n)] * (n + 1) for n in range(4)]
    assert dump["raw_reward"] == [0.0, 1.0, 2.0, 3.0] and dump["rollout_id"] == 7
    assert dump["dp_shards"][1]["num_microbatches"] == [1, 1] and dump["dp_shards"][1]["partition"] == [2, 1]
    assert "num_microbatches" not in dump["samples"][0] and dump["dp_shards"][0]["temperature"] == 1.0


def test_a_dump_is_read_back(tmp_path):
    args = Namespace(save_debug_train_data=str(tmp_path / "dumps/train_{rollout_id}_{rank}.pt"))
    path = save_debug_train_data(args, rollout_id=5, rollout_data=share([1, 0]))
    assert path == tmp_path / "dumps/train_5_0.pt"
    dump = torch.load(path, weights_only=True)
    assert [one["rollout_position"] for one in dump["samples"]] == [0, 1]
    assert not dump["samples"][1]["log_probs"].requires_grad
    assert save_debug_train_data(Namespace(save_debug_train_data=None), rollout_id=5, rollout_data={}) is None


def test_parts_of_samples_are_made_whole():
    data = share([1, 0])
    whole = restore_context_parallel_fields_to_cpu(data, lambda part, total, response: part, keep_restored=True)
    assert [one.tolist() for one in whole["log_probs"]] == [[1.0, 1.0], [0.0]] and whole["partition"] == [1, 0]
    seen = []
    assert (
        restore_context_parallel_fields_to_cpu(data, lambda part, *_: seen.append(1) or part, keep_restored=False)
        is None
    )
    assert len(seen) == 2
    with pytest.raises(ValueError, match="log_probs: sample 0 has 1 values for a response of 2"):
        restore_context_parallel_fields_to_cpu(data, lambda part, *_: part[:1], keep_restored=True)
    with pytest.raises(ValueError, match="it needs a tensor for each of the 2 samples"):
        restore_context_parallel_fields_to_cpu(data | {"kl": [1]}, lambda part, *_: part, keep_restored=True)
