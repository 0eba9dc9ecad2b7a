from argparse import Namespace
import asyncio
import inspect
import logging
from typing import Any
import uuid

from vime.rollout.base_types import RolloutFnEvalOutput, RolloutFnTrainOutput
from vime.rollout.filter_hub.base_types import MetricGatherer, call_dynamic_filter
from vime.utils.async_utils import run
from vime.utils.data import Dataset
from vime.utils.eval_config import EvalDatasetConfig
from vime.utils.http_utils import get, post
from vime.utils.misc import SingletonMeta, load_function
from vime.utils.processing_utils import load_processor, load_tokenizer
from vime.utils.trace_utils import build_vllm_meta_trace_attrs, trace_function, trace_span
from vime.utils.types import Sample

from .rm_hub import batched_async_rm

__all__ = ["generate_rollout", "get_model_url"]

logger = logging.getLogger(__name__)


def _prepare_prompt_ids(sample: Sample, tokenizer, processor: Any) -> list[int]:
    if sample.tokens:
        return sample.tokens
    if processor is not None and sample.multimodal_inputs:
        return list(processor(text=sample.prompt, **sample.multimodal_inputs)["input_ids"][0])
    return tokenizer.encode(sample.prompt, add_special_tokens=False)


def get_model_url(
    args: Namespace, model_name: str, endpoint: str = "/inference/v1/generate"
) -> str:
    """Where a model is served: its own router if ``--vllm-config`` gives it one, else the one router there is."""
    ip, port = (getattr(args, "vllm_model_routers", None) or {}).get(
        model_name, (args.vllm_router_ip, args.vllm_router_port)
    )
    return f"http://{ip}:{port}{endpoint}"


class GenerateState(metaclass=SingletonMeta):
    """What the requests of one process share: tokenizer, sampling parameters, the limit on requests in flight."""

    def __init__(self, args: Namespace) -> None:
        self.args = args
        self.tokenizer = load_tokenizer(args.hf_checkpoint, trust_remote_code=True)
        self.processor = load_processor(args.hf_checkpoint, trust_remote_code=True)
        num_engines = args.rollout_num_gpus // args.rollout_num_gpus_per_engine
        self.semaphore = asyncio.Semaphore(args.vllm_server_concurrency * num_engines)
        self.sampling_params: dict[str, Any] = {
            "max_new_tokens": args.rollout_max_response_len,
            "temperature": args.rollout_temperature,
            "top_k": args.rollout_top_k,
            "top_p": args.rollout_top_p,
            "stop": args.rollout_stop,
            "stop_token_ids": args.rollout_stop_token_ids,
            "spaces_between_special_tokens": False,
            "no_stop_trim": True,
        }
        self.reset()

    def reset(self) -> None:
        self.aborted = False
        self.pendings: set[asyncio.Task] = set()
        self.remaining_batch_size = 0

    def submit_generate_tasks(self, groups: list[list[Sample]]) -> None:
        for group in groups:
            self.pendings.add(
                asyncio.create_task(
                    generate_and_rm_group(self.args, group, dict(self.sampling_params))
                )
            )
        self.remaining_batch_size += len(groups)


def _build_sampling_params(sampling_params: dict[str, Any]) -> dict[str, Any]:
    """vLLM's names for the rollout's sampling parameters; the sampled tokens' log probs are always asked for."""
    params = {"max_tokens": sampling_params["max_new_tokens"], "logprobs": 1}
    for same in ("temperature", "top_p", "min_p", "stop", "stop_token_ids", "repetition_penalty"):
        if sampling_params.get(same) is not None:
            params[same] = sampling_params[same]
    if (sampling_params.get("top_k") or -1) > 0:
        params["top_k"] = sampling_params["top_k"]
    if sampling_params.get("sampling_seed") is not None:
        params["seed"] = sampling_params["sampling_seed"]
    if sampling_params.get("min_new_tokens"):
        params["min_tokens"] = sampling_params["min_new_tokens"]
    for ours, theirs in (
        ("no_stop_trim", "include_stop_str_in_output"),
        ("skip_special_tokens", "skip_special_tokens"),
        ("spaces_between_special_tokens", "spaces_between_special_tokens"),
    ):
        if ours in sampling_params:
            params[theirs] = bool(sampling_params[ours])
    return params


def _meta_info(choice: dict[str, Any], usage: dict[str, Any] | None) -> dict[str, Any]:
    """What Sample.update_from_meta_info reads, from a finished choice; the last weight version counts."""
    usage = usage or {}
    meta: dict[str, Any] = {"finish_reason": {"type": choice["finish_reason"]}}
    meta["prompt_tokens"] = usage.get("prompt_tokens", 0)
    meta["completion_tokens"] = usage.get("completion_tokens", 0)
    meta["cached_tokens"] = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    if choice.get("weight_versions"):
        meta["weight_version"] = choice["weight_versions"][-1]["version"]
    return meta


async def generate(args: Namespace, sample: Sample, sampling_params: dict[str, Any]) -> Sample:
    """One request to the vLLM router, tokens in and tokens out."""
    assert sample.status in (
        Sample.Status.PENDING,
        Sample.Status.ABORTED,
    ), f"cannot go on from {sample.status}"
    if (sample.multimodal_inputs or {}).get("images"):
        raise NotImplementedError("the token route takes no images")
    state = GenerateState(args)
    url = f"http://{args.vllm_router_ip}:{args.vllm_router_port}/inference/v1/generate"
    prompt_ids = _prepare_prompt_ids(sample, state.tokenizer, state.processor)

    budget = sampling_params["max_new_tokens"] - sample.response_length
    if budget <= 0:
        sample.status = Sample.Status.TRUNCATED
        return sample

    payload = {
        "token_ids": prompt_ids,
        "sampling_params": _build_sampling_params({**sampling_params, "max_new_tokens": budget}),
    }
    headers = None
    if sample.session_id and args.router_policy == "consistent_hash":
        headers = {"x-session-id": sample.session_id}

    with trace_span(sample, "vllm_generate", attrs={"max_new_tokens": budget}) as span:
        output = await post(url, payload, headers=headers)
        choice = output["choices"][0]
        meta = _meta_info(choice, output.get("usage"))
        span.update(build_vllm_meta_trace_attrs(meta))

    new_tokens = list(choice["token_ids"])
    new_log_probs = [
        item["logprob"] for item in (choice.get("logprobs") or {}).get("content") or []
    ]
    assert len(new_tokens) == len(new_log_probs), "vLLM gave tokens without their log probs"

    sample.tokens = list(sample.tokens or prompt_ids) + new_tokens
    sample.response += state.tokenizer.decode(new_tokens) if new_tokens else ""
    sample.response_length += len(new_tokens)
    sample.rollout_log_probs = (sample.rollout_log_probs or []) + new_log_probs
    if sample.loss_mask is not None:
        sample.loss_mask += [1] * len(new_tokens)

    sample.update_from_meta_info(args, meta)
    return sample


@trace_function("generate_and_rm", target="sample")
async def generate_and_rm(
    args: Namespace, sample: Sample, sampling_params: dict[str, Any], evaluation: bool = False
) -> Sample | list[Sample]:
    if sample.status in (Sample.Status.COMPLETED, Sample.Status.TRUNCATED):
        return sample

    state = GenerateState(args)
    async with state.semaphore:
        if state.aborted:
            sample.status = Sample.Status.ABORTED
            return sample
        path = sample.generate_function_path or args.custom_generate_function_path
        func = generate if path is None else load_function(path)
        extra = (
            {"evaluation": evaluation} if "evaluation" in inspect.signature(func).parameters else {}
        )
        output = await func(args, sample, sampling_params, **extra)

    samples = output if isinstance(output, list) else [output]
    if any(one.status == Sample.Status.ABORTED for one in samples):
        return output
    unrewarded = [one for one in samples if one.reward is None]
    with trace_span(unrewarded, "reward_model"):
        for one, reward in zip(unrewarded, await batched_async_rm(args, unrewarded), strict=True):
            one.reward = reward
    return output


@trace_function("generate_and_rm_group", target="group")
async def generate_and_rm_group(
    args: Namespace, group: list[Sample], sampling_params: dict[str, Any], evaluation: bool = False
) -> list[Sample]:
    state = GenerateState(args)
    if state.aborted:
        return group

    tasks = []
    for i, sample in enumerate(group):
        sample.session_id = sample.session_id or str(uuid.uuid4())
        params = dict(sampling_params)
        if getattr(args, "vllm_enable_deterministic_inference", False):
            params["sampling_seed"] = args.rollout_seed + i
        tasks.append(
            asyncio.create_task(generate_and_rm(args, sample, params, evaluation=evaluation))
        )
    return await asyncio.gather(*tasks)


async def abort(args: Namespace, rollout_id: int) -> list[list[Sample]]:
    """Stop everything in flight; with partial rollout, what was cut is handed back to go on with."""
    state = GenerateState(args)
    state.aborted = True

    response = await get(f"http://{args.vllm_router_ip}:{args.vllm_router_port}/workers")
    urls = [worker["url"] for worker in response["workers"]]
    logger.info(f"rollout {rollout_id}: abort what {len(urls)} engines work on")
    await asyncio.gather(*(post(f"{url}/abort_requests", {}) for url in urls))

    cut = []
    while state.pendings:
        done, state.pendings = await asyncio.wait(
            state.pendings, return_when=asyncio.FIRST_COMPLETED
        )
        if args.partial_rollout:
            cut += [task.result() for task in done]
    for group in cut:
        for sample in group:
            sample.metadata.setdefault("start_rollout_id", rollout_id)
    return cut


async def generate_rollout_async(args: Namespace, rollout_id: int, data_source):
    """Generate until ``rollout_batch_size`` groups have passed the filter, then abort the rest."""
    state = GenerateState(args)
    dynamic_filter = (
        load_function(args.dynamic_sampling_filter_path)
        if args.dynamic_sampling_filter_path
        else None
    )
    metrics = MetricGatherer()

    data: list[list[Sample]] = []
    while len(data) < args.rollout_batch_size:
        while state.remaining_batch_size < args.rollout_batch_size:
            state.submit_generate_tasks(data_source.get_samples(args.over_sampling_batch_size))
        done, state.pendings = await asyncio.wait(
            state.pendings, return_when=asyncio.FIRST_COMPLETED
        )
        for task in done:
            group = task.result()
            verdict = call_dynamic_filter(dynamic_filter, args, group)
            if not verdict.keep:
                metrics.on_dynamic_filter_drop(verdict.reason)
                state.remaining_batch_size -= 1
            elif len(data) < args.rollout_batch_size:
                data.append(group)
            else:
                data_source.add_samples([group])

    cut = await abort(args, rollout_id)
    state.reset()
    data.sort(key=lambda group: group[0].index)
    return RolloutFnTrainOutput(samples=data, metrics=metrics.collect()), cut


async def eval_rollout_single_dataset(
    args: Namespace, rollout_id: int, config: EvalDatasetConfig
) -> dict[str, Any]:
    state = GenerateState(args)
    dataset = Dataset(
        config.path, state.tokenizer, prompt_key=args.input_key, label_key=args.label_key
    )
    params = config.sampling_params(state.sampling_params)
    repeats = config.n_samples_per_eval_prompt
    prompts = [
        Sample(prompt=p.prompt, label=p.label) for p in dataset.samples for _ in range(repeats)
    ]
    samples = await asyncio.gather(
        *(generate_and_rm(args, prompt, params, evaluation=True) for prompt in prompts)
    )
    return {"rewards": [sample.get_reward_value(args) for sample in samples], "samples": samples}


async def eval_rollout(args: Namespace, rollout_id: int) -> RolloutFnEvalOutput:
    configs = getattr(args, "eval_datasets", None) or []
    results = await asyncio.gather(
        *(eval_rollout_single_dataset(args, rollout_id, config) for config in configs)
    )
    return RolloutFnEvalOutput(
        data={config.name: result for config, result in zip(configs, results, strict=True)}
    )


def generate_rollout(args: Namespace, rollout_id: int, data_source: Any, evaluation: bool = False):
    """The default of ``--rollout-function-path``."""
    if evaluation:
        return run(eval_rollout(args, rollout_id))
    output, cut = run(generate_rollout_async(args, rollout_id, data_source))
    if cut:
        data_source.add_samples(cut)
    return output
