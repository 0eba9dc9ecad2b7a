"""Rules across options: each broken configuration is told, and each sound one beside it is not."""

import pytest
from config_world import enough, made, problems

from vime.config.derive import FULLY_ASYNC
from vime.config.engine import engine_words
from vime.config.groups import Data
from vime.device import Device

CASES = [
    (
        ["--rollout-batch-size", "8", "--n-samples-per-prompt", "3", "--global-batch-size", "9"],
        "8 x n_samples_per_prompt 3 = 24 is no multiple",
    ),
    (["--n-samples-per-prompt", "3", "--num-steps-per-rollout", "5"], "24 is not divisible by num_steps_per_rollout 5"),
    (["--num-steps-per-rollout", "9"], "8 is not divisible by num_steps_per_rollout 9"),
    (["--num-steps-per-rollout", "2", "--global-batch-size", "8"], "leave it out, or set 4"),
    (["--over-sampling-batch-size", "4"], "over_sampling_batch_size 4 is less than rollout_batch_size 8"),
    (["--rollout-max-context-len", "32", "--rollout-max-prompt-len", "32"], "set it to 31 at most"),
    (["--use-dynamic-batch-size"], "packing needs a budget of tokens"),
    (["--balance-by-flops"], "it balances packed samples only"),
    (["--tensor-model-parallel-size", "2"], "1 trainer ranks do not divide by tensor 2 x pipeline 1 x context 1 = 2"),
    (["--actor-num-gpus-per-node", "3"], "global_batch_size 8 does not divide over 3 data-parallel ranks"),
    (
        ["--actor-num-gpus-per-node", "4", "--tensor-model-parallel-size", "4"],
        "num_query_groups 2 does not divide over tensor_model_parallel_size 4",
    ),
    (
        ["--actor-num-gpus-per-node", "4", "--pipeline-model-parallel-size", "4"],
        "num_layers 2 does not divide over pipeline",
    ),
    (
        ["--rollout-num-gpus-per-engine", "8"],
        "num_attention_heads 4 does not divide over rollout_num_gpus_per_engine 8",
    ),
    (["--rollout-num-gpus", "3", "--rollout-num-gpus-per-engine", "2"], "rollout_num_gpus 3 is no multiple"),
    (["--colocate"], "no GPU memory to share or free on a CPU"),
    (["--train-async", "--colocate"], "cannot generate on GPUs that the trainer works on"),
    (["--train-async", "--debug-rollout-only"], "nothing is trained that a rollout could be ahead of"),
    (["--train-async", "--debug-train-only"], "nothing is generated beside the trainer"),
    (["--update-weight-transport", "nccl"], "nccl needs GPUs; choose gloo or disk"),
    (["--update-weight-transport", "disk"], "disk needs a folder"),
    (["--update-weight-mode", "delta"], "only full weights are sent"),
    (["--dtype", "float16"], "float16 is not supported on a CPU"),
    (["--bf16", "--fp16"], "the numbers have two formats"),
    (["--kl-coef", "0.1"], "the KL needs a reference model; set --ref-load"),
    (["--use-kl-loss", "--ref-load", "nowhere"], "nowhere does not exist"),
    (["--kl-coef", "0.1", "--use-kl-loss", "--kl-loss-coef", "0.1", "--ref-load", "."], "the KL would count twice"),
    (["--advantage-estimator", "reinforce_plus_plus"], "add --normalize-advantages"),
    (["--loss-type", "custom_loss"], "set --custom-loss-function-path"),
    (["--use-tis", "--use-rollout-logprobs"], "keep one of them"),
    (["--tis-clip-low", "3", "--use-tis"], "tis_clip_low 3.0 is above tis_clip 2.0"),
    (["--rm-type", "maths"], "there is no reward maths"),
    (["--rm-type", "remote_rm"], "set --rm-url"),
    (["--rollout-top-k", "20"], "of 20 words and the trainer's of all"),
    (["--rollout-top-p", "0.9"], "on a CPU vLLM does not tell which"),
    (["--megatron-config-path", "f"], "there is one role"),
    (["--use-stateless-adam"], "--reset-optimizer-states"),
    (["--disable-compute-advantages-and-returns"], "the policy's loss needs advantages"),
    (["--keep-old-actor"], "set --use-rollout-logprobs"),
    (["--min-lr", "1"], "min_lr 1.0 is above lr 1e-06"),
    (
        ["--num-rollout", "5", "--lr-warmup-iters", "5"],
        "the warm-up takes 5 updates and the decay ends after 5; set --lr-warmup-iters below 5",
    ),
    (["--lr-warmup-init", "1"], "lr_warmup_init 1.0 is above lr 1e-06"),
    (["--lr-warmup-fraction", "1"], "the warm-up leaves nothing of the decay"),
    (["--lr-warmup-iters", "3", "--lr-decay-iters", "3"], "the warm-up takes 3 updates and the decay ends after 3"),
    (["--lr-decay-style", "WSD"], "set --lr-wsd-decay-iters"),
    (["--lr-decay-style", "WSD", "--lr-wsd-decay-iters", "9"], "the last part takes 9 updates and the decay ends"),
    (["--adam-beta1", "1"], "1.0 is not less than 1"),
    (["--rollout-num-gpus", "0"], "there is no engine"),
    (["--pipeline-model-parallel-size", "2"], "the trainer does not divide layers over ranks"),
    (["--context-parallel-size", "2"], "the trainer does not divide sequences over ranks"),
    (["--save-interval", "2"], "there is no folder to save to"),
    (["--eval-interval", "2"], "there is nothing to evaluate on"),
    (["--debug-rollout-only", "--debug-train-only"], "together they leave nothing to do"),
    (["--use-routing-replay"], "the model has no experts"),
    (["--vllm-config", "no.yaml"], "there is no file no.yaml"),
]


@pytest.mark.parametrize(("words", "said"), CASES, ids=[" ".join(words) for words, _ in CASES])
def test_a_contradiction_is_told_at_the_flag_that_makes_it(tmp_path, words, said):
    found = problems([*enough(tmp_path), *words])
    assert any(said in line for line in found), found
    assert all(any(word in line.split(": ")[0] for word in words) for line in found if said in line)


@pytest.mark.parametrize(
    "words",
    [
        ["--n-samples-per-prompt", "3", "--global-batch-size", "12"],
        ["--num-steps-per-rollout", "2", "--global-batch-size", "4"],
        ["--actor-num-gpus-per-node", "4", "--tensor-model-parallel-size", "2"],
        ["--use-dynamic-batch-size", "--max-tokens-per-gpu", "512"],
        ["--kl-coef", "0.1", "--ref-load", "."],
        ["--rm-type", "boxed_math"],
        ["--custom-rm-path", "mine.reward", "--rm-type", "mine"],
        ["--rollout-top-p", "0.9", "--rollout-top-k", "20", "--loss-type", "sft_loss"],
        ["--dtype", "bfloat16", "--update-weight-transport", "gloo"],
    ],
)
def test_what_holds_together_passes(tmp_path, words):
    assert problems([*enough(tmp_path), *words]) == []


def test_what_is_required_is_told_when_nothing_is_given():
    found = problems(["--device", "cpu", "--actor-num-gpus-per-node", "1"])
    for part in ("--rollout-batch-size: is required", "set --num-rollout", "set --prompt-data", "set --hf-checkpoint"):
        assert any(part in line for line in found)


def test_a_bound_of_the_context_bounds_the_answers(tmp_path):
    words = enough(tmp_path)
    place = words.index("--rollout-max-response-len")
    args = made([*words[:place], *words[place + 2 :], "--rollout-max-context-len", "64"]).args
    assert (args.rollout_max_response_len, args.eval_max_response_len) == (63, 63)


def test_seeds_on_a_cpu_need_no_option_more(tmp_path):
    config = made([*enough(tmp_path), "--vllm-enable-deterministic-inference"])
    assert config.args.vllm_enable_chunked_prefill is False and "--no-enable-chunked-prefill" in engine_words(config)
    assert "enable_chunked_prefill" not in made(enough(tmp_path)).engine


def test_what_is_unset_follows_from_what_is_set(tmp_path):
    words = [
        "--n-samples-per-prompt",
        "4",
        "--num-steps-per-rollout",
        "2",
        "--rollout-max-context-len",
        "64",
        "--dump-details",
        "d",
    ]
    config = made([*enough(tmp_path), *words])
    args = config.args
    assert (args.global_batch_size, args.rollout_max_prompt_len, args.eval_max_context_len) == (16, 63, 64)
    assert args.save_debug_rollout_data == "d/rollout_data/{rollout_id}.pt" and args.eps_clip_high == args.eps_clip
    assert (args.dtype, args.update_weight_transport, args.vllm_max_model_len) == ("float32", "gloo", 64)
    assert config.origins["global_batch_size"].startswith("derived: rollout_batch_size x")
    assert config.group(Data).global_batch_size == 16
    assert (args.use_critic, args.rollout_external, args.distributed_backend, args.vllm_dp_size) == (
        False,
        False,
        "gloo",
        1,
    )


def test_a_suggestion_for_sizes_beyond_reason_is_quick(tmp_path):
    found = problems([*enough(tmp_path), "--rollout-batch-size", str(10**15), "--global-batch-size", str(10**14 + 7)])
    assert any("set it to 100000, say" in line for line in found)


def test_a_group_of_one_is_not_divided_by_its_deviation(tmp_path):
    assert made(enough(tmp_path)).args.grpo_std_normalization is False
    assert made([*enough(tmp_path), "--n-samples-per-prompt", "2"]).args.grpo_std_normalization is True


def test_a_reference_model_that_changes_nothing_is_a_warning(tmp_path):
    config = made([*enough(tmp_path), "--use-kl-loss", "--ref-load", "."])
    assert [warning.where for warning in config.warnings] == ["--use-kl-loss"]


def test_colocation_on_gpus_shares_the_trainers(tmp_path, monkeypatch):
    monkeypatch.setattr("vime.config.resolve.detect", lambda asked: Device("cuda", 8, "test"))
    words = [word for word in enough(tmp_path) if word not in ("--device", "cpu")]
    args = made([*words, "--colocate"]).args
    assert (args.device, args.dtype, args.update_weight_transport, args.rollout_num_gpus) == (
        "cuda",
        "bfloat16",
        "ipc",
        1,
    )
    assert args.offload_train and args.offload_rollout
    assert any(
        "do not fit on the trainer's 1" in line for line in problems([*words, "--colocate", "--rollout-num-gpus", "2"])
    )
    assert any(
        "9 GPUs are asked for" in line
        for line in problems([*words, "--rollout-num-gpus", "8", "--num-gpus-per-node", "16"])
    )


def test_requests_outlive_a_sync_where_engines_generate_beside_the_trainer(tmp_path):
    def mode(*words):
        return made([*enough(tmp_path), *words]).args.update_weight_pause_mode

    fully_async = ("--rollout-function-path", FULLY_ASYNC)
    assert mode() == "abort" and mode(*fully_async) == "retract"
    assert mode(*fully_async, "--update-weight-pause-mode", "abort") == "abort"


def test_engines_that_generate_beside_the_trainer_share_nothing_with_it(tmp_path, monkeypatch):
    monkeypatch.setattr("vime.config.resolve.detect", lambda asked: Device("cuda", 8, "test"))
    words = [word for word in enough(tmp_path) if word not in ("--device", "cpu")]
    told = problems([*words, "--colocate", "--rollout-function-path", FULLY_ASYNC])
    assert any("engines generate while the trainer trains" in line for line in told)
