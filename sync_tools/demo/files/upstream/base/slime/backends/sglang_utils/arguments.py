import argparse

# Set by slime for each engine; a user's value would be overwritten.
ORCHESTRATED = ("model_path", "host", "port", "tp_size", "nnodes", "node_rank", "dist_init_addr", "random_seed")


def add_sglang_router_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("sglang router")
    group.add_argument("--sglang-router-ip", type=str)
    group.add_argument("--sglang-router-port", type=int)
    group.add_argument("--sglang-server-concurrency", type=int, default=512)
    group.add_argument("--router-policy", type=str)


def add_sglang_arguments(parser: argparse.ArgumentParser) -> None:
    """Every option of SGLang's own parser, under the prefix `--sglang-`."""
    from sglang.srt.server_args import ServerArgs

    add_sglang_router_arguments(parser)
    add_argument = parser.add_argument

    def prefixed(*names, **kwargs):
        flag = max(names, key=len).removeprefix("--")
        if kwargs.pop("dest", flag.replace("-", "_")) not in ORCHESTRATED:
            add_argument(f"--sglang-{flag}", **kwargs)

    parser.add_argument = prefixed
    try:
        ServerArgs.add_cli_args(parser)
    finally:
        parser.add_argument = add_argument


def validate_args(args: argparse.Namespace) -> None:
    if args.rollout_num_gpus is None:
        args.rollout_num_gpus = args.actor_num_gpus_per_node * args.actor_num_nodes
    if args.rollout_num_gpus % args.rollout_num_gpus_per_engine:
        raise ValueError("--rollout-num-gpus must be a multiple of --rollout-num-gpus-per-engine")
