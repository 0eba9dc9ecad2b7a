"""vLLM's answers become the dicts that upstream's code reads, and stay dicts in every respect."""

import copy
import json
import pickle

import pytest
from seam_world import answer, choice, int32, npy

from vime.backends.vllm_utils.seam import Answer, generate_request, read_answer

BODY = {"input_ids": [5, 6, 7], "sampling_params": {}, "return_logprob": True}
ASKED = generate_request(BODY)
WITH_EXPERTS = generate_request({**BODY, "return_routed_experts": True})


def read(*choices, request=ASKED, **more):
    return read_answer(answer(*choices, **more), request)


def test_text_ids_and_meta_info():
    got = read(choice([97, 98], finish="length", text="ab"))
    assert got == {
        "text": "ab",
        "output_ids": [97, 98],
        "meta_info": {
            "id": "r1",
            "finish_reason": {"type": "length", "length": 2},
            "prompt_tokens": 3,
            "completion_tokens": 2,
            "cached_tokens": 2,
            "weight_version": "7",
            "output_token_logprobs": [[-0.5, 97, None], [-0.6, 98, None]],
        },
    }
    assert (got.text, got.token_ids, got.log_probs, got.finish_type) == ("ab", [97, 98], [-0.5, -0.6], "length")


def test_it_is_a_dict_with_its_text_in_it():
    got = read(choice([97], text="a"))
    assert isinstance(got, Answer) and isinstance(got, dict)
    for other in (
        {**got},
        dict(got.items()),
        copy.deepcopy(got),
        pickle.loads(pickle.dumps(got)),
        json.loads(json.dumps(got)),
    ):
        assert other["text"] == "a" and other == got


def test_absent_values_are_absent_keys():
    meta = read(choice([97], text="a", logprobs=None, weight_versions=[]), cached=None)["meta_info"]
    assert meta["cached_tokens"] == 0
    assert not {"output_token_logprobs", "weight_version", "routed_experts", "spec_verify_ct"} & meta.keys()
    with pytest.raises(KeyError):
        read(choice([97]))["text"]


def test_reasons_to_finish():
    assert read(choice([], finish="abort", text=""))["meta_info"]["finish_reason"] == {"type": "abort"}
    stopped = read(choice([1], text="", stop_reason="!"))["meta_info"]["finish_reason"]
    assert stopped == {"type": "stop", "matched": "!"}


def test_the_last_span_gives_the_weight_version():
    spans = [{"version": "1", "start": 0, "end": 1}, {"version": "2", "start": 1, "end": 2}]
    assert read(choice([1, 2], text="", weight_versions=spans))["meta_info"]["weight_version"] == "2"


@pytest.mark.parametrize("kind", ["|u1", "<u2", ">u2"])
def test_routed_experts_are_raw_int32(kind):
    got = read(choice([1], text="", routed_experts=npy([1, 0, 255, 3], kind)), request=WITH_EXPERTS)
    assert int32(got["meta_info"]["routed_experts"]) == [1, 0, 255, 3]
    turned = npy([1, 3, 2, 4], kind, fortran=True, shape=(2, 2))
    transposed = read(choice([1], text="", routed_experts=turned), request=WITH_EXPERTS)
    assert int32(transposed["meta_info"]["routed_experts"]) == [1, 2, 3, 4]


def test_routed_experts_that_nobody_asked_for_are_not_shown():
    plain = generate_request({"input_ids": [1], "sampling_params": {}})
    assert "routed_experts" not in read(choice([1], text="", routed_experts=npy([1])), request=plain)["meta_info"]


def test_the_sampling_mask_is_flat_with_offsets():
    meta = read(choice([1, 2], text="", sampling_mask=[[1, 9], [2]]))["meta_info"]
    assert int32(meta["top_p_token_ids"]) == [1, 9, 2]
    assert int32(meta["top_p_token_offsets"]) == [0, 2, 3]


def test_speculation():
    spec = {"num_accepted_draft_tokens": 3, "num_draft_tokens": 5, "num_spec_steps": 2}
    meta = read(choice([1], text=""), metrics={"speculative_decoding": spec})["meta_info"]
    assert (meta["spec_accept_token_num"], meta["spec_draft_token_num"], meta["spec_verify_ct"]) == (3, 5, 2)


@pytest.mark.parametrize("known", [True, False])
def test_scoring_hides_the_token_that_vllm_must_generate(known):
    body = {
        "input_ids": [5, 6, 7],
        "sampling_params": {"max_new_tokens": 0},
        "return_logprob": True,
        "logprob_start_len": 0,
    }
    scores = [None, {"6": {"logprob": -1.0}, "9": {"logprob": -0.1}}, {"7": {"logprob": -2.0}}]
    raw = answer(choice([120], text="x", logprobs=None), prompt_logprobs=scores)
    got = read_answer(raw, body if known else None)
    assert got["text"] == "" and got["output_ids"] == []
    meta = got["meta_info"]
    assert meta["completion_tokens"] == 0 and meta["output_token_logprobs"] == []
    assert meta["finish_reason"] == {"type": "length", "length": 0}
    first = 5 if known else None
    assert meta["input_token_logprobs"] == [[None, first, None], [-1.0, 6, None], [-2.0, 7, None]]


def test_prompt_logprobs_from_where_they_were_asked_for():
    body = {
        "input_ids": [5, 6, 7],
        "sampling_params": {"max_new_tokens": 1},
        "return_logprob": True,
        "logprob_start_len": 1,
    }
    raw = answer(choice([1], text="x"), prompt_logprobs=[None, {"6": {"logprob": -1.0}}, {"7": {"logprob": -2.0}}])
    meta = read_answer(raw, body)["meta_info"]
    assert meta["input_token_logprobs"] == [[None, 6, None], [-2.0, 7, None]]
    assert meta["output_token_logprobs"] == [[-0.5, 1, None]]


def test_several_choices_are_a_list():
    assert [a["text"] for a in read(choice([1], text="a"), choice([2], text="b"))] == ["a", "b"]


@pytest.mark.parametrize("other", [{"error": {"message": "no"}}, {"workers": []}, "plain", None])
def test_what_is_no_answer_comes_back_as_it_is(other):
    assert read_answer(other) is other
