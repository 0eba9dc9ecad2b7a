"""Methods that vLLM's workers get beside their own, called through /collective_rpc."""

from vime.backends.vllm_utils.weight_transfer.tied_head import repair_tied_head


class VimeWorkerExtension:
    """Mixed into vLLM's worker class; no name here may be one of the worker's own."""

    def repair_tied_head(self) -> int:
        """After /collective_rpc reload_weights: bring a tied head's packed copy up to date."""
        return repair_tied_head(self.model_runner.get_model())
