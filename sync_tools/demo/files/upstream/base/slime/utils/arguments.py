import argparse

from slime.backends.sglang_utils.arguments import add_sglang_arguments
from slime.backends.sglang_utils.arguments import validate_args as validate_sglang_args


def add_rollout_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("rollout")
    group.add_argument("--hf-checkpoint", type=str, required=True)
    group.add_argument("--rollout-function-path", default="slime.rollout.sglang_rollout.generate_rollout")
    group.add_argument("--custom-generate-function-path", type=str)
    group.add_argument("--custom-rm-path", type=str)
    group.add_argument("--dynamic-sampling-filter-path", type=str)
    group.add_argument("--rm-type", type=str)
    group.add_argument("--reward-key", type=str)
    group.add_argument("--prompt-data", type=str)
    group.add_argument("--input-key", default="prompt")
    group.add_argument("--label-key", type=str)
    group.add_argument("--apply-chat-template", action="store_true")
    group.add_argument("--partial-rollout", action="store_true")
    group.add_argument("--rollout-shuffle", action="store_true")
    group.add_argument("--rollout-global-dataset", action="store_true", default=True)
    group.add_argument("--rollout-seed", type=int, default=42)
    group.add_argument("--rollout-batch-size", type=int, required=True)
    group.add_argument("--over-sampling-batch-size", type=int)
    group.add_argument("--n-samples-per-prompt", type=int, default=1)
    group.add_argument("--rollout-temperature", type=float, default=1.0)
    group.add_argument("--rollout-top-p", type=float, default=1.0)
    group.add_argument("--rollout-top-k", type=int, default=-1)
    group.add_argument("--rollout-max-response-len", type=int, default=1024)
    group.add_argument("--rollout-max-context-len", type=int)
    group.add_argument("--rollout-stop", nargs="+")
    group.add_argument("--rollout-stop-token-ids", type=int, nargs="+")
    group.add_argument("--rollout-num-gpus", type=int)
    group.add_argument("--rollout-num-gpus-per-engine", type=int, default=1)


def add_train_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("train")
    group.add_argument("--num-rollout", type=int, default=1)
    group.add_argument("--actor-num-nodes", type=int, default=1)
    group.add_argument("--actor-num-gpus-per-node", type=int, default=8)
    group.add_argument("--context-parallel-size", type=int, default=1)
    group.add_argument("--max-tokens-per-gpu", type=int, default=4096)
    group.add_argument("--save-interval", type=int)
    group.add_argument("--update-weights-interval", type=int, default=1)
    group.add_argument("--colocate", action="store_true")
    group.add_argument("--ci-test", action="store_true")
    group.add_argument("--use-wandb", action="store_true")
    group.add_argument("--wandb-project", type=str)
    group.add_argument("--wandb-group", type=str)


def parse_args(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("slime")
    add_rollout_arguments(parser)
    add_train_arguments(parser)
    add_sglang_arguments(parser)
    args, megatron_args = parser.parse_known_args(argv)
    args.megatron_args = megatron_args
    if args.over_sampling_batch_size is None:
        args.over_sampling_batch_size = args.rollout_batch_size
    validate_sglang_args(args)
    return args
