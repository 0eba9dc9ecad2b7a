"""Logprob and entropy of chosen tokens against log_softmax in float64, whole and in parts."""

import threading
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings
from hypothesis import strategies as st

from vime.learning.logprobs import chosen_logprobs


def made(tokens: int = 23, vocab: int = 37, seed: int = 0, dtype: "torch.dtype" = torch.float32) -> tuple:
    generator = torch.Generator().manual_seed(seed)
    logits = (torch.randn(tokens, vocab, generator=generator) * 4).to(dtype)
    return logits, torch.randint(0, vocab, (tokens,), generator=generator)


def reference(logits: "torch.Tensor", tokens: "torch.Tensor", temperature: float = 1.0) -> tuple:
    """(logprobs, entropy) in float64."""
    every = torch.log_softmax(logits.double() / temperature, dim=-1)
    return every.gather(1, tokens[:, None])[:, 0], -(every.exp() * every).sum(-1)


def gradient(logits: "torch.Tensor", of: object) -> "torch.Tensor":
    """Of a weighted sum of what `of(leaf)` gives."""
    leaf = logits.clone().requires_grad_()
    out = [one for one in of(leaf * 1.0) if one is not None]  # type: ignore[operator]
    weights = [torch.linspace(-1, 2 + n, len(one), dtype=one.dtype) for n, one in enumerate(out)]
    sum((one * weight).sum() for one, weight in zip(out, weights)).backward()
    return leaf.grad


@given(
    tokens=st.integers(0, 9),
    vocab=st.integers(1, 40),
    chunk=st.integers(-1, 12),
    temperature=st.sampled_from([0.3, 1.0, 1.7]),
    entropy=st.booleans(),
    overwrite=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_values_and_gradients_are_those_of_log_softmax(
    tokens: int, vocab: int, chunk: int, temperature: float, entropy: bool, overwrite: bool
) -> None:
    logits, chosen = made(tokens, vocab)

    def ours(leaf: "torch.Tensor") -> tuple:
        return chosen_logprobs(
            leaf,
            chosen,
            temperature=temperature,
            chunk=chunk,
            with_entropy=entropy,
            entropy_grad=entropy,
            overwrite=overwrite,
        )

    def theirs(leaf: "torch.Tensor") -> tuple:
        found = reference(leaf, chosen, temperature)
        return found if entropy else found[:1]

    for mine, its in zip(ours(logits), theirs(logits)):
        torch.testing.assert_close(mine.double(), its, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(gradient(logits, ours), gradient(logits, theirs), rtol=1e-4, atol=5e-5)


def test_only_the_rows_that_are_asked_for_count() -> None:
    logits, chosen = made(12)
    rows = torch.tensor([2, 3, 7, 11])
    logits[[0, 1, 4, 5]] = float("nan")
    for overwrite in (False, True):
        grad = gradient(
            logits, lambda leaf, over=overwrite: chosen_logprobs(leaf, chosen[:4], rows=rows, overwrite=over)
        )
        mine, _ = chosen_logprobs(logits, chosen[:4], rows=rows)
        torch.testing.assert_close(mine.double(), reference(logits[rows], chosen[:4])[0], rtol=1e-5, atol=1e-5)
        assert grad[rows].isfinite().all() and grad[rows].abs().sum() > 0
        others = [row for row in range(12) if row not in rows.tolist()]
        assert grad[others].eq(0).all()


def test_padding_of_the_vocabulary_has_no_probability_and_no_gradient() -> None:
    logits, chosen = made(8, 20)
    padded = torch.cat([logits, torch.full((8, 5), 30.0)], dim=1)
    for overwrite in (False, True):
        mine, entropy = chosen_logprobs(padded, chosen, vocab_size=20, with_entropy=True, overwrite=overwrite)
        its, spread = reference(logits, chosen)
        torch.testing.assert_close(mine.double(), its, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(entropy.double(), spread, rtol=1e-5, atol=1e-5)
        grad = gradient(
            padded, lambda leaf, over=overwrite: chosen_logprobs(leaf, chosen, vocab_size=20, overwrite=over)
        )
        assert grad[:, 20:].eq(0).all()
        assert grad[:, :20].ne(0).all()


def test_entropy_has_a_gradient_only_when_asked() -> None:
    logits, chosen = made()
    leaf = logits.clone().requires_grad_()
    assert not chosen_logprobs(leaf, chosen, with_entropy=True)[1].requires_grad
    assert chosen_logprobs(leaf, chosen, with_entropy=True, entropy_grad=True)[1].requires_grad
    assert chosen_logprobs(leaf, chosen)[1] is None


def test_greedy_sampling_has_no_temperature() -> None:
    logits, chosen = made()
    assert torch.equal(chosen_logprobs(logits, chosen, temperature=0.0)[0], chosen_logprobs(logits, chosen)[0])


def test_sums_are_float32_for_sixteen_bit_logits() -> None:
    logits, chosen = made(dtype=torch.bfloat16)
    mine, entropy = chosen_logprobs(logits, chosen, with_entropy=True)
    its, spread = reference(logits, chosen)
    assert mine.dtype == entropy.dtype == torch.float32
    torch.testing.assert_close(mine.double(), its, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(entropy.double(), spread, rtol=1e-5, atol=1e-5)
    assert gradient(logits, lambda leaf: chosen_logprobs(leaf, chosen)[:1]).dtype == torch.bfloat16


def test_a_nucleus_leaves_the_rest_out_of_the_logprob_but_not_of_the_entropy() -> None:
    logits, chosen = made(6, 10)
    keep = torch.rand(6, 10, generator=torch.Generator().manual_seed(1)) < 0.5
    mine, entropy = chosen_logprobs(logits, chosen, keep=keep, with_entropy=True)
    kept = keep.clone()
    kept[torch.arange(6), chosen] = True
    torch.testing.assert_close(
        mine.double(), reference(logits.masked_fill(~kept, -1e30), chosen)[0], rtol=1e-5, atol=1e-5
    )
    torch.testing.assert_close(entropy.double(), reference(logits, chosen)[1], rtol=1e-5, atol=1e-5)


def test_extreme_logits_stay_finite() -> None:
    logits = torch.tensor([[1e4, -1e4, 0.0], [-1e30, 0.0, 1e30]])
    mine, entropy = chosen_logprobs(logits, torch.tensor([0, 2]), with_entropy=True)
    assert mine.tolist() == [0.0, 0.0]
    assert entropy.tolist() == [0.0, 0.0]


class FakeGroup:
    """The place of one rank of several; the collectives are played by `played`."""

    def __init__(self, rank: int, size: int) -> None:
        self._rank, self._size = rank, size

    def rank(self) -> int:
        return self._rank

    def size(self) -> int:
        return self._size


def in_ranks(ranks: int, run: Callable[["FakeGroup"], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks in threads: what each sends is added up (or the largest taken) as all_reduce does."""
    sent: dict[int, torch.Tensor] = {}
    barrier = threading.Barrier(ranks)

    def all_reduce(tensor: "torch.Tensor", op: object = None, group: "FakeGroup" = None) -> None:
        sent[group.rank()] = tensor.clone()
        barrier.wait()
        every = torch.stack([sent[rank] for rank in range(ranks)])
        tensor.copy_(every.sum(0) if op is None else every.amax(0))
        barrier.wait()

    monkeypatch.setattr("vime.learning.logprobs.dist.all_reduce", all_reduce)
    threads = [threading.Thread(target=run, args=(FakeGroup(rank, ranks),)) for rank in range(ranks)]
    [thread.start() for thread in threads]
    [thread.join(20) for thread in threads]


@pytest.mark.parametrize("temperature", [1.0, 0.3])
def test_a_rank_may_have_none_of_the_words_that_were_kept(temperature: float, monkeypatch: pytest.MonkeyPatch) -> None:
    logits, chosen = made(5, 20)
    chosen = chosen % 10
    keep = torch.arange(20).expand(5, 20) < 10
    found: dict[int, tuple] = {}

    def run(group: "FakeGroup") -> None:
        part = slice(10 * group.rank(), 10 * group.rank() + 10)
        own = logits[:, part].clone().requires_grad_()
        mine, _ = chosen_logprobs(own, chosen, group=group, keep=keep[:, part], temperature=temperature)
        mine.sum().backward()
        found[group.rank()] = (mine.detach(), own.grad)

    in_ranks(2, run, monkeypatch)
    whole, _ = reference(logits[:, :10], chosen, temperature)
    torch.testing.assert_close(found[1][0].double(), whole, rtol=1e-5, atol=1e-5)
    assert found[0][1].isfinite().all() and found[0][1].abs().sum() > 0 and found[1][1].eq(0).all()


@pytest.mark.parametrize("width", [10, 25])
def test_a_divided_vocabulary_is_the_whole_one(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last ranks may be padding alone."""
    logits, chosen = made(9, 20)
    ranks = 3
    padded = torch.nn.functional.pad(logits, (0, width * ranks - 20))
    found: dict[int, tuple] = {}

    def run(group: "FakeGroup") -> None:
        own = padded[:, group.rank() * width : (group.rank() + 1) * width].clone().requires_grad_()
        out = chosen_logprobs(own, chosen, group=group, with_entropy=True, entropy_grad=True, vocab_size=20, chunk=4)
        (out[0].sum() + 2 * out[1].sum()).backward()
        found[group.rank()] = (*(one.detach() for one in out), own.grad)

    in_ranks(ranks, run, monkeypatch)
    leaf = logits.double().requires_grad_()
    logprobs, entropy = reference(leaf, chosen)
    (logprobs.sum() + 2 * entropy.sum()).backward()
    for rank in range(ranks):
        torch.testing.assert_close(found[rank][0].double(), logprobs.detach(), rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(found[rank][1].double(), entropy.detach(), rtol=1e-5, atol=1e-5)
    whole = torch.cat([found[rank][2] for rank in range(ranks)], dim=1)[:, :20]
    torch.testing.assert_close(whole.double(), leaf.grad, rtol=1e-4, atol=1e-5)
