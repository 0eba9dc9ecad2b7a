"""A source of prompts that goes on with other options than it was saved with, and one that is saved while it is used."""

import logging

import pytest
from rollout_world import options, tiny_model, write_prompts

from vime.rollout import data_source as module
from vime.rollout.data_source import DataSourceError, RolloutDataSourceWithBuffer
from vime.rollout.groups import leaves


@pytest.fixture(autouse=True)
def model(monkeypatch):
    tiny_model(monkeypatch)


@pytest.fixture
def source(tmp_path):
    def make(prompts=5, load="", **more):
        path = write_prompts(tmp_path / f"p{prompts}.jsonl", prompts)
        where = {"save": str(tmp_path), "load": str(tmp_path / load)}
        return RolloutDataSourceWithBuffer(options(**({"prompt_data": path} | where | more)))

    return make


def prompts(groups):
    return [group[0].prompt for group in groups]


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"prompts": 7}, "the number of prompts was 5 and is 7"),
        ({"rollout_shuffle": True}, "--rollout-shuffle was False and is True"),
    ],
)
def test_other_prompts_begin_with_an_epoch_of_theirs_and_it_is_told(source, caplog, other, told):
    first = source()
    first.get_samples(8)
    first.save(1)
    again = source(**other)
    with caplog.at_level(logging.WARNING):
        again.load(1)
    assert told in caplog.text and "global_dataset_state_dict_1.json" in caplog.text
    assert "the epoch in which it stood is left, and the next begins" in caplog.text
    groups = again.get_samples(len(again))
    assert sorted(prompts(groups)) == [f"p{i}" for i in range(len(again))] and again.epoch_id == 2
    assert groups[0][0].group_index == 8, "numbers never repeat"


def test_other_texts_and_another_seed_are_seen(source, caplog, tmp_path):
    first = source(rollout_shuffle=True, rollout_seed=1)
    first.save(0)
    (tmp_path / "q.jsonl").write_text('{"input": "q", "label": "a"}\n' * 5)
    source(rollout_shuffle=True, rollout_seed=2).load(0)
    assert "--rollout-seed was 1 and is 2" in caplog.text and "digest" not in caplog.text
    caplog.clear()
    source(rollout_shuffle=True, rollout_seed=1, prompt_data=str(tmp_path / "q.jsonl")).load(0)
    assert "the digest of their texts was" in caplog.text and "number" not in caplog.text


def test_the_same_prompts_elsewhere_go_on_and_nothing_is_told(source, caplog, tmp_path):
    first = source()
    first.get_samples(3)
    first.save(0)
    again = source(prompt_data=write_prompts(tmp_path / "moved.jsonl", 5), rollout_seed=99)
    again.load(0)
    assert prompts(again.get_samples(2)) == ["p3", "p4"] and not caplog.text


def test_a_state_of_before_there_was_an_order_is_read(source, caplog, tmp_path):
    first = source()
    first.get_samples(3)
    first.save(0)
    file = tmp_path / "rollout/global_dataset_state_dict_0.json"
    file.write_text(file.read_text().replace('"order"', '"something"'))
    again = source(prompts=7)
    again.load(0)
    assert again.sample_offset == 3 and not caplog.text


def test_a_buffer_of_groups_of_another_size_is_refused(source):
    first = source()
    first.add_samples(first.get_samples(1))
    first.save(0)
    with pytest.raises(DataSourceError, match=r"dict_0\.json: its buffer has groups of 2 .*-prompt is 3: set 2, or"):
        source(n_samples_per_prompt=3).load(0)
    empty = source()
    empty.get_samples(1)
    empty.save(1)
    again = source(n_samples_per_prompt=3)
    again.load(1)
    assert len(again.get_samples(1)[0]) == 3


def test_one_iteration_of_the_folder_can_be_loaded(source):
    first = source()
    first.get_samples(3)
    first.save(4)
    again = source(load="iter_0000004")
    again.load(4)
    assert again.sample_offset == 3


def test_a_group_that_is_begun_while_the_buffer_is_written_is_saved_as_it_was(source, monkeypatch):
    first = source()
    first.add_samples(first.get_samples(1))
    sample = leaves(first.buffer)[0]
    sample.append_response_tokens(tokens=[1, 2], log_probs=[-0.1, -0.2], text="ab")
    write = module.write_state

    def begun_meanwhile(path, state):
        first.get_samples(1)
        sample.append_response_tokens(tokens=[3], log_probs=[-0.3], text="c")
        sample.metadata["start_rollout_id"] = 1
        write(path, state)

    monkeypatch.setattr(module, "write_state", begun_meanwhile)
    first.save(0)
    again = source()
    again.load(0)
    (saved, _) = again.buffer[0]
    lengths = {saved.response_length, len(saved.loss_mask), len(saved.rollout_log_probs), len(saved.tokens)}
    assert lengths == {2} and "start_rollout_id" not in saved.metadata
