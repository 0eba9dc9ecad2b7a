"""Options of installed packages that the framework gives them itself."""

OWNED = {
    "vllm_model": "--hf-checkpoint",
    "vllm_tokenizer": "--hf-checkpoint",
    "vllm_tensor_parallel_size": "--rollout-num-gpus-per-engine",
    "vllm_dtype": "--dtype",
    "vllm_host": "",
    "vllm_port": "",
    "vllm_nnodes": "",
    "vllm_node_rank": "",
    "vllm_master_addr": "",
    "vllm_master_port": "",
    "vllm_headless": "",
    "vllm_weight_transfer_config": "--update-weight-transport",
    "vllm_enable_sleep_mode": "--offload-rollout",
    "params_dtype": "--dtype",
    "pipeline_dtype": "--dtype",
}
"""Each, and the option here that says what it becomes; empty where nothing does."""
