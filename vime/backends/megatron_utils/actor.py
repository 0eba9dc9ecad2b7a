"""One rank of the trainer, as a plain object. Ray wraps it outside; a test uses it as it is."""

import os
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from megatron.core import parallel_state

from vime.backends.megatron_utils import train_step as step
from vime.backends.megatron_utils.agreement import EngineWeights, engine_agreement
from vime.backends.megatron_utils.checkpoint import TrainState, save_checkpoint
from vime.backends.megatron_utils.data import to_tensors
from vime.backends.megatron_utils.kept_version import keep_version, kept_version
from vime.backends.megatron_utils.log_prob_pass import compute_log_probs
from vime.backends.megatron_utils.loss import compute_advantages_and_returns
from vime.backends.megatron_utils.parallel import Parallel, init_parallel
from vime.backends.megatron_utils.push import Sync, Weights, push_weights
from vime.backends.megatron_utils.rollout_figures import merged_steps, rollout_figures
from vime.backends.megatron_utils.start import start_trainer, wants_reference
from vime.backends.megatron_utils.stopwatch import Stopwatch
from vime.backends.megatron_utils.update_weight.plan import describe, plan_weights
from vime.backends.megatron_utils.weights import save_hf
from vime.device import detect
from vime.observability.train_data_utils import save_debug_train_data
from vime.utils.misc import load_function
from vime.utils.path_template import filled
from vime.utils.train_share import require_engine_columns, share_of_rank
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
        make_sync: Callable[[Namespace, Sequence[str]], Sync] | None = None,
        local_rank: int = 0,
    ) -> None:
        self._world, self._rank, self._local_rank = world_size, rank, local_rank
        self._master = f"{master_addr}:{master_port}" if master_addr is not None else None
        self._make_sync = make_sync
        self._steps: list[Metrics] = []
        self._updates_since_sync = 0
        self._sync: Sync | None = None
        self._plan: Any = None
        self._synced = False
        self._ages: dict[str, int] = {}
        self.weight_version = 0

    def init(self, config_or_args: Any, role: str = "actor", with_ref: bool | None = None) -> int:
        """Join the other ranks, build and load the model; the rollout to begin with.

        The reference model is loaded where the options make it count, or as `with_ref` says. Raises NotImplementedError
        for a critic and for pipeline or context parallelism.
        """
        if role != "actor":
            raise NotImplementedError(f"role {role!r}: only the actor is trained; choose an estimator without a critic")
        args: Namespace = getattr(config_or_args, "args", config_or_args)
        if args.pipeline_model_parallel_size > 1 or args.context_parallel_size > 1:
            raise NotImplementedError("the trainer's ranks share layers (tensor) and data, not stages or sequences")
        self.args = args
        self.parallel: Parallel = init_parallel(
            self._rank,
            self._world,
            tp=args.tensor_model_parallel_size,
            master=self._master,
            device=detect(args.device),
            seed=args.seed,
            local_rank=self._local_rank,
        )
        if args.custom_megatron_init_path is not None:
            load_function(args.custom_megatron_init_path)(args)
        started = start_trainer(args, wants_reference(args) if with_ref is None else with_ref)
        self.trainer, self.weight_sets = started.trainer, started.sets
        self._device = next(self.trainer.model[0].parameters()).device
        self.weight_version = max(started.rollout_id, kept_version(args) if started.rollout_id else 0)
        return started.rollout_id

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
            self._dump(rollout_id, share)
            figures = {}
            if "log_probs" in share:
                log_probs = dict(enumerate(share["log_probs"]))
                figures = engine_agreement(self.args, rollout_id, share, log_probs, self._engine)
            if self.args.reset_optimizer_states:
                self.trainer.optimizer.reset_state()
            with watch("actor_train"):
                self._steps = [self._update(rollout_id, share, update, figures) for update in updates]
        self._updates_since_sync += len(updates)
        self._ages = {version: age + 1 for version, age in self._ages.items()}
        self._maybe_update_reference(rollout_id)
        return self._merged(share, watch)

    def step_metrics(self) -> list[Metrics]:
        """The figures of each update of the last `train`."""
        return self._steps

    def compute_log_prob(self, share: RolloutBatch) -> list[torch.Tensor]:
        """The logprobs of the response tokens of each sample of a share, [R] float32, with the weights as they are."""
        return compute_log_probs(self.args, self.trainer.model, share, self._pad_multiple)

    def log_probs(self, tokens: Sequence[Sequence[int]], response_lengths: Sequence[int]) -> list[list[float]]:
        """The logprobs of the last `response_lengths` tokens of each sequence, as lists: for a probe batch."""
        rows = [torch.as_tensor(one, dtype=torch.int64, device=self._device) for one in tokens]
        share = {
            "tokens": rows,
            "response_lengths": list(response_lengths),
            "total_lengths": [len(one) for one in rows],
        }
        return [one.tolist() for one in self.compute_log_prob(share)]

    def _share(self, rollout_data: RolloutBatch) -> RolloutBatch:
        share = rollout_data
        if "partition" not in rollout_data:
            share = share_of_rank(self.args, rollout_data, self.parallel.dp_rank, self.train_parallel_config)
        if self._needs_engine_log_probs:
            require_engine_columns(self.args, share)
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
        if "ref" in self.weight_sets.backup_tags:
            with watch("ref_log_probs"):
                self.weight_sets.backup("actor")
                with self.weight_sets.using("ref"):
                    share["ref_log_probs"] = self.compute_log_prob(share)
        read_earlier = (
            args.kl_coef != 0
            or args.custom_advantage_function_path is not None
            or args.rollout_data_postprocess_path is not None
            or args.save_debug_train_data is not None
            or args.loss_type == "custom_loss"
        )
        if args.loss_type != "sft_loss" and (len(updates) > 1 or read_earlier):
            if args.custom_megatron_before_log_prob_hook_path is not None:
                load_function(args.custom_megatron_before_log_prob_hook_path)(args, self.trainer.model, "")
            with watch("log_probs"):
                share["log_probs"] = self.compute_log_prob(share)

    def _dump(self, rollout_id: int, share: RolloutBatch) -> None:
        """Before the updates, so that what one of them fails on can be looked at."""
        if self.parallel.tp_rank == 0:
            group = parallel_state.get_data_parallel_group()
            save_debug_train_data(
                self.args, rollout_id=rollout_id, rollout_data=share, dp_rank=self.parallel.dp_rank, dp_group=group
            )

    def _update(self, rollout_id: int, share: RolloutBatch, update: step.Update, figures: Metrics) -> Metrics:
        args, trainer = self.args, self.trainer
        if args.custom_megatron_before_train_step_hook_path is not None:
            load_function(args.custom_megatron_before_train_step_hook_path)(
                args, rollout_id, update.number, trainer.model, trainer.optimizer, trainer.scheduler
            )
        seen = step.run_passes(args, trainer, share, update, self._pad_multiple)
        finite = step.require_finite(args, seen, share, update)
        if not figures and self._needs_engine_log_probs and finite:
            figures = engine_agreement(args, rollout_id, share, seen.log_probs, self._engine)
        if self._needs_engine_log_probs and "log_probs" not in share:
            share["log_probs"] = [seen.log_probs[position] for position in range(len(share["tokens"]))]
        metrics = step.reduce_metrics(args, seen, update)
        rate = trainer.optimizer.param_groups[0]["lr"]
        made, norm = step.apply_update(args, trainer, update) if finite else (False, float("nan"))
        metrics |= {"grad_norm": norm, "lr-pg_0": rate, "skipped": float(not made)}
        return {f"train/{name}": value for name, value in metrics.items()} | figures

    @property
    def _engine(self) -> EngineWeights:
        return EngineWeights(str(self.weight_version), self._synced, self._updates_since_sync, self._ages)

    @property
    def _pad_multiple(self) -> int:
        """Packs are padded for GPUs' sake, and where the ranks of a layer split the sequence."""
        multiple = 1 if self.parallel.device.is_cpu else self.args.data_pad_size_multiplier
        return multiple * (self.parallel.tp_size if self.args.sequence_parallel else 1)

    def _maybe_update_reference(self, rollout_id: int) -> None:
        interval = self.args.ref_update_interval
        if interval is not None and "ref" in self.weight_sets.backup_tags and (rollout_id + 1) % interval == 0:
            self.weight_sets.backup("ref")

    def _merged(self, share: Mapping[str, Any], watch: Stopwatch) -> Metrics:
        """The figures of the updates together, the rollout's own, and times."""
        tokens = sum(share["total_lengths"]) * self.parallel.dp_size
        seconds = watch.seconds["actor_train"]
        perf = {f"perf/{name}_time": value for name, value in watch.seconds.items()}
        return (
            merged_steps(self._steps) | rollout_figures(share) | perf | {"perf/actor_train_tok_per_s": tokens / seconds}
        )

    # --- weights ---

    def set_rollout_engines(self, urls: Sequence[str]) -> None:
        """The engines that `update_weights` brings weights to, from now on. Every rank must call. Raises what connecting
        to them raises."""
        if self._sync is not None:
            self._sync.close()
        self._sync, self._plan = None, None
        if not urls or self._make_sync is None:
            return
        if self._rank == 0:
            self._sync = self._make_sync(self.args, urls)
        self._plan = push_weights(
            self._weights, lambda tensors: plan_weights(describe(tensors), self._sync.bucket_bytes)
        )
        if self._sync is not None:
            self._sync.connect()

    def update_weights(self) -> Any:
        """Bring the weights to the engines, under the next version unless they have not changed since the last, as where
        engines were started again: rank 0's SyncReport, None elsewhere. Every rank must call. Raises WeightSyncFailed, on
        the other ranks OtherRankFailed; the version counts only without."""
        if self.args.debug_train_only:
            return None
        unchanged = self._synced and not self._updates_since_sync
        number = self.weight_version + (not unchanged)
        report = push_weights(self._weights, lambda tensors: self._sync.update(tensors, self._plan, str(number)))
        self.weight_version, self._synced, self._updates_since_sync = number, True, 0
        self._ages[str(number)] = 0
        return report

    @property
    def _weights(self) -> Weights:
        return Weights(self.trainer.model, self.args)

    def save_model(self, rollout_id: int, beside: Callable[[Path], None] | None = None) -> None:
        """Write a checkpoint after this rollout, and the weights in Hugging Face's form where --save-hf asks for them.

        Every rank must call. `beside(folder)`, on rank 0, puts files of the run into the same checkpoint. Raises
        CheckpointError.
        """
        args, trainer = self.args, self.trainer
        if args.save is not None:
            kept = TrainState(trainer.model) if args.no_save_optim else trainer

            def files(folder: Path) -> None:
                keep_version(folder, self.weight_version)
                if beside is not None:
                    beside(folder)

            save_checkpoint(args.save, rollout_id, kept, files)
        if args.save_hf is not None:
            self.save_hf(filled(args.save_hf, rollout_id=rollout_id))

    def save_hf(self, folder: str | os.PathLike) -> None:
        """Write the weights in Hugging Face's form. Every rank must call."""
        save_hf(self.trainer.model, self.args, folder)

    def close(self) -> None:
        """Leave the engines and the other ranks."""
        if self._sync is not None:
            self._sync.close()
        self.parallel.close()
