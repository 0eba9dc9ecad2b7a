"""A probe after a sync: each engine answers a few prompts, and the trainer says what its own logprobs of them are."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from vime.backends.vllm_utils.control import EngineControl
from vime.backends.vllm_utils.seam.send import ENDPOINT
from vime.errors import travels

LogProbs = Callable[[Sequence[Sequence[int]], Sequence[int]], Sequence[Sequence[float]]]
"""(sequences, lengths of their last parts) -> the logprobs of the tokens of those parts, as the trainer computes them."""


@dataclass(frozen=True)
class EngineAgreement:
    """How far one engine's logprobs are from the trainer's, in nats, over `tokens` tokens."""

    mean: float
    max: float
    tokens: int


@dataclass(frozen=True)
class Agreement:
    """How far the engines' logprobs are from the trainer's, in nats."""

    mean: float
    max: float
    tokens: int
    engines: Mapping[str, EngineAgreement]
    """Of each, by url."""


class Bounds(Protocol):
    """How far is too far: the mean over an engine's tokens, and one token's."""

    mean: float
    max: float


@travels
class ProbeFailed(RuntimeError):
    """An engine does not say what the trainer says after a sync: it holds other weights, or computes otherwise."""

    def __init__(self, found: Agreement, bounds: Bounds, urls: Sequence[str]) -> None:
        lines = [f"  {url}: mean {found.engines[url].mean:.3g}, max {found.engines[url].max:.3g}" for url in urls]
        super().__init__(
            f"after a weight sync logprobs of engine and trainer are further apart than mean {bounds.mean:g} and max "
            f"{bounds.max:g}:\n" + "\n".join(lines) + "\nLook at the last sync's version on that engine, then at the "
            "number formats of both; --check-weight-update-equal compares the weights themselves."
        )
        self.found, self.urls = found, tuple(urls)


def probe(
    urls: Sequence[str],
    prompts: Sequence[Sequence[int]],
    log_probs: LogProbs,
    *,
    max_new_tokens: int = 8,
    temperature: float = 1.0,
    control: Callable[[str], Any] = EngineControl,
) -> Agreement:
    """Have every engine answer `prompts`, and compare. At temperature 1 the answers are greedy, else sampled at it:
    an engine's logprobs are those of the distribution at the temperature that it is asked for.

    Raises EngineCallFailed where an engine does not answer.
    """
    with ThreadPoolExecutor(max(1, len(urls) * len(prompts))) as pool:
        answers = [
            pool.submit(_answer, control(url), prompt, max_new_tokens, temperature)
            for url in urls
            for prompt in prompts
        ]
        said = [answer.result() for answer in answers]
    asked = [prompt for _ in urls for prompt in prompts]
    sequences = [[*prompt, *tokens] for prompt, (tokens, _) in zip(asked, said, strict=True)]
    ours = log_probs(sequences, [len(tokens) for tokens, _ in said])
    gaps = [
        [abs(a - b) for a, b in zip(theirs, mine, strict=True)] for (_, theirs), mine in zip(said, ours, strict=True)
    ]
    each = {
        url: _engine([gap for row in gaps[first : first + len(prompts)] for gap in row])
        for url, first in zip(urls, range(0, len(gaps), len(prompts)), strict=True)
    }
    every = _engine([gap for row in gaps for gap in row])
    return Agreement(every.mean, every.max, every.tokens, each)


def check_probe(found: Agreement, bounds: Bounds) -> None:
    """Raise ProbeFailed where an engine is over a bound; not a number is over any."""
    over = [url for url, one in found.engines.items() if not (one.mean <= bounds.mean and one.max <= bounds.max)]
    if over:
        raise ProbeFailed(found, bounds, over)


def _answer(engine: Any, prompt: Sequence[int], length: int, temperature: float) -> tuple[list[int], list[float]]:
    sampling = {"max_tokens": length, "logprobs": 1, "detokenize": False, "ignore_eos": True}
    sampling["temperature"] = 0.0 if temperature == 1.0 else temperature
    answer = engine.call("POST", ENDPOINT, {"token_ids": list(prompt), "sampling_params": sampling})
    choice = answer["choices"][0]
    return choice["token_ids"], [entry["logprob"] for entry in choice["logprobs"]["content"]]


def _engine(gaps: Sequence[float]) -> EngineAgreement:
    if not gaps:
        return EngineAgreement(float("nan"), float("nan"), 0)
    return EngineAgreement(sum(gaps) / len(gaps), max(gaps), len(gaps))
