"""Figures of samples, rollouts and trainers, by hand-made numbers."""

import json
import math
from argparse import Namespace
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vime.observability.metric_utils import (
    compression_ratio,
    compute_pass_rate,
    compute_rollout_step,
    compute_statistics,
    dict_add_prefix,
    has_repetition,
    is_eval_score,
)
from vime.observability.rollout_metrics import (
    compute_metrics_from_samples,
    compute_perf_metrics_from_samples,
    log_eval_rollout_data,
    log_rollout_data,
)
from vime.observability.run_read import read_run
from vime.observability.token_pieces import token_pieces
from vime.observability.train_metric_utils import (
    multi_turn_metrics,
    perf_metrics,
    reduce_log_dicts,
    rollout_log_metric_contribution,
)
from vime.utils.types import Sample, Status


def options(**changes: object) -> Namespace:
    base = {"advantage_estimator": "grpo", "log_reward_category": None, "rollout_num_gpus": 2, "reward_key": None}
    base |= {"custom_rollout_log_function_path": None, "custom_eval_rollout_log_function_path": None}
    base |= {"load_debug_rollout_data": None, "wandb_always_use_train_step": False, "log_passrate": False}
    base |= {"log_multi_turn": False, "log_correct_samples": False, "n_samples_per_prompt": 2}
    base |= {"rollout_max_response_len": 8}
    base |= {"use_tensorboard": False, "use_wandb": False, "run_dir": None, "n_samples_per_eval_prompt": 2}
    return Namespace(**base | changes)


def samples() -> list[Sample]:
    """Two groups of two: one right and one wrong, and both wrong."""
    rows = (
        (0, 3, 1.0, Status.COMPLETED),
        (0, 8, 0.0, Status.TRUNCATED),
        (1, 4, 0.0, Status.COMPLETED),
        (1, 5, 0.0, Status.ABORTED),
    )
    made = [
        Sample(group_index=group, response="x" * length, response_length=length, reward=reward, status=status)
        for group, length, reward, status in rows
    ]
    made[0].loss_mask, made[0].weight_versions, made[1].weight_versions = [1, 0, 1], ["3", "4"], ["4", "4"]
    return made


def test_statistics_of_samples():
    found = compute_metrics_from_samples(options(), samples())
    assert {name: found[f"response_len/{name}"] for name in ("mean", "median", "max", "min")} == {
        "mean": 4.75, "median": 4.5, "max": 8.0, "min": 2.0,
    }  # fmt: skip
    assert (found["truncated_ratio"], found["aborted_ratio"], found["failed_ratio"]) == (0.25, 0.25, 0.0)
    assert found["zero_std/count_0.0"] == 1 and "zero_std/count_1.0" not in found
    assert found["mixed_weight_versions_ratio"] == 0.25 and found["repetition_frac"] == 0.0
    assert compute_metrics_from_samples(options(), []) == {}
    assert not any(
        "zero_std" in name for name in compute_metrics_from_samples(options(advantage_estimator="ppo"), samples())
    )


def test_counters_of_the_engine():
    one, two = samples()[:2]
    one.prefix_cache_info.cached_tokens, one.prefix_cache_info.total_prompt_tokens = 6, 10
    two.prefix_cache_info.total_prompt_tokens = 10
    one.spec_info.spec_accept_token_num, one.spec_info.spec_draft_token_num = 3, 4
    one.rollout_top_p_token_ids, one.rollout_top_p_token_offsets = list(range(8)), [0, 1, 3, 8]
    found = compute_metrics_from_samples(options(vllm_speculative_config={"method": "ngram"}), [one, two])
    assert found["prefix_cache_hit_rate"] == 0.3 and found["avg_cached_tokens_per_sample"] == 3
    assert found["spec_accept_rate"] == 0.375 and found["top_p_kept_vocab_per_token"] == 3.0


def test_tool_calls_of_samples_that_counted_them():
    rows = samples()
    assert not any("tool_calls" in name for name in compute_metrics_from_samples(options(), rows))
    for one, count in zip(rows[:3], (0, 1, 5), strict=True):
        one.tool_call_count = count
    found = compute_metrics_from_samples(options(), rows)
    assert (found["tool_calls/mean"], found["tool_calls/min"], found["tool_calls/max"]) == (2.0, 0.0, 5.0)


def test_speed_of_a_rollout():
    rows = samples()
    rows[1].non_generation_time = 1.0
    found = compute_perf_metrics_from_samples(options(), rows, 5.0)
    assert found["rollout_time"] == 5.0 and found["tokens_per_gpu_per_sec"] == 20 / 5 / 2
    assert found["effective_tokens_per_gpu_per_sec"] == 19 / 5 / 2 and found["longest_sample_tokens_per_sec"] == 1.6
    assert found["longest_sample_tokens_per_sec_without_non_generation"] == 2.0
    assert compute_perf_metrics_from_samples(options(), [], 5.0) == {"rollout_time": 5.0}


@pytest.mark.parametrize("name", ["vllm_generate", "vllm_generate_stream"])
def test_times_of_requests_are_those_that_the_engine_told(name):
    rows = samples()
    told = {"type": "span_end", "name": name, "attrs": {"e2e_latency": 0.25, "queue_time": None}}
    rows[0].trace = {"events": [told, {**told, "name": "reward_model"}]}
    found = compute_perf_metrics_from_samples(options(), rows, 5.0)
    assert found["request/e2e_latency/mean"] == found["request/e2e_latency/max"] == 0.25


def test_a_rollout_and_an_evaluation_reach_the_log(tmp_path):
    args = options(run_dir=str(tmp_path), log_passrate=True)
    log_rollout_data(3, args, samples(), {"rollout/dropped": 1}, 2.0)
    data = {"rev3": {"rewards": [1.0, 0.0, 1.0, 1.0], "samples": samples(), "truncated": [False, True, False, False]}}
    log_eval_rollout_data(3, args, data)
    series = read_run(tmp_path).series
    assert series["rollout/raw_reward"].values == (0.25,) and series["rollout/dropped"].steps == (3,)
    assert series["perf/rollout_time"].values == (2.0,)
    assert series["eval/rev3"].values == (0.75,) and series["eval/rev3-truncated_ratio"].values == (0.25,)
    assert series["eval/rev3-pass@2"].values == (1.0,) and series["eval/rev3/response_len/max"].values == (8.0,)
    assert [name for name in series if is_eval_score(name)] == ["eval/rev3"]


def test_figures_that_are_asked_for(tmp_path):
    rows = samples()
    rows[0].metadata["round_number"], rows[2].metadata["round_number"] = 2, 5
    args = options(log_passrate=True, log_multi_turn=True, log_correct_samples=True)
    found = log_rollout_data(0, args, [*rows, Sample(group_index=2, reward=1.0, response_length=8)], None, 1.0)
    assert found["passrate/pass@1"] == 0.25 and found["passrate/pass@2"] == 0.5
    assert found["multi_turn/multi_turn_metric/round_number_max"] == 5
    assert found["multi_turn/wo_obs_response_length/response_length_min"] == 2
    assert found["rollout/correct_response_lengths"] == 5.5
    assert [found[f"rollout/correct_length/p{part}"] for part in (25, 50, 75, 100)] == [0.0, 0.5, 0.0, 0.5]
    plain = log_rollout_data(0, options(), rows, None, 1.0)
    assert not any(name.startswith(("passrate/", "multi_turn/", "rollout/correct")) for name in plain)


def test_the_users_function_logs_instead(tmp_path):
    args = options(run_dir=str(tmp_path), custom_rollout_log_function_path="test_metrics.logs_it_itself")
    assert log_rollout_data(0, args, samples(), None, 1.0) is None and not (tmp_path / "metrics.jsonl").exists()


def logs_it_itself(rollout_id, args, samples, extra, seconds):
    return True


@settings(max_examples=40)
@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=4))
def test_pass_at_k_is_what_drawing_k_of_the_answers_gives(groups):
    found = compute_pass_rate([float(one) for group in groups for one in group], 4)
    assert list(found) == ["pass@1", "pass@2", "pass@4"]
    for k in (1, 2, 4):
        drawn = [any(pick) for group in groups for pick in combinations(group, k)]
        assert found[f"pass@{k}"] == pytest.approx(sum(drawn) / len(drawn))


def test_pass_at_k_needs_whole_groups():
    assert compute_pass_rate([1.0, 0.0], 1) == {} and list(compute_pass_rate([1.0] * 6, 6)) == [
        "pass@1",
        "pass@2",
        "pass@4",
    ]
    with pytest.raises(ValueError, match="5 rewards are not 2 groups of 3"):
        compute_pass_rate([1.0] * 5, 3, 2)


@pytest.mark.parametrize("algorithm", ["zlib", "gzip", "bz2", "lzma"])
def test_repetition_is_what_compresses(algorithm):
    ratio, saved = compression_ratio("ab" * 5000, algorithm=algorithm)
    assert ratio > 50 and saved == pytest.approx(100 - 100 / ratio)
    assert compression_ratio("") == (math.inf, 0.0)


def test_repetition_counts_at_the_end_of_long_texts():
    varied = "".join(f"{number * number % 9973:x}" for number in range(6000))
    assert (
        has_repetition(varied + "again " * 2000) and not has_repetition(varied) and not has_repetition("again " * 100)
    )
    assert not has_repetition("again " * 2000 + varied[:10_000])
    with pytest.raises(ValueError, match="there are zlib, gzip"):
        compression_ratio("x", algorithm="rar")


def test_small_ones():
    assert dict_add_prefix({"a": 1}, "p/") == {"p/a": 1} and compute_statistics([]) == {}
    args = options(
        rollout_batch_size=16, n_samples_per_prompt=8, global_batch_size=64, wandb_always_use_train_step=True
    )
    assert compute_rollout_step(args, 5) == 10 and compute_rollout_step(options(), 5) == 5


def test_means_over_ranks_weigh_by_count():
    ranks = [{"a": (6.0, 3), "b": 1.0}, {"a": (1.0, 1), "b": 2.0}]
    assert reduce_log_dicts(ranks) == {"a": 1.75, "b": 1.5} and reduce_log_dicts([{"a": (0.0, 0)}]) == {"a": 0.0}
    shares = [
        rollout_log_metric_contribution(part, cp_size=2, num_rollouts_in_rollout=8, dp_size=2)
        for part in (1.0, 2.0, 3.0, 2.0)
    ]
    assert reduce_log_dicts([{"x": share} for share in shares])["x"] == pytest.approx((1 + 2 + 3 + 2) / 8)


def test_figures_of_a_step():
    found = perf_metrics({"train": 3.0, "train_wait": 1.0, "actor_train": 2.0}, seq_lens=[100, 300])
    assert (
        found["perf/actor_train_tok_per_s"] == 200
        and found["perf/step_time"] == 4
        and found["perf/wait_time_ratio"] == 0.25
    )
    assert perf_metrics({}) == {} and "perf/step_time" not in perf_metrics({"train": 1.0})
    turns = multi_turn_metrics(Namespace(rollout_max_response_len=4), [[1, 1, 0, 1], [1, 1]], rounds=[2, 4])
    assert (
        turns["raw_response_length/response_length_mean"] == 3
        and turns["wo_obs_response_length/response_length_max"] == 3
    )
    assert (
        turns["raw_response_length/response_length_clip_ratio"] == 0.5
        and turns["multi_turn_metric/round_number_mean"] == 3
    )


def test_a_step_of_several_micro_batches():
    torch = pytest.importorskip("torch")
    from vime.observability.train_metric_utils import gather_and_reduce_log_dict, reduce_train_step_metrics

    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    try:
        losses = [
            {"keys": ["loss"], "values": torch.tensor([10.0, 5.0])},
            {"keys": ["loss"], "values": torch.tensor([30.0, 3.0])},
        ]
        words = {"step_global_batch_size": 4, "cp_size": 1, "dp_with_cp_group": None}
        assert reduce_train_step_metrics(losses, calculate_per_token_loss=True, **words) == {"loss": pytest.approx(0.2)}
        assert reduce_train_step_metrics(losses, calculate_per_token_loss=False, **words) == {
            "loss": pytest.approx(2.0)
        }
        assert losses[0]["values"].tolist() == [10.0, 5.0]
        assert gather_and_reduce_log_dict({"a": (4.0, 2)}, dp_size=1, dp_src_rank=0, dp_group=None) == {"a": 2.0}
    finally:
        torch.distributed.destroy_process_group()


def test_texts_of_tokens():
    class Tokenizer:
        def decode(self, ids, skip_special_tokens):
            return "<end>" if ids == [2] and not skip_special_tokens else "".join(map(chr, ids))

    assert token_pieces(Tokenizer())([72, 105, 2]) == ["H", "i", "<end>"]


def test_nothing_heavy_is_imported():
    import subprocess
    import sys

    code = (
        "import sys, json, vime.observability.rollout_metrics, vime.observability.timer, vime.observability.progress; "
    )
    code += "print(json.dumps([m for m in ('torch', 'numpy', 'tensorboard', 'wandb', 'rich', 'jinja2') if m in sys.modules]))"
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=True)
    assert json.loads(done.stdout) == []
