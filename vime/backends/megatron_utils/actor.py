"""One rank of the trainer, as a plain object. Ray wraps it outside; a test uses it as it is."""

import os
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from megatron.core import parallel_state

from vime.backends.megatron_utils import train_step as step
from vime.backends.megatron_utils.checkpoint import TrainState
from vime.backends.megatron_utils.data import to_tensors
from vime.backends.megatron_utils.loss import compute_advantages_and_returns, get_log_probs_and_entropy
from vime.backends.megatron_utils.model_provider import build_model, data_parallel
from vime.backends.megatron_utils.optimizer import build_optimizer, build_scheduler
from vime.backends.megatron_utils.packing import PackedBatch, pack
from vime.backends.megatron_utils.parallel import Parallel, init_parallel
from vime.backends.megatron_utils.reference import OtherWeights
from vime.backends.megatron_utils.rollout_figures import rollout_figures
from vime.backends.megatron_utils.stopwatch import Stopwatch
from vime.backends.megatron_utils.weights.load import load_hf
from vime.backends.megatron_utils.weights.save import save_hf
from vime.learning.agreement import bounds_of, check_agreement
from vime.utils.dp_schedule import token_budget
from vime.utils.misc import load_function
from vime.utils.seqlen_balancing import best_fit_pack
from vime.utils.train_share import MalformedTrainData, share_of_rank
from vime.utils.types import RolloutBatch

Metrics = dict[str, float]


class MegatronTrainRayActor:
    """A rank that trains: `init` once, then `train` for each rollout. Not for several threads."""

    def __init__(
        self,
        world_size: int = 1,
        rank: int = 0,
        master_addr: str | None = None,
        master_port: int | None = None,
        make_sync: Callable[[Namespace, Sequence[str]], Any] | None = None,
    ) -> None:
        self._world, self._rank = world_size, rank
        self._master = f"{master_addr}:{master_port}" if master_addr is not None else None
        self._make_sync = make_sync
        self._steps: list[Metrics] = []
        self._updates_since_sync = 0
        self.weight_version = 0

    def init(self, config_or_args: Any, role: str = "actor", with_ref: bool = False) -> int:
        """Join the other ranks, build and load the model; the rollout to begin with.

        Raises NotImplementedError for a critic and for pipeline or context parallelism.
        """
        if role != "actor":
            raise NotImplementedError(f"role {role!r}: only the actor is trained; choose an estimator without a critic")
        args: Namespace = getattr(config_or_args, "args", config_or_args)
        if args.pipeline_model_parallel_size > 1 or args.context_parallel_size > 1:
            raise NotImplementedError("the trainer's ranks share layers (tensor) and data, not stages or sequences")
        self.args = args
        self.parallel: Parallel = init_parallel(
            self._rank, self._world, tp=args.tensor_model_parallel_size, master=self._master, seed=args.seed
        )
        if args.custom_megatron_init_path is not None:
            load_function(args.custom_megatron_init_path)(args)
        model = build_model(args)
        self.reference: OtherWeights | None = None
        if with_ref:
            load_hf(model, args.ref_load)
            self.reference = OtherWeights(model)
        load_hf(model, args.load or args.hf_checkpoint)
        chunks = data_parallel(args, model)
        optimizer = build_optimizer(args, chunks)
        self.trainer = TrainState(chunks, optimizer, build_scheduler(args, optimizer))
        self._device = next(model[0].parameters()).device
        return 0

    # --- training ---

    def train(self, rollout_id: int, rollout_data: RolloutBatch, external_data: Any = None) -> Metrics:
        """Train on a rollout: the whole batch, or this rank's share as `share_of_rank` makes it. The same figures on
        every rank; those under `train/` are means over the updates (`step_metrics` has each).

        Raises MalformedTrainData, TooFewSamples, EngineDisagrees and NonFiniteUpdate; the last two before the weights
        change.
        """
        watch = Stopwatch()
        with watch("train"):
            with watch("data_preprocess"):
                share = self._share(rollout_data)
            updates = step.updates_of(share)
            self._add_log_probs(share, updates, watch)
            if self.args.loss_type != "sft_loss" and self.args.compute_advantages_and_returns:
                compute_advantages_and_returns(self.args, share)
            if self.args.rollout_data_postprocess_path is not None:
                load_function(self.args.rollout_data_postprocess_path)(self.args, rollout_id, share)
            figures = {}
            if "log_probs" in share:
                figures = self._agreement(rollout_id, share, dict(enumerate(share["log_probs"])))
            with watch("actor_train"):
                self._steps = [self._update(rollout_id, share, update, figures) for update in updates]
        self._updates_since_sync += len(updates)
        self._maybe_update_reference(rollout_id)
        return self._merged(share, watch)

    def step_metrics(self) -> list[Metrics]:
        """The figures of each update of the last `train`."""
        return self._steps

    def compute_log_prob(self, share: RolloutBatch) -> list[torch.Tensor]:
        """The logprobs of the response tokens of each sample of a share, [R] float32, with the weights as they are."""
        found = step.forward_log_probs(self.trainer.model, self._packs(share), self._log_probs_of)
        return [found[position] for position in range(len(share["tokens"]))]

    def log_probs(self, tokens: Sequence[Sequence[int]], response_lengths: Sequence[int]) -> list[list[float]]:
        """The logprobs of the last `response_lengths` tokens of each sequence, as lists: for a probe batch."""
        rows = [torch.as_tensor(one, dtype=torch.int64, device=self._device) for one in tokens]
        share = {"tokens": rows, "response_lengths": list(response_lengths), "total_lengths": [len(one) for one in rows]}
        return [one.tolist() for one in self.compute_log_prob(share)]

    def _share(self, rollout_data: RolloutBatch) -> RolloutBatch:
        share = rollout_data
        if "partition" not in rollout_data:
            share = share_of_rank(self.args, rollout_data, self.parallel.dp_rank, self.train_parallel_config)
        if self._needs_engine_log_probs and share.get("rollout_log_probs") is None:
            raise MalformedTrainData("the engine's logprobs (rollout_log_probs) are missing for every sample")
        return to_tensors(share, self._device)

    @property
    def train_parallel_config(self) -> Mapping[str, int]:
        """The layout, as `build_dp_schedule` takes it."""
        return {
            "dp_size": self.parallel.dp_size,
            "cp_size": self.parallel.cp_size,
            "vpp_size": 1,
            "microbatch_group_size_per_vp_stage": 1,
        }

    @property
    def _needs_engine_log_probs(self) -> bool:
        return self.args.loss_type == "policy_loss"

    def _add_log_probs(self, share: RolloutBatch, updates: Sequence[step.Update], watch: Stopwatch) -> None:
        """The reference's and the old policy's logprobs, as far as they are needed.

        With a single update the old policy is the one whose logprobs the update's own pass computes: no pass is needed
        before it unless something reads them earlier.
        """
        args = self.args
        if self.reference is not None:
            with watch("ref_log_probs"), self.reference.in_force(self.trainer.model):
                share["ref_log_probs"] = self.compute_log_prob(share)
        read_earlier = (
            args.kl_coef != 0
            or args.custom_advantage_function_path is not None
            or args.rollout_data_postprocess_path is not None
            or args.loss_type == "custom_loss"
        )
        if args.loss_type != "sft_loss" and (len(updates) > 1 or read_earlier):
            if args.custom_megatron_before_log_prob_hook_path is not None:
                load_function(args.custom_megatron_before_log_prob_hook_path)(args, self.trainer.model, "")
            with watch("log_probs"):
                share["log_probs"] = self.compute_log_prob(share)

    def _update(self, rollout_id: int, share: RolloutBatch, update: step.Update, figures: Metrics) -> Metrics:
        args, trainer = self.args, self.trainer
        if args.custom_megatron_before_train_step_hook_path is not None:
            load_function(args.custom_megatron_before_train_step_hook_path)(
                args, rollout_id, update.number, trainer.model, trainer.optimizer, trainer.scheduler
            )
        seen = step.run_passes(args, trainer, share, update, self._pad_multiple)
        finite = step.require_finite(args, seen, share, update)
        if not figures and self._needs_engine_log_probs and finite:
            figures = self._agreement(rollout_id, share, seen.log_probs)
        if self._needs_engine_log_probs and "log_probs" not in share:
            share["log_probs"] = [seen.log_probs[position] for position in range(len(share["tokens"]))]
        metrics = step.reduce_metrics(args, seen, update)
        made, norm = step.apply_update(args, trainer, update) if finite else (False, float("nan"))
        metrics |= {"grad_norm": norm, "lr-pg_0": trainer.optimizer.param_groups[0]["lr"], "skipped": float(not made)}
        return {f"train/{name}": value for name, value in metrics.items()} | figures

    def _agreement(self, rollout_id: int, share: RolloutBatch, log_probs: Mapping[int, torch.Tensor]) -> Metrics:
        """The difference to the engine's logprobs, held to its bounds where the engine should have these weights."""
        if share.get("rollout_log_probs") is None:
            return {}
        every = step.measure_agreement(share, log_probs)
        current = step.measure_agreement(share, log_probs, self._is_current(share))
        if self._engine_is_current:
            check_agreement(current, bounds_of(self.args), rollout_id)
        return {
            "train/train_rollout_logprob_abs_diff": every.mean,
            "train/train_rollout_logprob_abs_diff_max": every.max,
        }

    @property
    def _engine_is_current(self) -> bool:
        """Whether the engine that sampled should have the weights that the trainer has now."""
        behind = self.args.update_weights_interval > 1 and self._updates_since_sync > 0
        return not self.args.debug_train_only and not behind

    def _is_current(self, share: Mapping[str, Any]) -> Callable[[int], bool]:
        """Whether all of a sample's tokens are from the version that was synced last, as far as it says."""
        versions = share.get("weight_versions")
        now = str(self.weight_version)
        return lambda i: not versions or not versions[i] or all(str(one) == now for one in versions[i])

    def _log_probs_of(self, logits: torch.Tensor, packed: PackedBatch) -> list[torch.Tensor]:
        found = get_log_probs_and_entropy(
            logits,
            args=self.args,
            unconcat_tokens=packed.tokens[0].split([*packed.lengths, packed.padding])[: len(packed.lengths)],
            total_lengths=packed.lengths,
            response_lengths=packed.response_lengths,
        )
        return found[1]["log_probs"]

    def _packs(self, share: RolloutBatch) -> list[PackedBatch]:
        """The share in passes that only compute logprobs: by their own budget, in no rank's step with the others."""
        args, lengths = self.args, share["total_lengths"]
        budget = token_budget(args) and (args.log_probs_max_tokens_per_gpu or args.max_tokens_per_gpu)
        size = args.micro_batch_size
        bins = (
            best_fit_pack(lengths, budget)
            if budget
            else [list(range(i, min(i + size, len(lengths)))) for i in range(0, len(lengths), size)]
        )
        return [
            pack(
                [share["tokens"][i] for i in one],
                [share["response_lengths"][i] for i in one],
                sample_indices=one,
                pad_multiple=self._pad_multiple,
            )
            for one in bins
        ]

    @property
    def _pad_multiple(self) -> int:
        """Packs are padded for GPUs' sake, and where the ranks of a layer split the sequence."""
        multiple = 1 if self.parallel.device.is_cpu else self.args.data_pad_size_multiplier
        return multiple * (self.parallel.tp_size if self.args.sequence_parallel else 1)

    def _maybe_update_reference(self, rollout_id: int) -> None:
        interval = self.args.ref_update_interval
        if interval is not None and self.reference is not None and (rollout_id + 1) % interval == 0:
            self.reference.take(self.trainer.model)

    def _merged(self, share: Mapping[str, Any], watch: Stopwatch) -> Metrics:
        """Means over the updates (of a `_max` the largest), the rollout's own figures, and times."""
        merged: Metrics = {}
        for name in self._steps[0]:
            values = [one[name] for one in self._steps if name in one]
            merged[name] = max(values) if name.endswith("_max") else sum(values) / len(values)
        tokens = sum(share["total_lengths"]) * self.parallel.dp_size
        seconds = watch.seconds["actor_train"]
        perf = {f"perf/{name}_time": value for name, value in watch.seconds.items()}
        return merged | rollout_figures(share) | perf | {"perf/actor_train_tok_per_s": tokens / seconds}

    # --- weights ---

    def set_rollout_engines(self, urls: Sequence[str]) -> None:
        """The engines that `update_weights` brings weights to."""
        make = self._make_sync
        self._sync = make(self.args, urls) if make is not None else None

    def save_hf(self, folder: str | os.PathLike) -> None:
        """Write the weights in Hugging Face's form. Every rank must call."""
        if parallel_state.get_data_parallel_rank() == 0:
            save_hf([chunk.module for chunk in self.trainer.model], self.args, folder)
