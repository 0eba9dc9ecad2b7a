import pytest

from slime.utils.trace_utils import build_sglang_meta_trace_attrs, trace_span
from slime.utils.types import Sample


def test_a_span_is_kept_on_each_sample_even_when_the_block_raises():
    group = [Sample(), Sample()]
    with pytest.raises(KeyError), trace_span(group, "reward_model", attrs={"n": 2}):
        raise KeyError("label")
    assert [sample.metadata["trace"][0]["name"] for sample in group] == ["reward_model"] * 2


def test_attrs_of_an_answer_leave_out_what_is_not_there():
    meta = {"finish_reason": {"type": "stop", "matched": 7}, "prompt_tokens": 3, "cached_tokens": None}
    assert build_sglang_meta_trace_attrs(meta) == {"prompt_tokens": 3, "finish_reason": "stop"}
