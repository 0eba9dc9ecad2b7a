"""Generate samples with vLLM engines behind a router: one request, one sample, one group.

The loop around it (`generate_rollout`, evaluation) is not part of this version.
"""

import asyncio
import inspect
import logging
import random
import uuid
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from vime.backends.vllm_utils.seam import generate_request, read_answer
from vime.observability.trace_utils import build_vllm_meta_trace_attrs, trace_function, trace_span
from vime.rollout.rm_hub import async_rm, batched_async_rm
from vime.utils.http_utils import get, get_rollout_num_engines, post
from vime.utils.misc import load_function
from vime.utils.per_loop import PerLoopMeta
from vime.utils.processing_utils import build_processor_kwargs, load_processor, load_tokenizer
from vime.utils.types import Sample

__all__ = ["GenerateState", "abort", "generate", "generate_and_rm", "generate_and_rm_group", "get_model_url"]

logger = logging.getLogger(__name__)

GENERATE_ENDPOINT = "/inference/v1/generate"
_PROMPT_KEYS = frozenset({"input_ids", "attention_mask"})
_ABORT_AGAIN_AFTER = 1.0
"""Seconds."""


def get_model_url(args: Namespace, model_name: str, endpoint: str = GENERATE_ENDPOINT) -> str:
    """Where to reach the model called `model_name`: its own router, or the common one where it has none."""
    routers = getattr(args, "vllm_model_routers", None) or {}
    host, port = routers.get(model_name) or (args.vllm_router_ip, args.vllm_router_port)
    return f"http://{host}:{port}{endpoint}"


class GenerateState(metaclass=PerLoopMeta):
    """What the requests of one run share: `GenerateState(args)` gives the running event loop's."""

    def __init__(self, args: Namespace) -> None:
        self.args = args
        self.tokenizer = load_tokenizer(args.hf_checkpoint, trust_remote_code=True)
        self.processor = load_processor(args.hf_checkpoint, trust_remote_code=True)
        self.semaphore = asyncio.Semaphore(args.vllm_server_concurrency * max(1, get_rollout_num_engines(args)))
        self.sampling_params = _sampling_params(args)
        self.group_sampling_seeds: list[int] | None = None
        if getattr(args, "vllm_enable_deterministic_inference", False):
            self.group_sampling_seeds = [args.rollout_seed + i for i in range(args.n_samples_per_prompt)]
        self.dp_counts = [0] * (getattr(args, "vllm_dp_size", None) or 1)
        self.dp_rank = 0
        self.reset()

    def reset(self) -> None:
        """Ready for the next rollout."""
        self.remaining_batch_size = 0
        self.pendings: set[asyncio.Task] = set()
        self.aborted = False

    @contextmanager
    def dp_rank_context(self) -> Iterator[int]:
        """One of the data-parallel ranks with the fewest requests, counted as busy inside the block."""
        fewest = min(self.dp_counts)
        rank = random.choice([rank for rank, count in enumerate(self.dp_counts) if count == fewest])
        self.dp_counts[rank] += 1
        self.dp_rank = rank
        try:
            yield rank
        finally:
            self.dp_counts[rank] -= 1

    def submit_generate_tasks(self, samples: list[list[Sample]]) -> None:
        """Start generating, a task a group; the tasks are in `pendings`."""
        for group in samples:
            work = generate_and_rm_group(self.args, group, sampling_params=self.sampling_params.copy())
            self.pendings.add(asyncio.create_task(work))
        self.remaining_batch_size += len(samples)


def _sampling_params(args: Namespace) -> dict[str, Any]:
    # The names are those that rollout functions share; they become vLLM's where a request is built.
    # With a nucleus the trainer must know which ids were in it.
    kept_ids = {} if args.rollout_top_p == 1.0 else {"custom_params": {"return_top_p_token_ids": True}}
    return {
        **kept_ids,
        "temperature": args.rollout_temperature,
        "top_p": args.rollout_top_p,
        "top_k": args.rollout_top_k,
        "max_new_tokens": args.rollout_max_response_len,
        # Where it ends, and what of that shows in the text.
        "stop": args.rollout_stop,
        "stop_token_ids": args.rollout_stop_token_ids,
        "no_stop_trim": True,
        "skip_special_tokens": args.rollout_skip_special_tokens,
        "spaces_between_special_tokens": False,
    }


def _prepare_prompt_ids(sample: Sample, tokenizer: Any, processor: Any) -> list[int]:
    """The token ids to go on from: those the sample has, else its prompt's, through the processor if it has images."""
    multimodal = {key: value for key, value in (sample.multimodal_inputs or {}).items() if value is not None}
    if sample.tokens and (not multimodal or sample.multimodal_train_inputs is not None):
        return sample.tokens
    if not (processor and multimodal):
        return tokenizer.encode(sample.prompt, add_special_tokens=False)
    processed = processor(text=sample.prompt, **build_processor_kwargs(sample.multimodal_inputs))
    if sample.multimodal_train_inputs is None:
        sample.multimodal_train_inputs = {k: v for k, v in processed.items() if k not in _PROMPT_KEYS} or None
    return processed["input_ids"][0]


async def generate(args: Namespace, sample: Sample, sampling_params: dict[str, Any]) -> Sample:
    """Generate a sample's response, or the rest of one that was aborted, with one request.

    `sampling_params["max_new_tokens"]` is for the whole response: what the sample has is counted, and nothing is asked
    for where none are left. The parameters are not changed. Raises UnsupportedRequest for images.
    """
    if sample.status not in (Sample.Status.PENDING, Sample.Status.ABORTED):
        raise ValueError(f"sample {sample.index} is {sample.status.value}; only a pending or aborted one goes on")
    state = GenerateState(args)
    prompt_ids = _prepare_prompt_ids(sample, state.tokenizer, state.processor)
    left = sampling_params["max_new_tokens"] - sample.response_length
    if left < 0:
        raise ValueError(f"sample {sample.index} has {-left} response tokens more than max_new_tokens allows")
    if left == 0:
        sample.status = Sample.Status.TRUNCATED
        return sample

    images = (sample.multimodal_inputs or {}).get("images")
    request = generate_request(
        {
            "input_ids": prompt_ids,
            "sampling_params": {**sampling_params, "max_new_tokens": left},
            "return_logprob": True,
            "return_routed_experts": args.use_rollout_routing_replay,
            "image_data": images,
        }
    )
    url = f"http://{args.vllm_router_ip}:{args.vllm_router_port}{GENERATE_ENDPOINT}"
    sample.tokens = sample.tokens or list(prompt_ids)
    with trace_span(sample, "vllm_generate", attrs={"max_new_tokens": left}) as span:
        answer = read_answer(await post(url, request, headers=_affinity(args, sample)), request)
        span.update(build_vllm_meta_trace_attrs(answer["meta_info"]))
    sample.append_response_tokens(
        args, tokens=answer.token_ids, log_probs=answer.log_probs, meta_info=answer["meta_info"], text=answer.text
    )
    return sample


def _affinity(args: Namespace, sample: Sample) -> dict[str, str] | None:
    """The header by which the router keeps a sample's requests on one engine, so that its prefix is cached there."""
    if sample.session_id and getattr(args, "router_policy", None) == "consistent_hash":
        return {"x-session-id": sample.session_id}
    return None


@trace_function("generate_and_rm", target="sample")
async def generate_and_rm(
    args: Namespace, sample: Sample, sampling_params: dict[str, Any], evaluation: bool = False
) -> Sample | list[Sample]:
    """Generate one sample and reward it, unless the reward is the whole group's business.

    The generate function may fan out into several samples. A sample that is complete already comes back as it is.
    """
    if args.partial_rollout and args.mask_offpolicy_in_partial_rollout and sample.response_length > 0:
        # What an earlier policy generated is not trained on.
        sample.loss_mask = [0] * sample.response_length
    if sample.status in (Sample.Status.COMPLETED, Sample.Status.TRUNCATED):
        if sample.reward is None and not args.group_rm:
            raise ValueError(f"sample {sample.index} is {sample.status.value} and has no reward")
        return sample

    state = GenerateState(args)
    async with state.semaphore:
        if state.aborted:
            sample.status = Sample.Status.ABORTED
            return sample
        with state.dp_rank_context():
            generated = await _generate_by_choice(args, sample, sampling_params, evaluation)
    if not args.group_rm:
        await _reward(args, generated)
    return generated


@trace_function(
    "generate_and_rm_group",
    target="group",
    attrs_getter=lambda args, group, *_, **__: {"group_size": len(group)},
)
async def generate_and_rm_group(
    args: Namespace, group: list[Sample], sampling_params: dict[str, Any], evaluation: bool = False
) -> list[Sample] | list[list[Sample]]:
    """Generate a group's samples at once; a list for each sample whose generate function fans out."""
    state = GenerateState(args)
    if state.aborted:
        return group
    tasks = []
    for position, sample in enumerate(group):
        sample.session_id = sample.session_id or str(uuid.uuid4())
        own_params = sampling_params.copy()
        if state.group_sampling_seeds is not None:
            own_params["sampling_seed"] = state.group_sampling_seeds[position]
        tasks.append(asyncio.create_task(generate_and_rm(args, sample, own_params, evaluation=evaluation)))
    generated = await asyncio.gather(*tasks)
    if args.group_rm and not state.aborted:
        with trace_span(generated, "group_reward_model"):
            rewards = await batched_async_rm(args, generated)
        for sample, reward in zip(generated, rewards, strict=True):
            sample.reward = reward
    return generated


async def abort(args: Namespace, rollout_id: int) -> list[list[Sample]]:
    """Cut every running generation short and wait until all are back.

    The groups come back for the next rollout where partial rollout is on; otherwise the list is empty. A task that
    failed raises, after the others are back.
    """
    state = GenerateState(args)
    state.aborted = True
    answer = await get(f"http://{args.vllm_router_ip}:{args.vllm_router_port}/workers")
    urls = [worker["url"] for worker in answer["workers"]]
    finished: list[asyncio.Task] = []
    while True:
        await _abort_engines(urls)
        if not state.pendings:
            break
        # A request may reach its engine just after the engines were told, hence again until nothing runs.
        done, state.pendings = await asyncio.wait(state.pendings, timeout=_ABORT_AGAIN_AFTER)
        finished += done
    groups = [task.result() for task in finished]
    if not args.partial_rollout:
        return []
    for sample in (sample for group in groups for sample in _flat(group)):
        if sample.response:
            sample.metadata.setdefault("start_rollout_id", rollout_id)
    return groups


async def _abort_engines(urls: list[str]) -> None:
    results = await asyncio.gather(*(post(f"{url}/abort_requests", {}) for url in urls), return_exceptions=True)
    for url, result in zip(urls, results, strict=True):
        if isinstance(result, Exception):
            logger.warning("engine %s was not told to abort: %s", url, result)


async def _generate_by_choice(
    args: Namespace, sample: Sample, sampling_params: dict[str, Any], evaluation: bool
) -> Sample | list[Sample]:
    path = sample.generate_function_path or args.custom_generate_function_path
    if path is None:
        return await generate(args, sample, sampling_params)
    function = load_function(path)
    extra = {"evaluation": evaluation} if "evaluation" in inspect.signature(function).parameters else {}
    return await function(args, sample, sampling_params, **extra)


async def _reward(args: Namespace, generated: Sample | list[Sample]) -> None:
    """Reward what has no reward yet. A rollout that was aborted, in any part, goes back instead."""
    samples = _flat(generated)
    if any(sample.status is Sample.Status.ABORTED for sample in samples):
        return
    waiting = [sample for sample in samples if sample.reward is None]
    if not waiting:
        return
    with trace_span(waiting, "reward_model"):
        if isinstance(generated, list):
            rewards = await batched_async_rm(args, waiting)
        else:
            rewards = [await async_rm(args, generated)]
    for sample, reward in zip(waiting, rewards, strict=True):
        sample.reward = reward


def _flat(samples: Any) -> list[Sample]:
    return [leaf for item in samples for leaf in _flat(item)] if isinstance(samples, list) else [samples]
