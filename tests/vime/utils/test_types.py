"""A sample stays aligned, whatever is appended, and a refused append changes nothing."""

import argparse
import base64
import copy
import json
import pickle
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vime.utils.types import MultimodalTypes, Sample

ARGS = argparse.Namespace(num_layers=2, moe_router_topk=1, reward_key=None, vllm_speculative_config=None)


def int32(*values):
    return base64.b64encode(struct.pack(f"<{len(values)}i", *values)).decode()


def finished(kind="stop", **more):
    return {"finish_reason": {"type": kind}, "prompt_tokens": 4, "completion_tokens": 2, **more}


appends = st.lists(
    st.tuples(
        st.lists(st.integers(0, 9), max_size=4),
        st.booleans(),
        st.sampled_from(["stop", "length", "abort", None]),
    ),
    max_size=6,
)


@given(appends)
def test_mask_and_logprobs_are_as_long_as_the_response(turns):
    sample = Sample(tokens=[1, 2, 3])
    trained = 0
    for tokens, trainable, kind in turns:
        meta = {"finish_reason": {"type": kind} if kind else None}
        log_probs = [-0.5] * len(tokens) if trainable else None
        sample.append_response_tokens(ARGS, tokens=tokens, log_probs=log_probs, trainable=trainable, meta_info=meta)
        trained += len(tokens) if trainable else 0
    total = sum(len(tokens) for tokens, _, _ in turns)
    assert (len(sample.tokens), sample.response_length) == (3 + total, total)
    assert sample.effective_response_length == trained
    for values in (sample.loss_mask, sample.rollout_log_probs):
        assert values is None or len(values) == total
    for mask, logprob in zip(sample.loss_mask or [], sample.rollout_log_probs or [], strict=True):
        assert mask == 1 or logprob == 0.0


BAD = {
    "lengths differ": {"tokens": [1, 2], "log_probs": [-1.0]},
    "no logprobs": {"tokens": [1]},
    "logprobs of a tool": {"tokens": [1], "log_probs": [-1.0], "trainable": False},
    "experts do not fit": {"tokens": [1], "log_probs": [-1.0], "meta_info": finished(routed_experts=int32(1, 2, 3))},
    "top-p ids without offsets": {"tokens": [1], "log_probs": [-1.0], "meta_info": finished(top_p_token_ids=int32(1))},
    "top-p of another length": {
        "tokens": [1],
        "log_probs": [-1.0],
        "meta_info": finished(top_p_token_ids=int32(1), top_p_token_offsets=int32(0, 1, 1)),
    },
    "top-p offsets fall": {
        "tokens": [1, 2],
        "log_probs": [-1.0, -1.0],
        "meta_info": finished(top_p_token_ids=int32(1), top_p_token_offsets=int32(0, 2, 1)),
    },
}


@pytest.mark.parametrize("name", BAD)
def test_what_would_not_align_is_refused_and_changes_nothing(name):
    sample = Sample(tokens=[5, 6], response="x", response_length=1, loss_mask=[1], rollout_log_probs=[-0.1])
    before = copy.deepcopy(sample)
    with pytest.raises(ValueError):
        sample.append_response_tokens(ARGS, text="more", **BAD[name])
    assert sample == before


def test_tokens_that_others_hold_do_not_change_and_what_goes_with_a_response_grows_where_it_is():
    prompt, logprobs, mask = [1, 2, 3], [-0.1], [1]
    sample = Sample(tokens=prompt, response_length=1, rollout_log_probs=logprobs, loss_mask=mask)
    sample.append_response_tokens(tokens=[4], log_probs=[-0.2])
    assert (prompt, logprobs, mask) == ([1, 2, 3], [-0.1, -0.2], [1, 1])
    assert sample.tokens == [1, 2, 3, 4] and sample.rollout_log_probs is logprobs and sample.loss_mask is mask


def test_a_response_without_logprobs_takes_no_trained_tokens():
    with pytest.raises(ValueError, match="no rollout_log_probs"):
        Sample(response_length=2, tokens=[1, 2]).append_response_tokens(tokens=[3], log_probs=[-1.0])


def test_a_sample_that_was_misaligned_by_hand_is_refused():
    sample = Sample(response_length=2, rollout_log_probs=[-1.0])
    with pytest.raises(ValueError, match="rollout_log_probs has 1"):
        sample.append_response_tokens(tokens=[3], log_probs=[-1.0])


@pytest.mark.parametrize(("kind", "status"), [("stop", "completed"), ("length", "truncated"), ("abort", "aborted")])
def test_how_a_request_ended(kind, status):
    sample = Sample()
    sample.append_response_tokens(
        ARGS, tokens=[1], log_probs=[-0.1], text="a", meta_info=finished(kind, weight_version="3", cached_tokens=2)
    )
    assert sample.status is Sample.Status(status)
    assert sample.weight_versions == ["3"]
    assert sample.prefix_cache_info.prefix_cache_hit_rate == 0.5


def test_a_chunk_that_ends_nothing_changes_no_counter():
    sample = Sample()
    sample.append_response_tokens(ARGS, tokens=[1], log_probs=[-0.1], meta_info=finished(), update_terminal_info=False)
    assert (sample.status, sample.prefix_cache_info.total_prompt_tokens) == (Sample.Status.PENDING, 0)


def test_meta_info_without_finish_reason():
    with pytest.raises(KeyError):
        Sample().update_from_meta_info(ARGS, {"weight_version": "1"})


def test_an_engine_that_reports_no_cache():
    sample = Sample()
    sample.update_from_meta_info(ARGS, finished(cached_tokens=None))
    assert sample.prefix_cache_info.to_dict() == {"cached_tokens": 0, "total_prompt_tokens": 4}


def test_speculation_is_counted_where_it_is_on():
    on = argparse.Namespace(**{**vars(ARGS), "vllm_speculative_config": {"method": "mtp"}})
    meta = finished(spec_accept_token_num=3, spec_draft_token_num=4, spec_verify_ct=2)
    sample, other = Sample(), Sample()
    for _ in range(2):
        sample.update_from_meta_info(on, meta)
    other.update_from_meta_info(ARGS, meta)
    assert (sample.spec_info.spec_accept_rate, sample.spec_info.spec_accept_length) == (0.75, 1.0)
    assert other.spec_info == Sample.SpecInfo()


@pytest.mark.parametrize(
    "as_sent", [int32, lambda *v: list(v), lambda *v: np.array(v), lambda *v: struct.pack("<4i", *v)]
)
def test_routed_experts_in_every_form(as_sent):
    sample = Sample(tokens=[1, 2])
    sample.append_response_tokens(
        ARGS, tokens=[3], log_probs=[-0.1], meta_info=finished(routed_experts=as_sent(1, 2, 3, 4))
    )
    assert sample.rollout_routed_experts.tolist() == [[[1], [2]], [[3], [4]]]


def test_routed_experts_from_a_position_on():
    sample = Sample(tokens=[1, 2])
    sample.append_response_tokens(ARGS, tokens=[3], log_probs=[-0.1], meta_info=finished(routed_experts=[1, 2, 3, 4]))
    more = finished(routed_experts=[5, 6, 7, 8], routed_experts_start_len=1)
    sample.append_response_tokens(ARGS, tokens=[4], log_probs=[-0.1], meta_info=more)
    assert sample.rollout_routed_experts.reshape(-1).tolist() == [1, 2, 5, 6, 7, 8]
    with pytest.raises(ValueError, match="only 3 positions"):
        sample.append_response_tokens(
            ARGS, tokens=[4], log_probs=[-0.1], meta_info=finished(routed_experts=[], routed_experts_start_len=4)
        )


def test_top_p_sets_follow_the_tokens():
    sample = Sample()
    meta = finished(top_p_token_ids=int32(7, 8, 9), top_p_token_offsets=int32(0, 2, 3))
    sample.append_response_tokens(ARGS, tokens=[7, 9], log_probs=[-0.1, -0.1], meta_info=meta)
    sample.append_response_tokens(ARGS, tokens=[1, 1], trainable=False)
    again = finished(top_p_kept_token_ids=[4], top_p_kept_token_offsets=[0, 1])
    sample.append_response_tokens(ARGS, tokens=[4], log_probs=[-0.1], meta_info=again)
    assert sample.rollout_top_p_token_ids.tolist() == [7, 8, 9, 4]
    assert sample.rollout_top_p_token_offsets.tolist() == [0, 2, 3, 3, 3, 4]


def test_there_and_back_again():
    sample = Sample(index=3, prompt=[{"role": "user", "content": "hi"}], metadata={"a": [1]})
    sample.append_response_tokens(ARGS, tokens=np.array([1, 2]), log_probs=np.array([-0.5, -1.0]), meta_info=finished())
    sample.payload_text = "added by a rollout function"
    wire = json.loads(json.dumps(sample.to_dict()))
    back = Sample.from_dict(wire)
    assert back == sample == pickle.loads(pickle.dumps(sample))
    assert back.payload_text == sample.payload_text
    assert (back.status, wire["status"]) == (Sample.Status.COMPLETED, "completed")


def test_reward_by_key():
    sample = Sample(reward={"acc": 1.0, "format": 0.5})
    assert sample.get_reward_value(argparse.Namespace(reward_key="acc")) == 1.0
    assert sample.get_reward_value(ARGS) == {"acc": 1.0, "format": 0.5}


def test_kinds_of_content():
    assert [kind.name for kind in MultimodalTypes.all()] == ["image", "video", "audio"]
    assert MultimodalTypes.get("image").placeholder == "<image>"
    assert MultimodalTypes.get("smell") is None
