"""What vLLM loads of us into its processes: a weight transfer over gloo, and a worker extension.

vLLM finds `register` through the entry point `vllm.general_plugins` and calls it in its API server, its engine core and
every worker. It only names classes; what they need is imported when an engine uses them.
"""

BACKEND = "vime_gloo"
"""The name under which vLLM knows the transfer: `--weight-transfer-config '{"backend": "vime_gloo"}'`."""

WORKER_EXTENSION = "vime.backends.vllm_utils.weight_transfer.extension.VimeWorkerExtension"
"""What `--worker-extension-cls` is given."""


def register() -> None:
    """Tell vLLM of the backend. Calling it again changes nothing."""
    from vllm.distributed.weight_transfer.factory import WeightTransferEngineFactory

    if BACKEND not in WeightTransferEngineFactory._registry:
        WeightTransferEngineFactory.register_engine(BACKEND, f"{__name__}.gloo_engine", "GlooWeightTransferEngine")
