import asyncio
import inspect
import logging
import uuid
from argparse import Namespace
from typing import Any

from slime.rollout.base_types import RolloutFnEvalOutput, RolloutFnTrainOutput
from slime.rollout.filter_hub.base_types import MetricGatherer, call_dynamic_filter
from slime.utils.async_utils import run
from slime.utils.data import Dataset
from slime.utils.eval_config import EvalDatasetConfig
from slime.utils.http_utils import get, post
from slime.utils.misc import SingletonMeta, load_function
from slime.utils.processing_utils import encode_image_for_rollout_engine, load_processor, load_tokenizer
from slime.utils.trace_utils import build_sglang_meta_trace_attrs, trace_function, trace_span
from slime.utils.types import Sample

from .rm_hub import batched_async_rm

__all__ = ["generate_rollout", "get_model_url"]

logger = logging.getLogger(__name__)


def _prepare_prompt_ids(sample: Sample, tokenizer, processor: Any) -> list[int]:
    if sample.tokens:
        return sample.tokens
    if processor is not None and sample.multimodal_inputs:
        return list(processor(text=sample.prompt, **sample.multimodal_inputs)["input_ids"][0])
    return tokenizer.encode(sample.prompt, add_special_tokens=False)


def get_model_url(args: Namespace, model_name: str, endpoint: str = "/generate") -> str:
    """Where a model is served: its own router if ``--sglang-config`` gives it one, else the one router there is."""
    ip, port = (getattr(args, "sglang_model_routers", None) or {}).get(
        model_name, (args.sglang_router_ip, args.sglang_router_port)
    )
    return f"http://{ip}:{port}{endpoint}"


class GenerateState(metaclass=SingletonMeta):
    """What the requests of one process share: tokenizer, sampling parameters, the limit on requests in flight."""

    def __init__(self, args: Namespace) -> None:
        self.args = args
        self.tokenizer = load_tokenizer(args.hf_checkpoint, trust_remote_code=True)
        self.processor = load_processor(args.hf_checkpoint, trust_remote_code=True)
        num_engines = args.rollout_num_gpus // args.rollout_num_gpus_per_engine
        self.semaphore = asyncio.Semaphore(args.sglang_server_concurrency * num_engines)
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
            self.pendings.add(asyncio.create_task(generate_and_rm_group(self.args, group, dict(self.sampling_params))))
        self.remaining_batch_size += len(groups)


async def generate(args: Namespace, sample: Sample, sampling_params: dict[str, Any]) -> Sample:
    """One request to the SGLang router, tokens in and tokens out."""
    assert sample.status in (Sample.Status.PENDING, Sample.Status.ABORTED), f"cannot go on from {sample.status}"
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    prompt_ids = _prepare_prompt_ids(sample, state.tokenizer, state.processor)

    budget = sampling_params["max_new_tokens"] - sample.response_length
    if budget <= 0:
        sample.status = Sample.Status.TRUNCATED
        return sample

    payload: dict[str, Any] = {"sampling_params": {**sampling_params, "max_new_tokens": budget}}
    payload["return_logprob"] = True
    images = (sample.multimodal_inputs or {}).get("images")
    if images:
        # SGLang puts the image tokens in by itself, so it gets the text.
        payload["text"] = sample.prompt
        payload["image_data"] = [encode_image_for_rollout_engine(image) for image in images]
    else:
        payload["input_ids"] = prompt_ids

    headers = None
    if sample.session_id and args.router_policy == "consistent_hashing":
        headers = {"X-SMG-Routing-Key": sample.session_id}

    with trace_span(sample, "sglang_generate", attrs={"max_new_tokens": budget}) as span:
        output = await post(url, payload, headers=headers)
        span.update(build_sglang_meta_trace_attrs(output["meta_info"]))

    pairs = output["meta_info"].get("output_token_logprobs") or []
    new_tokens = [item[1] for item in pairs]
    new_log_probs = [item[0] for item in pairs]

    sample.tokens = list(sample.tokens or prompt_ids) + new_tokens
    sample.response += output["text"]
    sample.response_length += len(new_tokens)
    sample.rollout_log_probs = (sample.rollout_log_probs or []) + new_log_probs
    if sample.loss_mask is not None:
        sample.loss_mask += [1] * len(new_tokens)

    sample.update_from_meta_info(args, output["meta_info"])
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
        extra = {"evaluation": evaluation} if "evaluation" in inspect.signature(func).parameters else {}
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
        if getattr(args, "sglang_enable_deterministic_inference", False):
            params["sampling_seed"] = args.rollout_seed + i
        tasks.append(asyncio.create_task(generate_and_rm(args, sample, params, evaluation=evaluation)))
    return await asyncio.gather(*tasks)


async def abort(args: Namespace, rollout_id: int) -> list[list[Sample]]:
    """Stop everything in flight; with partial rollout, what was cut is handed back to go on with."""
    state = GenerateState(args)
    state.aborted = True

    response = await get(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/workers")
    urls = [worker["url"] for worker in response["workers"]]
    logger.info(f"rollout {rollout_id}: abort what {len(urls)} engines work on")
    await asyncio.gather(*(post(f"{url}/abort_request", {"abort_all": True}) for url in urls))

    cut = []
    while state.pendings:
        done, state.pendings = await asyncio.wait(state.pendings, return_when=asyncio.FIRST_COMPLETED)
        if args.partial_rollout:
            cut += [task.result() for task in done]
    for group in cut:
        for sample in group:
            sample.metadata.setdefault("start_rollout_id", rollout_id)
    return cut


async def generate_rollout_async(args: Namespace, rollout_id: int, data_source):
    """Generate until ``rollout_batch_size`` groups have passed the filter, then abort the rest."""
    state = GenerateState(args)
    dynamic_filter = load_function(args.dynamic_sampling_filter_path) if args.dynamic_sampling_filter_path else None
    metrics = MetricGatherer()

    data: list[list[Sample]] = []
    while len(data) < args.rollout_batch_size:
        while state.remaining_batch_size < args.rollout_batch_size:
            state.submit_generate_tasks(data_source.get_samples(args.over_sampling_batch_size))
        done, state.pendings = await asyncio.wait(state.pendings, return_when=asyncio.FIRST_COMPLETED)
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


async def eval_rollout_single_dataset(args: Namespace, rollout_id: int, config: EvalDatasetConfig) -> dict[str, Any]:
    state = GenerateState(args)
    dataset = Dataset(config.path, state.tokenizer, prompt_key=args.input_key, label_key=args.label_key)
    params = config.sampling_params(state.sampling_params)
    repeats = config.n_samples_per_eval_prompt
    prompts = [Sample(prompt=p.prompt, label=p.label) for p in dataset.samples for _ in range(repeats)]
    samples = await asyncio.gather(*(generate_and_rm(args, prompt, params, evaluation=True) for prompt in prompts))
    return {"rewards": [sample.get_reward_value(args) for sample in samples], "samples": samples}


async def eval_rollout(args: Namespace, rollout_id: int) -> RolloutFnEvalOutput:
    configs = getattr(args, "eval_datasets", None) or []
    results = await asyncio.gather(*(eval_rollout_single_dataset(args, rollout_id, config) for config in configs))
    return RolloutFnEvalOutput(data={config.name: result for config, result in zip(configs, results, strict=True)})


def generate_rollout(args: Namespace, rollout_id: int, data_source: Any, evaluation: bool = False):
    """The default of ``--rollout-function-path``."""
    if evaluation:
        return run(eval_rollout(args, rollout_id))
    output, cut = run(generate_rollout_async(args, rollout_id, data_source))
    if cut:
        data_source.add_samples(cut)
    return output
