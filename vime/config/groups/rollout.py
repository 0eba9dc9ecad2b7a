"""Generation: how samples are drawn, how many at once, and the functions that a user puts in."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from vime.config.option import option


@dataclass(frozen=True, kw_only=True)
class Rollout:
    """How samples are drawn from the engines, and the hooks around it."""

    NAME: ClassVar[str] = "rollout"

    rollout_function_path: str = option(
        "vime.rollout.vllm_rollout.generate_rollout", "Function that makes one rollout."
    )
    rollout_temperature: float = option(1.0, "Temperature; must be above 0, greedy text is no policy.", above=0)
    rollout_top_p: float = option(1.0, "Share of probability that is kept.", above=0, high=1)
    rollout_top_k: int = option(-1, "Tokens that are kept; -1 is all.", low=-1)
    rollout_max_context_len: int | None = option(None, "Longest prompt and answer together.", low=2)
    rollout_max_prompt_len: int | None = option(None, "Longest prompt; longer ones are left out.", low=1)
    rollout_max_response_len: int | None = option(None, "Longest answer.", low=1)
    rollout_skip_special_tokens: bool = option(False, "Leave special tokens out of the answer's text.")
    rollout_stop: tuple[str, ...] | None = option(None, "Texts that end an answer.")
    rollout_stop_token_ids: tuple[int, ...] | None = option(None, "Tokens that end an answer.")
    rollout_seed: int = option(42, "Order of the data, and sampling where it is seeded.")
    over_sampling_batch_size: int | None = option(
        None, "Prompts asked for at once; --rollout-batch-size when unset.", low=1
    )
    dynamic_sampling_filter_path: str | None = option(None, "Function that decides whether a group is kept.")
    partial_rollout: bool = option(False, "Keep what an aborted request had, and go on from it in the next rollout.")
    mask_offpolicy_in_partial_rollout: bool = option(False, "Do not train on the part from older weights.")
    custom_generate_function_path: str | None = option(None, "Function that generates one sample.")
    fully_async_max_staleness: int = option(
        1, "Weight updates between a group's first token and its hand-over, with the fully-async rollout.", low=0
    )
    rollout_sample_hook_path: tuple[str, ...] = option(
        (), "Function to call on each sample; may be given again.", append=True
    )
    rollout_sample_filter_path: str | None = option(None, "Function that marks samples not to train on.")
    rollout_all_samples_process_path: str | None = option(None, "Function that sees all samples, dropped ones too.")
    rollout_data_postprocess_path: str | None = option(None, "Function that sees the training data with its logprobs.")
    custom_convert_samples_to_train_data_path: str | None = option(
        None, "Function that makes training data of samples."
    )
    buffer_filter_path: str | None = option(None, "Function that takes groups out of the buffer.")
    vllm_router_ip: str | None = option(None, "A router that runs already; one is started when unset.")
    vllm_router_port: int | None = option(None, "Its port.", low=1, high=65535)
    vllm_router_request_timeout_secs: int = option(14400, "How long a request may take.", above=0, unit="seconds")
    rollout_engine_patience: float = option(
        300.0, "How long a request waits for an engine that can take it, a restart included.", above=0, unit="seconds"
    )
    rollout_request_attempts: int = option(4, "Engines that may die under one request before the run stops.", low=1)
    router_policy: Literal[
        "consistent_hash", "sticky_least_loaded", "cache_aware", "power_of_two", "round_robin", "random", "kv_aware"
    ] = option("consistent_hash", "How the router picks an engine; consistent_hash keeps a sample's requests on one.")
    vllm_server_concurrency: int = option(512, "Requests that an engine is given at once.", low=1)
    vllm_config: str | None = option(None, "YAML file with several models and groups of engines.")
    vllm_enable_deterministic_inference: bool = option(False, "A seed for each request, and batch-invariant kernels.")
    rollout_external_engine_addrs: tuple[str, ...] | None = option(None, "Engines that run already, as host:port.")
    custom_config_path: str | None = option(
        None, "YAML file of more attributes of args, for functions of your own; options in it win over --config."
    )
    http_proxy: str | None = option(None, "Proxy for requests to the engines; a proxy of the system is never used.")
    use_distributed_post: bool = option(False, "Spread the sending of requests over Ray actors.")
