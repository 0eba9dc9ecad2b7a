"""docs/combinations.md: partial rollout, fan-out, group rewards, streaming and the fully-async rollout, each with each."""

import itertools
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from engines import Faults, turn
from rollout_world import options, serving, tiny_model, write_prompts

sys.path.insert(0, str(Path(__file__).parents[1] / "config"))

from config_world import enough, refused

from vime.rollout import fully_async_rollout, vllm_rollout
from vime.rollout.data_source import RolloutDataSourceWithBuffer
from vime.rollout.groups import leaves, own_copy
from vime.rollout.train_data import convert_samples_to_train_data
from vime.rollout.vllm_streaming_rollout import generate_streaming
from vime.utils.async_utils import run
from vime.utils.http_utils import post
from vime.utils.types import Sample

PAGE = Path(__file__).parents[3] / "docs/combinations.md"
COLUMNS = ("partial", "fan-out", "group reward", "streaming", "fully async")
COPIES, SAMPLES, GROUPS, ROLLOUTS = 2, 2, 4, 3
SCRIPT = [turn("abcdef")] * (GROUPS * SAMPLES) + [turn("x" * 10)]
ASKED: list[int] = []
"""How many samples each call of the reward was given."""


@dataclass(frozen=True)
class Row:
    """A combination, in the order of the page's columns."""

    partial: bool
    fans_out: bool
    by_group: bool
    streams: bool
    beside: bool


ROWS = [Row(*marks) for marks in itertools.product([False, True], repeat=len(COLUMNS))]


def _tables() -> list[list[list[str]]]:
    """The cells of each table of the page, without its head."""
    found: list[list[list[str]]] = [[]]
    for line in PAGE.read_text("utf-8").splitlines():
        if line.startswith("|"):
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        elif found[-1]:
            found.append([])
    return [table[2:] for table in found if table]


def test_the_page_has_every_combination_once_and_says_what_it_comes_to() -> None:
    rows = [Row(*(cell == "yes" for cell in cells[: len(COLUMNS)])) for cells in _tables()[0]]
    assert rows == ROWS
    assert [cells[len(COLUMNS)] for cells in _tables()[0]] == [_comes_to(row) for row in ROWS]


def _comes_to(row: Row) -> str:
    """In the page's words; what each of them means is tested below."""
    of_a_fan_out = "all leaves of a group" if row.by_group else "a fan-out"
    who = "a fan-out that" if row.partial and row.fans_out else "what"
    said = {
        "begun without waiting for a rollout": row.beside,
        f"one call of the reward for {of_a_fan_out if row.fans_out else 'a group'}": row.by_group or row.fans_out,
        f"{who} was cut short {'goes on' if _goes_on(row) else 'begins anew'}": True,
        "the generate function streams and returns several": row.fans_out and row.streams,
    }
    return "works: " + "; ".join(words for words, holds in said.items() if holds)


async def _fan_out(args, sample, sampling_params, one):
    """Several samples of one answer."""
    answer = await one(args, sample, sampling_params)
    return [answer, *(_copy(answer) for _ in range(COPIES - 1))]


def _copy(answer: Sample) -> Sample:
    again = own_copy(answer)
    again.tokens, again.response, again.response_length = list(answer.tokens), answer.response, answer.response_length
    again.rollout_log_probs, again.status = list(answer.rollout_log_probs or []), answer.status
    again.loss_mask = None if answer.loss_mask is None else list(answer.loss_mask)
    return again


async def fans_out(args, sample, sampling_params):
    return await _fan_out(args, sample, sampling_params, vllm_rollout.generate)


async def fans_out_a_stream(args, sample, sampling_params):
    return await _fan_out(args, sample, sampling_params, generate_streaming)


async def reward(args, samples):
    """Of a sample, of a fan-out, or of a whole group."""
    ASKED.append(len(samples) if isinstance(samples, list) else 1)
    return [1.0] * len(samples) if isinstance(samples, list) else 1.0


_STREAMING = "vime.rollout.vllm_streaming_rollout.generate_streaming"
GENERATE = {
    (False, False): None,
    (False, True): _STREAMING,
    (True, False): f"{__name__}.fans_out",
    (True, True): f"{__name__}.fans_out_a_stream",
}


@pytest.fixture
def source_of(monkeypatch):
    tiny_model(monkeypatch)
    fully_async_rollout._Place.clear_instances()
    ASKED.clear()
    made = []

    def make(args):
        made.append(RolloutDataSourceWithBuffer(args))
        return made[-1]

    yield make
    for source in made:
        _leave(source)


def _leave(source) -> None:
    async def end():
        await fully_async_rollout._Place(source).leave()

    run(end())


def _words(row: Row) -> dict:
    return {
        "partial_rollout": row.partial,
        "group_rm": row.by_group,
        "custom_rm_path": f"{__name__}.reward",
        "custom_generate_function_path": GENERATE[row.fans_out, row.streams],
        "over_sampling_batch_size": None if row.beside else GROUPS + 2,
        "vllm_server_concurrency": 16,
        "rollout_max_response_len": 1000,  # the double answers as long as its script, whatever is left
    }


def _rollouts(row: Row, args, source, server) -> list[list]:
    """What the rollouts were made of. What the engine works on is cut short in each, by the rollout itself or by a sync."""
    if not row.beside:
        return [vllm_rollout.generate_rollout(args, number, source).samples for number in range(ROLLOUTS)]
    groups = []
    while len(groups) < ROLLOUTS or (len(groups) < 10 * ROLLOUTS and _goes_on(row) and not _gone_on(groups)):
        number = len(groups)
        groups.append(fully_async_rollout.generate_rollout_fully_async(args, number, source).samples)
        time.sleep(0.004 * (1 + number % 4))
        run(post(f"{server.url}/abort_requests", {}))
    _leave(source)
    return groups


def _goes_on(row: Row) -> bool:
    """Whether what was cut short is gone on with."""
    return row.partial and not row.fans_out


def _gone_on(groups) -> bool:
    return any("start_rollout_id" in one.metadata and one.response for one in leaves(groups))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(k for k, v in vars(row).items() if v) or "plain")
def test_a_combination_works(row: Row, source_of, tmp_path) -> None:
    with serving(SCRIPT, Faults(pace=0.005)) as server:
        args = options(vllm_router_port=server.port, prompt_data=write_prompts(tmp_path / "p.jsonl"), **_words(row))
        source = source_of(args)
        rollouts = _rollouts(row, args, source, server)
        assert server.engine.violations == []
    trained = [leaves(group)[0].group_index for groups in rollouts for group in groups]
    waiting = [leaves(group)[0].group_index for group in source.buffer]
    assert sorted(trained + waiting) == list(range(source.sample_group_index)), "lost, or trained on twice"
    source.check_balance()
    for groups in rollouts:
        assert len(groups) == GROUPS and all(len(group) == SAMPLES for group in groups)
        for group in groups:
            assert all(isinstance(item, list) == row.fans_out for item in group)
        samples = leaves(groups)
        assert {sample.status for sample in samples} <= {Sample.Status.COMPLETED, Sample.Status.TRUNCATED}
        assert all(sample.reward == 1.0 for sample in samples)
        batch = convert_samples_to_train_data(args, groups)
        assert len(batch["tokens"]) == GROUPS * SAMPLES * (COPIES if row.fans_out else 1)
        for tokens, length, mask, log_probs in zip(
            batch["tokens"], batch["response_lengths"], batch["loss_masks"], batch["rollout_log_probs"], strict=True
        ):
            assert len(mask) == len(log_probs) == length < len(tokens)
    each = COPIES if row.fans_out else 1
    assert set(ASKED) == {SAMPLES * each if row.by_group else each}
    assert (
        _gone_on([rollouts, source.buffer]) if _goes_on(row) else row.partial or not _gone_on([rollouts, source.buffer])
    )


@pytest.mark.parametrize("cells", _tables()[1], ids=lambda cells: cells[0])
def test_what_cannot_be_is_refused_when_arguments_are_checked(cells: list[str], tmp_path: Path) -> None:
    words, reason = cells[0].strip("`").split(), cells[1]
    found = refused([*enough(tmp_path), *words], dry=True)
    assert any(reason in line for line in found), found
