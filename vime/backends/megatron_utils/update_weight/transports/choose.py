"""The transport that the options ask for."""

from argparse import Namespace
from pathlib import Path

from vime.backends.megatron_utils.update_weight.engines import Transport
from vime.utils.misc import load_function


def make_transport(args: Namespace, address: str) -> Transport:
    """By args.update_weight_transport; `address` is where engines reach this process."""
    if args.update_weight_transport == "disk":
        return _disk(args)
    if args.update_weight_transport == "gloo":
        from vime.backends.megatron_utils.update_weight.transports.gloo import GlooTransport

        return GlooTransport(
            address=address,
            workers=args.rollout_num_gpus_per_engine,
            timeout=60.0 * args.distributed_timeout_minutes,
        )
    raise NotImplementedError(f"weights over {args.update_weight_transport}")


def _disk(args: Namespace) -> Transport:
    from vime.backends.megatron_utils.update_weight.transports.disk import DiskTransport

    path = args.custom_update_weight_post_write_path
    after = load_function(path) if path else None
    return DiskTransport(
        Path(args.update_weight_disk_dir),
        keep_files=args.update_weight_disk_keep_files,
        local_dir=args.update_weight_local_checkpoint_dir,
        after_write=None if after is None else lambda folder: after(args, folder, []),
    )
