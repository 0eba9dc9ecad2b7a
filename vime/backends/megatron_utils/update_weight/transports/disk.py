"""Weights through a folder that trainer and engines share: safetensors, written whole, then reloaded by every engine."""

import secrets
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from safetensors.torch import save_file

from vime.backends.megatron_utils.update_weight.engines import Delivery, Engine, Tensors, on_all
from vime.backends.megatron_utils.update_weight.plan import WeightPlan, by_bucket
from vime.backends.vllm_utils.weight_transfer.folders import tidy, version_folder, weight_files
from vime.errors import travels


@travels
class FolderNotSeen(RuntimeError):
    """The engine's host does not see what the trainer wrote; reloading would have ended the engine."""

    def __init__(self, url: str, folder: Path, missing: Sequence[str]) -> None:
        super().__init__(
            f"{url} does not see {', '.join(missing)} in {folder} as the trainer wrote it; "
            "--update-weight-disk-dir must be a folder that both share"
        )


class DiskTransport:
    """Publishes under `root`. `keep_files` leaves the versions there. With `local_dir` every engine's host copies a
    version to that folder of its own and reloads from there. `after_write(folder, urls of engines)` follows the writing."""

    name = "disk"
    bucket_limit = 1024**3

    def __init__(
        self,
        root: Path,
        *,
        keep_files: bool = False,
        local_dir: str | None = None,
        after_write: Callable[[str, list[str]], None] | None = None,
    ) -> None:
        self._root, self._keep_files, self._local_dir, self._after_write = root, keep_files, local_dir, after_write
        self._number = 0

    def connect(self, engines: Sequence[Engine]) -> None:
        """Make the folder ready. Versions count on from those that are there."""
        self._number = max(self._number, tidy(self._root, keep_versions=self._keep_files))

    def begin(self, engine: Engine) -> None:
        """Nothing: a reload opens and closes by itself."""

    def cancel(self, engine: Engine) -> None:
        """Nothing: the engine was not asked to reload."""

    def stage(self, tensors: Tensors, plan: WeightPlan) -> Tensors:
        """Nothing is done ahead."""
        return tensors

    def send(self, engines: Sequence[Engine], tensors: Tensors, plan: WeightPlan, delivery: Delivery) -> None:
        """Write the files, see that each host sees them, and have the engines reload."""
        self._number += 1
        folder = version_folder(self._root, self._number)
        try:
            write_folder(folder, tensors, plan)
            written = weight_files(folder)
            if self._after_write is not None:
                self._after_write(str(folder), [engine.url for engine in engines])
            _, failures = on_all(engines, lambda engine: self._reload(engine, folder, written, delivery))
            delivery.failed |= failures
        finally:
            if not self._keep_files:
                shutil.rmtree(folder, ignore_errors=True)

    def commit(self, engine: Engine, version: str) -> None:
        """A tied head follows, then the label."""
        engine.collective_rpc("repair_tied_head")
        engine.update_weight_version(version)

    def close(self) -> None:
        """Nothing is open."""

    def _reload(self, engine: Engine, folder: Path, written: dict[str, int], delivery: Delivery) -> None:
        self._see(engine, folder, written)
        if self._local_dir is not None:
            pull = {"local_checkpoint_dir": self._local_dir, "source_dir": str(self._root)}
            engine.collective_rpc("pull_weights", {**pull, "target_version": self._number})
            self._see(engine, Path(self._local_dir), written)
        delivery.touched.add(engine.url)
        engine.collective_rpc("reload_weights", {"weights_path": self._local_dir or str(folder)})

    def _see(self, engine: Engine, folder: Path, written: dict[str, int]) -> None:
        for seen in engine.collective_rpc("weight_folder_files", {"folder": str(folder)}):
            if missing := [name for name, size in written.items() if seen.get(name) != size]:
                raise FolderNotSeen(engine.url, folder, missing)


def write_folder(folder: Path, tensors: Tensors, plan: WeightPlan) -> None:
    """One file of safetensors a bucket. Only a whole folder gets its name.

    Files have names that no other writing has: who has them by these names has nothing of an earlier version. Raises
    OSError or SafetensorError when the disk is full; nothing is left then.
    """
    name = f"model-{secrets.token_hex(8)}-{{number:05d}}-of-{len(plan.buckets):05d}.safetensors"
    new = folder.with_name(folder.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        for number, (_, pairs) in enumerate(by_bucket(tensors, plan), 1):
            named = {name: tensor.detach().to("cpu").contiguous() for name, tensor in pairs}
            save_file(named, new / name.format(number=number), {"format": "pt"})
        shutil.rmtree(folder, ignore_errors=True)
        new.rename(folder)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
