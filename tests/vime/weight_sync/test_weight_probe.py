"""The probe after a sync, against engines that say what a test lets them say."""

import math
from types import SimpleNamespace
from typing import ClassVar

import pytest

from vime.backends.megatron_utils.update_weight.probe import ProbeFailed, check_probe, probe

BOUNDS = SimpleNamespace(mean=1e-5, max=1e-3)
PROMPTS = [[1, 2], [3]]


class Talker:
    """Says tokens 7, 8 with the logprobs of its url."""

    said: ClassVar[dict[str, float]] = {}

    def __init__(self, url):
        self.url = url

    def call(self, method, path, body):
        assert (method, body["sampling_params"]["logprobs"]) == ("POST", 1)
        content = [{"token_id": token, "logprob": self.said[self.url]} for token in (7, 8)]
        return {"choices": [{"token_ids": [7, 8], "logprobs": {"content": content}}]}


def trainer(sequences, lengths):
    assert sequences == [[1, 2, 7, 8], [3, 7, 8]] * (len(sequences) // 2) and set(lengths) == {2}
    return [[-1.0, -1.0]] * len(sequences)


def test_each_engine_is_judged_by_itself(monkeypatch):
    monkeypatch.setattr(Talker, "said", {"http://a": -1.0, "http://b": -1.5})
    found = probe(["http://a", "http://b"], PROMPTS, trainer, control=Talker)
    assert (found.tokens, found.mean, found.max) == (8, 0.25, 0.5)
    assert found.engines["http://a"].max == 0.0
    with pytest.raises(ProbeFailed) as caught:
        check_probe(found, BOUNDS)
    assert caught.value.urls == ("http://b",) and "http://a" not in str(caught.value)


def test_agreement_passes(monkeypatch):
    monkeypatch.setattr(Talker, "said", {"http://a": -1.000001})
    check_probe(probe(["http://a"], PROMPTS, trainer, control=Talker), BOUNDS)


def test_what_is_no_number_does_not_pass(monkeypatch):
    monkeypatch.setattr(Talker, "said", {"http://a": math.nan})
    with pytest.raises(ProbeFailed):
        check_probe(probe(["http://a"], PROMPTS, trainer, control=Talker), BOUNDS)
