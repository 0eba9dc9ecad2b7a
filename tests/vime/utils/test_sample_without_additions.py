"""An answer without tokens changes no log-probabilities."""

import pytest

from vime.utils.types import Sample

ABORTED = {"finish_reason": {"type": "abort"}, "prompt_tokens": 1, "completion_tokens": 0}


@pytest.mark.parametrize(("before", "after"), [(None, None), ([-1.0, -2.0], [-1.0, -2.0])])
def test_an_abort_before_the_first_token_makes_no_log_probs_up(before, after):
    sample = Sample(tokens=[1, 2, 3], response="ab", response_length=2, rollout_log_probs=before)
    sample.append_response_tokens(tokens=[], log_probs=[], meta_info=ABORTED, text="")
    assert sample.rollout_log_probs == after and sample.status is Sample.Status.ABORTED


def test_a_fresh_sample_has_as_many_as_it_has_tokens():
    sample = Sample(tokens=[1])
    sample.append_response_tokens(tokens=[], log_probs=[], meta_info=ABORTED, text="")
    assert sample.rollout_log_probs == []
