import argparse

# What vime sets for each server by itself.
ORCHESTRATED = ("model", "tensor_parallel_size", "seed", "trust_remote_code")


def add_vllm_router_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("vllm router")
    group.add_argument("--vllm-router-ip", type=str)
    group.add_argument("--vllm-router-port", type=int)
    group.add_argument("--vllm-server-concurrency", type=int, default=512)
    group.add_argument("--router-policy", type=str)


class _Prefixed:
    """Looks to vLLM like a parser (or a group of one) and registers each option under `--vllm-`."""

    def __init__(self, target):
        self.target = target

    def add_argument(self, *names: str, **kwargs):
        flag = max(names, key=len).removeprefix("--")
        kwargs.pop("dest", None)
        if flag.replace("-", "_") not in ORCHESTRATED:
            return self.target.add_argument(f"--vllm-{flag}", **kwargs)

    def add_argument_group(self, *args, **kwargs) -> "_Prefixed":
        return _Prefixed(self.target.add_argument_group(*args, **kwargs))


def add_vllm_arguments(parser: argparse.ArgumentParser) -> None:
    """Every option of vLLM's engine under the prefix `--vllm-`; the front end's are the launcher's business."""
    from vllm.engine.arg_utils import AsyncEngineArgs

    add_vllm_router_arguments(parser)
    AsyncEngineArgs.add_cli_args(_Prefixed(parser))


def validate_args(args: argparse.Namespace) -> None:
    if args.rollout_num_gpus is None:
        args.rollout_num_gpus = args.actor_num_gpus_per_node * args.actor_num_nodes
    if args.rollout_num_gpus % args.rollout_num_gpus_per_engine:
        raise ValueError("--rollout-num-gpus must be a multiple of --rollout-num-gpus-per-engine")
    if args.router_policy == "consistent_hashing":
        raise ValueError("vllm-router calls this policy consistent_hash")
