"""The source of prompts: epochs, numbers that never repeat, the buffer, and exact resume."""

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_world import options, tiny_model, write_prompts

from vime.rollout.accounting import PromptsUnaccountedFor
from vime.rollout.data_source import DataSource, DataSourceError, RolloutDataSource, RolloutDataSourceWithBuffer
from vime.rollout.groups import leaves
from vime.utils.types import Sample


@pytest.fixture(autouse=True)
def model(monkeypatch):
    tiny_model(monkeypatch)


@pytest.fixture
def source(tmp_path):
    def make(kind=RolloutDataSourceWithBuffer, prompts=5, **more):
        path = write_prompts(tmp_path / "p.jsonl", prompts)
        return kind(options(prompt_data=path, save=str(tmp_path), load=str(tmp_path), **more))

    return make


def prompts(groups):
    return [group[0].prompt for group in groups]


def test_epochs_follow_each_other_as_often_as_asked(source):
    groups = source().get_samples(13)
    assert prompts(groups) == [f"p{i % 5}" for i in range(13)]
    samples = leaves(groups)
    assert [sample.index for sample in samples] == list(range(26))
    assert [group[0].group_index for group in groups] == list(range(13))


def test_copies_of_a_prompt_are_their_own(source):
    one, other = source().get_samples(1)[0]
    one.metadata["x"] = 1
    assert "x" not in other.metadata


def test_shuffled_epochs_hold_each_prompt_once(source):
    shuffled = source(rollout_shuffle=True)
    epochs = [prompts(shuffled.get_samples(5)) for _ in range(4)]
    assert all(sorted(epoch) == [f"p{i}" for i in range(5)] for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) > 1


@settings(max_examples=40, deadline=None)
@given(asks=st.lists(st.integers(1, 9), min_size=1, max_size=6), at=st.integers(0, 5), back=st.integers(0, 3))
def test_resume_goes_on_as_if_nothing_had_been(tmp_path_factory, asks, at, back):
    folder = tmp_path_factory.mktemp("run")
    args = options(
        prompt_data=write_prompts(folder / "p.jsonl", 5), rollout_shuffle=True, save=str(folder), load=str(folder)
    )
    with pytest.MonkeyPatch.context() as patch:
        tiny_model(patch)
        straight, stopped = RolloutDataSourceWithBuffer(args), RolloutDataSourceWithBuffer(args)
        for number, ask in enumerate(asks):
            if number == at:
                stopped.save(number)
                stopped = RolloutDataSourceWithBuffer(args)
                stopped.load(number)
            taken = [one.get_samples(ask) for one in (straight, stopped)]
            assert [vars(sample) for sample in leaves(taken[0])] == [vars(sample) for sample in leaves(taken[1])]
            for one, groups in zip((straight, stopped), taken, strict=True):
                one.add_samples(groups[:back])


def test_partial_samples_in_the_buffer_come_back_exactly(source):
    first = source()
    groups = first.get_samples(2)
    sample = groups[0][0]
    sample.append_response_tokens(tokens=[1, 2], log_probs=[-0.1, -1e-30], text="ab")
    sample.status, sample.weight_versions = Sample.Status.ABORTED, ["3"]
    sample.metadata |= {"start_rollout_id": 4, "odd": {1: (2, b"x")}}
    groups[1][1] = [Sample(index=9, reward={"a": 0.5}), Sample(index=9, reward=1.0)]
    first.add_samples(groups)
    first.save(7)
    again = source()
    again.load(7)
    assert [vars(sample) for sample in leaves(again.buffer)] == [vars(sample) for sample in leaves(groups)]
    assert isinstance(again.buffer[1][1], list)
    assert again.get_samples(2)[0][0].prompt == "p0" and again.get_buffer_length() == 0


def test_arrays_in_the_buffer_come_back(source):
    np = pytest.importorskip("numpy")
    first = source()
    groups = first.get_samples(1)
    groups[0][0].rollout_routed_experts = np.arange(6, dtype=np.int32).reshape(1, 2, 3)
    first.add_samples(groups)
    first.save(0)
    again = source()
    again.load(0)
    restored = again.buffer[0][0].rollout_routed_experts
    assert restored.dtype == np.int32 and (restored == groups[0][0].rollout_routed_experts).all()


def test_what_cannot_be_saved_is_named_and_the_old_state_stays(source):
    first = source()
    first.save(0)
    groups = first.get_samples(1)
    groups[0][0].metadata["thing"] = object()
    first.add_samples(groups)
    with pytest.raises(TypeError, match=r"metadata|buffer.*object"):
        first.save(0)
    again = source()
    again.load(0)
    assert again.sample_offset == 0


def test_a_crash_while_saving_leaves_the_old_state(source, monkeypatch, tmp_path):
    first = source()
    first.save(0)
    first.get_samples(3)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataSourceError, match=r"No space left on device.*make room"):
        first.save(0)
    again = source()
    again.load(0)
    assert again.sample_offset == 0
    assert [path.name for path in (tmp_path / "rollout").iterdir()] == ["global_dataset_state_dict_0.json"]


def test_a_missing_or_broken_state_is_an_error(source, tmp_path):
    fresh = source()
    fresh.load(None), fresh.load(-1)
    with pytest.raises(DataSourceError, match="it is not known which prompts were used"):
        fresh.load(3)
    (tmp_path / "rollout").mkdir()
    for text in ("{", "[]", json.dumps({"sample_offset": 1})):
        (tmp_path / "rollout/global_dataset_state_dict_3.json").write_text(text)
        with pytest.raises(DataSourceError, match="no state of a data source"):
            fresh.load(3)
    (tmp_path / "rollout/global_dataset_state_dict_4.json").mkdir()
    with pytest.raises(DataSourceError, match="cannot be read"):
        fresh.load(4)


def take_newest(args, rollout_id, buffer, num_samples):
    assert rollout_id is None
    return [buffer.pop() for _ in range(min(num_samples, len(buffer)))]


def drop_all(args, rollout_id, buffer, num_samples):
    buffer.clear()
    return []


def test_the_buffer_goes_first_as_its_filter_says(source):
    first = source(buffer_filter_path=f"{__name__}.take_newest")
    first.add_samples(first.get_samples(2))
    assert prompts(first.get_samples(3)) == ["p1", "p0", "p2"]


def test_the_balance_counts_what_a_filter_discards_and_finds_what_is_lost(source):
    first = source(buffer_filter_path=f"{__name__}.drop_all")
    first.add_samples(first.get_samples(2))
    first.check_balance()
    first.settle(len(first.get_samples(3)), {})
    assert first.settled == {"trained": 3, "buffer_filter": 2}
    first.check_balance()
    first.get_samples(1)
    with pytest.raises(PromptsUnaccountedFor, match="1 prompt"):
        first.check_balance()


def test_what_is_no_group_is_refused(source):
    first = source()
    for wrong in ([[Sample()]], [Sample()], [[[], []]]):
        with pytest.raises(DataSourceError, match="--n-samples-per-prompt 2"):
            first.add_samples(wrong)
    assert first.get_buffer_length() == 0
    with pytest.raises(DataSourceError, match="takes no groups back"):
        source(RolloutDataSource).add_samples([])


def test_without_prompts_of_its_own(source):
    empty = source(rollout_global_dataset=False)
    assert [sample.prompt for sample in leaves(empty.get_samples(2))] == [""] * 4 and len(empty) == 0
    assert isinstance(empty, DataSource)


def test_a_data_set_whose_prompts_are_all_too_long(source):
    with pytest.raises(DataSourceError, match="--rollout-max-prompt-len"):
        source(rollout_max_prompt_len=1)
