"""Methods that vLLM's workers get beside their own, called through /collective_rpc."""

import os
from pathlib import Path

from vime.backends.vllm_utils.weight_transfer.folders import copy_version, weight_files
from vime.utils.misc import load_function

PRE_READ_HOOK = "VIME_PULL_WEIGHTS_PRE_READ_HOOK"
"""Environment variable of an engine: the function of --vllm-custom-pull-weights-pre-read-hook."""


class VimeWorkerExtension:
    """Mixed into vLLM's worker class; no name here may be one of the worker's own."""

    def repair_tied_head(self) -> int:
        """After /collective_rpc reload_weights: bring a tied head's packed copy up to date."""
        from vime.backends.vllm_utils.weight_transfer.tied_head import repair_tied_head

        return repair_tied_head(self.model_runner.get_model())

    def weight_digests(self) -> dict[str, str]:
        """What this worker computes with: a digest of each weight (digests.py), to compare with the trainer's."""
        from vime.backends.vllm_utils.weight_transfer.held import held_digests

        return held_digests(self.model_runner.get_model())

    def weight_folder_files(self, folder: str) -> dict[str, int]:
        """The files of weights that this host sees in `folder`, and their sizes; empty where there is no such folder."""
        return weight_files(Path(folder))

    def pull_weights(self, local_checkpoint_dir: str, source_dir: str, target_version: int) -> str:
        """Copy a published version from `source_dir` to this host's `local_checkpoint_dir`, whole or not at all.

        In the place of the route /pull_weights that upstream patches into SGLang. One worker a host copies.
        """
        if self.local_rank == 0:
            if hook := os.environ.get(PRE_READ_HOOK):
                load_function(hook)(source_dir, int(target_version))
            copy_version(Path(source_dir), int(target_version), Path(local_checkpoint_dir))
        return local_checkpoint_dir
