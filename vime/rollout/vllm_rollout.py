"""The default rollout function: samples from vLLM engines behind a router, rewarded, filtered, group by group.

The names that rollout code imports, bound to what the running event loop shares; the parts are in modules of their own:
`engine_call` (asking an engine), `collect` (a rollout), `stopping`, `evaluate`, `rewarding`.
"""

import asyncio
import inspect
import random
import uuid
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from vime.backends.vllm_utils.seam import generate_request, read_answer
from vime.observability.trace_utils import build_vllm_meta_trace_attrs, trace_function, trace_span
from vime.rollout import collect, evaluate
from vime.rollout.base_types import RolloutFnEvalOutput, RolloutFnTrainOutput
from vime.rollout.engine_call import Patience, affinity, ask
from vime.rollout.groups import Group, leaves
from vime.rollout.hooks import with_rules
from vime.rollout.keeping import is_cut_short
from vime.rollout.prompt_ids import prepare_prompt_ids, prompt_encoder, tokens_left, training_sampling_params
from vime.rollout.refusals import as_generate_does
from vime.rollout.rewarding import RewardRunner
from vime.rollout.sample_hooks import apply_rollout_sample_hooks
from vime.rollout.seeds import request_seed
from vime.rollout.stopping import stop
from vime.rollout.together import together
from vime.utils.async_utils import run
from vime.utils.eval_config import EvalDatasetConfig, eval_datasets
from vime.utils.http_utils import get_rollout_num_engines, post
from vime.utils.misc import load_function
from vime.utils.per_loop import PerLoopMeta
from vime.utils.processing_utils import load_processor, load_tokenizer
from vime.utils.types import Sample

__all__ = [
    "GenerateState",
    "abort",
    "eval_rollout",
    "eval_rollout_single_dataset",
    "generate",
    "generate_and_rm",
    "generate_and_rm_group",
    "generate_rollout",
    "generate_rollout_async",
    "get_model_url",
]

GENERATE_ENDPOINT = "/inference/v1/generate"
_prepare_prompt_ids = prepare_prompt_ids


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
        self.encode = prompt_encoder(self.tokenizer)
        at_once = args.vllm_server_concurrency * max(1, get_rollout_num_engines(args))
        self.semaphore = asyncio.Semaphore(at_once)
        self.eval_semaphore = asyncio.Semaphore(at_once)
        self.eval_data: dict[Any, Any] = {}
        self.sampling_params = training_sampling_params(args)
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

    def submit_generate_tasks(self, samples: list[Group]) -> list[asyncio.Task]:
        """Start generating, a task a group; the tasks are in `pendings` too."""
        tasks = [
            asyncio.create_task(
                generate_and_rm_group(self.args, group, sampling_params=self.sampling_params.copy(), evaluation=False)
            )
            for group in samples
        ]
        self.pendings.update(tasks)
        self.remaining_batch_size += len(samples)
        return tasks


async def generate(args: Namespace, sample: Sample, sampling_params: dict[str, Any]) -> Sample:
    """Generate a sample's response, or the rest of one that was aborted, with one request.

    `sampling_params["max_new_tokens"]` is for the whole response: what the sample has is counted, and nothing is asked
    for where none are left. The parameters are not changed. Raises UnsupportedRequest for images, HttpStatusError for a
    request that the engine refuses, GenerationFailed where no engine answers (see vime.rollout.engine_call).
    """
    if sample.status not in (Sample.Status.PENDING, Sample.Status.ABORTED):
        raise ValueError(f"sample {sample.index} is {sample.status.value}; only a pending or aborted one goes on")
    state = GenerateState(args)
    prompt_ids = _prepare_prompt_ids(sample, state.tokenizer, state.processor, state.encode)
    left = tokens_left(args, sample, len(prompt_ids), sampling_params["max_new_tokens"])
    if left == 0:
        sample.status = Sample.Status.TRUNCATED
        return sample

    request = generate_request(
        {
            "input_ids": prompt_ids,
            "sampling_params": {**sampling_params, "max_new_tokens": left},
            "return_logprob": True,
            "return_routed_experts": args.use_rollout_routing_replay,
            "image_data": (sample.multimodal_inputs or {}).get("images"),
        }
    )
    url = f"http://{args.vllm_router_ip}:{args.vllm_router_port}{GENERATE_ENDPOINT}"
    sample.tokens = sample.tokens or list(prompt_ids)
    with trace_span(sample, "vllm_generate", attrs={"max_new_tokens": left}) as span:
        raw = await ask(
            post, url, request, headers=affinity(args, sample), patience=Patience.of(args), sample=sample.index
        )
        answer = read_answer(raw, request)
        span.update(build_vllm_meta_trace_attrs(answer["meta_info"]))
    sample.append_response_tokens(
        args, tokens=answer.token_ids, log_probs=answer.log_probs, meta_info=answer["meta_info"], text=answer.text
    )
    return sample


@trace_function("generate_and_rm", target="sample")
async def generate_and_rm(
    args: Namespace, sample: Sample, sampling_params: dict[str, Any], evaluation: bool = False
) -> Sample | list[Sample]:
    """Generate one sample and reward it, unless the reward is the whole group's business.

    The generate function may fan out into several samples. A sample that is complete already comes back as it is.
    """
    if sample.status in (Sample.Status.COMPLETED, Sample.Status.TRUNCATED):
        if sample.reward is None and not args.group_rm:
            raise ValueError(f"sample {sample.index} is {sample.status.value} and has no reward")
        return sample
    if args.partial_rollout and args.mask_offpolicy_in_partial_rollout and sample.response_length > 0:
        # It is gone on with: what an earlier policy generated is not trained on.
        sample.loss_mask = [0] * sample.response_length

    state = GenerateState(args)
    async with state.eval_semaphore if evaluation else state.semaphore:
        if state.aborted and not evaluation:
            sample.status = Sample.Status.ABORTED
            return sample
        with state.dp_rank_context():
            generated = await _generate_by_choice(args, sample, sampling_params, evaluation)
    generated = await apply_rollout_sample_hooks(args, generated, evaluation=evaluation)
    if not args.group_rm:
        await _reward(args, generated)
    return generated


@trace_function(
    "generate_and_rm_group",
    target="group",
    attrs_getter=lambda args, group, *_, **__: {"group_size": len(group)},
)
async def generate_and_rm_group(
    args: Namespace, group: Group, sampling_params: dict[str, Any], evaluation: bool = False
) -> list[Sample] | list[list[Sample]]:
    """Generate a group's samples at once; a list for each sample whose generate function fans out.

    Where one of them fails the others are cancelled, and what it raised is raised.
    """
    state = GenerateState(args)
    if state.aborted and not evaluation:
        return group
    generated = await together(
        _one_of_group(args, position, item, sampling_params, evaluation) for position, item in enumerate(group)
    )
    if args.group_rm and not (state.aborted or is_cut_short(generated)):
        with trace_span(generated, "group_reward_model"):
            await RewardRunner(args).reward_group(args, leaves(generated))
    return generated


async def _one_of_group(
    args: Namespace, position: int, item: Any, sampling_params: dict[str, Any], evaluation: bool
) -> Sample | list[Sample]:
    if isinstance(item, list):
        # Fanned out and complete, in an earlier rollout.
        return item
    item.session_id = item.session_id or str(uuid.uuid4())
    own_params = sampling_params.copy()
    if (seed := request_seed(args, item, position, evaluation)) is not None:
        own_params["sampling_seed"] = seed
    return await generate_and_rm(args, item, own_params, evaluation=evaluation)


async def _generate_by_choice(
    args: Namespace, sample: Sample, sampling_params: dict[str, Any], evaluation: bool
) -> Sample | list[Sample]:
    path = sample.generate_function_path or args.custom_generate_function_path
    if path is None:
        return await generate(args, sample, sampling_params)
    function = load_function(path)
    extra = {"evaluation": evaluation} if _takes_evaluation(function) else {}
    return await function(args, sample, sampling_params, **extra)


@lru_cache(maxsize=16)
def _takes_evaluation(function: Callable[..., Any]) -> bool:
    return "evaluation" in inspect.signature(function).parameters


async def _reward(args: Namespace, generated: Sample | list[Sample]) -> None:
    """Reward what has no reward yet. A rollout that was aborted, in any part, goes back instead."""
    samples = leaves(generated)
    waiting = [sample for sample in samples if sample.reward is None]
    if is_cut_short(samples) or not waiting:
        return
    with trace_span(waiting, "reward_model"):
        if isinstance(generated, list):
            await RewardRunner(args).reward_group(args, waiting)
        else:
            await RewardRunner(args).reward_one(args, generated)


async def abort(args: Namespace, rollout_id: int) -> list[Group]:
    """Cut every running generation short and wait until all are back.

    The groups come back for the next rollout where partial rollout is on; otherwise the list is empty. A task that
    failed raises, after the others are back.
    """
    finished = await stop(args, GenerateState(args))
    groups = [task.result() for task in finished]
    if not args.partial_rollout:
        return []
    for sample in leaves(groups):
        if sample.response:
            sample.metadata.setdefault("start_rollout_id", rollout_id)
    return groups


async def generate_rollout_async(
    args: Namespace, rollout_id: int, data_source: Callable[[int], list[Group]]
) -> tuple[RolloutFnTrainOutput, list[Group]]:
    """Groups to train on, `args.rollout_batch_size` of them, and those that go back to the data source.

    `data_source` is its `get_samples`. Where something fails, everything that was asked for goes back at once and what
    was raised is raised.
    """
    state = GenerateState(args)
    return await collect.collect(args, state, rollout_id, data_source, lambda: stop(args, state))


async def eval_rollout(args: Namespace, rollout_id: int) -> tuple[RolloutFnEvalOutput, list[Group]]:
    """Every evaluation set, at once; nothing goes back."""
    sets = getattr(args, "eval_datasets", None) or eval_datasets(args)
    results = await together(eval_rollout_single_dataset(args, rollout_id, dataset_cfg) for dataset_cfg in sets)
    return RolloutFnEvalOutput(data={name: found for result in results for name, found in result.items()}), []


async def eval_rollout_single_dataset(
    args: Namespace, rollout_id: int, dataset_cfg: EvalDatasetConfig
) -> dict[str, dict[str, list[Any]]]:
    """{name: rewards, truncated, samples} of one evaluation set, in its order."""
    return await evaluate.evaluate(args, GenerateState(args), rollout_id, dataset_cfg, generate_and_rm)


@with_rules(as_generate_does)
def generate_rollout(
    args: Namespace, rollout_id: int, data_source: Any, evaluation: bool = False
) -> RolloutFnTrainOutput | RolloutFnEvalOutput:
    """One rollout, to train on or to evaluate, on the background event loop; what is left over is back in the source."""
    if evaluation:
        return run(eval_rollout(args, rollout_id))[0]
    output, left_over = run(generate_rollout_async(args, rollout_id, data_source.get_samples))
    if left_over:
        data_source.add_samples(left_over)
    if hasattr(data_source, "check_balance"):
        data_source.check_balance()
    return output
