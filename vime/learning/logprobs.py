"""Logprob of the chosen token and entropy of its distribution, from logits that may be split over ranks along the
vocabulary.

Never holds more than a chunk of probabilities: the forward pass keeps a log-sum-exp a token, and the backward pass
computes probabilities again, chunk by chunk, into the gradient. Sums are float32 whatever the logits are. A rank needs two
collectives for all its tokens: one maximum, one sum.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.distributed as dist

CHUNK_ELEMENTS = 1 << 17
"""Logits of one chunk where the caller does not say how many tokens: 512 KiB as float32, which stays in a CPU's cache."""
_COLDEST = 1e-5
_NEVER = -1e30
"""The logit of a word that was left out; finite at any temperature, so that a rank may have no other."""


@dataclass(frozen=True)
class _Asked:
    """What `_ChosenLogProb` is asked for, beside its tensors."""

    group: dist.ProcessGroup | None
    scale: float
    """1 / temperature."""
    chunk: int
    """Tokens of a chunk."""
    columns: int
    """Entries of this rank's part of the vocabulary; what follows in the logits is padding."""
    entropy: bool
    entropy_grad: bool
    overwrite: bool
    """Whether the gradient may take the logits' memory."""


def temperature_scale(temperature: float) -> float:
    """What logits are multiplied by. Greedy sampling (0) has no temperature: the engine's logprobs are of plain logits."""
    return 1.0 if temperature < _COLDEST else 1.0 / temperature


def chosen_logprobs(
    logits: torch.Tensor,
    tokens: torch.Tensor,
    *,
    rows: torch.Tensor | None = None,
    group: dist.ProcessGroup | None = None,
    temperature: float = 1.0,
    chunk: int = -1,
    with_entropy: bool = False,
    entropy_grad: bool = False,
    overwrite: bool = False,
    keep: torch.Tensor | None = None,
    vocab_size: int | None = None,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """(logprobs [N] float32, entropy [N] float32 in nats or None) of `tokens` [N] int64.

    `logits` [T, V / ranks] of any float type; `rows` [N] says which row is each token's (all of them, in order, when None:
    T = N). `group` is the ranks that share the vocabulary, in its order. `chunk` is tokens computed at once, -1 chooses.
    Entropy has a gradient only with `entropy_grad`. With `overwrite` the backward pass puts the gradient where the logits
    are: for callers that read them no more. Columns from `vocab_size` on are padding and have no probability. `keep` [N, V / ranks] bool leaves the other entries out of the logprob (not
    of the entropy), as an engine does that samples from a nucleus.
    """
    columns = logits.shape[1]
    chunk = chunk if chunk > 0 else max(1, CHUNK_ELEMENTS // max(1, columns))
    if vocab_size is not None:
        columns = min(max(vocab_size - vocab_range(columns, group)[0], 0), columns)
    asked = _Asked(group, temperature_scale(temperature), chunk, columns, with_entropy, entropy_grad, overwrite)
    if keep is None:
        logprobs, entropy = _ChosenLogProb.apply(logits, tokens, rows, asked)
        return logprobs, entropy if with_entropy else None
    kept = _kept(logits, rows, tokens, keep, group)
    logprobs, _ = _ChosenLogProb.apply(kept, tokens, None, replace(asked, entropy=False, overwrite=False))
    if not with_entropy:
        return logprobs, None
    return logprobs, _ChosenLogProb.apply(logits, tokens, rows, replace(asked, overwrite=False))[1]


def vocab_range(width: int, group: dist.ProcessGroup | None) -> tuple[int, int]:
    """(first, last + 1) of the vocabulary that this rank of `group` has."""
    start = width * (group.rank() if group is not None else 0)
    return start, start + width


def _kept(
    logits: torch.Tensor,
    rows: torch.Tensor | None,
    tokens: torch.Tensor,
    keep: torch.Tensor,
    group: dist.ProcessGroup | None,
) -> torch.Tensor:
    """Rows of the logits, far below all others where not kept; the chosen token is always kept."""
    start, end = vocab_range(logits.shape[1], group)
    mine = ((tokens >= start) & (tokens < end)).nonzero()[:, 0]
    keep = keep.clone()
    keep[mine, tokens[mine] - start] = True
    picked = logits if rows is None else logits.index_select(0, rows)
    return picked.float().masked_fill(~keep, _NEVER)


class _ChosenLogProb(torch.autograd.Function):
    """See `chosen_logprobs`."""

    @staticmethod
    def forward(ctx: Any, logits: torch.Tensor, tokens: torch.Tensor, rows: torch.Tensor | None, asked: _Asked):
        start, end = vocab_range(logits.shape[1], asked.group)
        mine = (tokens >= start) & (tokens < end)
        local = torch.where(mine, tokens - start, 0)
        count = tokens.shape[0]
        top = torch.full((count,), torch.finfo(torch.float32).min, device=logits.device)
        total, chosen, spread = torch.zeros_like(top), torch.zeros_like(top), torch.zeros_like(top)
        for part in _chunks(count, asked.chunk) if asked.columns else ():
            x = _scratch(logits, rows, part, asked)
            torch.amax(x, dim=-1, out=top[part])
            x.sub_(top[part].unsqueeze(1))
            chosen[part] = x.gather(1, local[part].unsqueeze(1)).squeeze(1)
            if asked.entropy:
                weights = x.exp()
                torch.sum(weights, dim=-1, out=total[part])
                spread[part] = torch.linalg.vecdot(weights, x)
            else:
                torch.sum(x.exp_(), dim=-1, out=total[part])
        chosen += top
        if _ranks(asked.group) > 1:
            top, total, chosen, spread = _over_ranks(top, total, chosen.masked_fill(~mine, 0.0), spread, asked.group)
        log_total = total.log()
        entropy = log_total - spread / total if asked.entropy else chosen.new_empty(0)
        normaliser = top + log_total
        ctx.asked = asked
        ctx.save_for_backward(logits, local, mine, normaliser, entropy, rows)
        if not (asked.entropy and asked.entropy_grad):
            ctx.mark_non_differentiable(entropy)
        return chosen - normaliser, entropy

    @staticmethod
    def backward(ctx: Any, grad_logprob: torch.Tensor, grad_entropy: torch.Tensor):
        logits, local, mine, normaliser, entropy, rows = ctx.saved_tensors
        asked: _Asked = ctx.asked
        source = logits.detach()
        whole = rows is None and asked.columns == source.shape[1]
        if asked.overwrite:
            grad = source
        else:
            grad = torch.empty_like(source) if whole else torch.zeros_like(source)
        pull = grad_logprob * asked.scale
        for part in _chunks(local.shape[0], asked.chunk) if asked.columns else ():
            x = _scratch(source, rows, part, asked).sub_(normaliser[part].unsqueeze(1))
            if asked.entropy and asked.entropy_grad:
                push = (grad_entropy[part] * asked.scale).unsqueeze(1)
                slope = (x + entropy[part].unsqueeze(1)).mul_(push).add_(pull[part].unsqueeze(1))
                x.exp_().mul_(slope).neg_()
            else:
                x.exp_().mul_(pull[part].neg().unsqueeze(1))
            x.scatter_add_(1, local[part].unsqueeze(1), torch.where(mine[part], pull[part], 0.0).unsqueeze(1))
            if rows is None:
                grad[part, : asked.columns] = x
            else:
                grad[:, : asked.columns].index_copy_(0, rows[part], x.to(grad.dtype))
        if asked.overwrite and not whole:
            _clear_rest(grad, rows, asked.columns)
        return grad, None, None, None


def _chunks(count: int, size: int) -> Iterator[slice]:
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def _scratch(logits: torch.Tensor, rows: torch.Tensor | None, part: slice, asked: _Asked) -> torch.Tensor:
    """A float32 copy of the logits of some tokens, scaled, that may be written to."""
    real = logits[:, : asked.columns]
    picked = real[part] if rows is None else real.index_select(0, rows[part])
    if rows is None or picked.dtype != torch.float32:
        picked = picked.to(torch.float32, copy=True)
    return picked if asked.scale == 1.0 else picked.mul_(asked.scale)


def _clear_rest(grad: torch.Tensor, rows: torch.Tensor | None, columns: int) -> None:
    """No gradient where nothing was computed: other rows, and padding."""
    grad[:, columns:] = 0
    if rows is not None:
        others = torch.ones(grad.shape[0], dtype=torch.bool, device=grad.device)
        others[rows] = False
        grad[others] = 0


def _ranks(group: dist.ProcessGroup | None) -> int:
    return 1 if group is None else group.size()


def _over_ranks(
    top: torch.Tensor, total: torch.Tensor, chosen: torch.Tensor, spread: torch.Tensor, group: dist.ProcessGroup
) -> tuple[torch.Tensor, ...]:
    """The four figures a token over the whole vocabulary."""
    highest = top.clone()
    dist.all_reduce(highest, dist.ReduceOp.MAX, group=group)
    below = top - highest
    shrink = below.exp()
    sums = torch.stack((total * shrink, chosen, (spread + total * below) * shrink))
    dist.all_reduce(sums, group=group)
    return highest, sums[0], sums[1], sums[2]
