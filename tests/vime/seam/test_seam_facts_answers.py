"""What is read of each key of a full answer, nulls included: a row a fact."""

import copy
import json
import pickle

import pytest
from seam_world import int32, npy

from vime.backends.vllm_utils.seam import Answer, IncompleteAnswer, read_answer

BODY = {"input_ids": [5, 6, 7], "sampling_params": {"max_new_tokens": 4}, "return_logprob": True}


def full_answer(**choice):
    """An answer with every key that vLLM 0.32 writes, nulls included."""
    entries = [
        {"token_id": t, "logprob": lp, "rank": 1, "top_logprobs": [{"token_id": t, "logprob": lp, "rank": 1}]}
        for t, lp in ((343, -5.9), (97, -9999.0))
    ]
    return {
        "request_id": "generate-tokens-ba2c",
        "model": "tiny",
        "created": 1795969768,
        "usage": {
            "prompt_tokens": 3,
            "total_tokens": 5,
            "completion_tokens": 2,
            "prompt_tokens_details": None,
            "completion_tokens_details": None,
        },
        "prompt_logprobs": None,
        "prompt_token_id_logprobs": None,
        "prompt_token_ids": None,
        "mm_placeholders": None,
        "metrics": None,
        "kv_transfer_params": None,
        "ec_transfer_params": None,
        "output_mode": "text",
        "choices": [
            {
                "index": 0,
                "finish_reason": "length",
                "stop_reason": None,
                "token_ids": [343, 97],
                "text": "ab",
                "routed_experts": None,
                "sampling_mask": None,
                "weight_versions": [{"version": "default", "start": 0, "end": 2}],
                "logprobs": {"content": entries},
                **choice,
            }
        ],
    }


def meta(request=BODY, top=None, **choice):
    return read_answer({**full_answer(**choice), **(top or {})}, request)["meta_info"]


@pytest.mark.parametrize(
    ("choice", "key", "value"),
    [
        ({}, "id", "ba2c"),
        ({}, "prompt_tokens", 3),
        ({}, "completion_tokens", 2),
        ({}, "cached_tokens", 0),
        ({}, "output_token_logprobs", [[-5.9, 343, None], [-9999.0, 97, None]]),
        ({"logprobs": None}, "output_token_logprobs", None),
        ({}, "weight_version", "default"),
        ({"weight_versions": []}, "weight_version", None),
        ({"weight_versions": None}, "weight_version", None),
        (
            {"weight_versions": [{"version": "d", "start": 0, "end": 1}, {"version": "7", "start": 1, "end": 2}]},
            "weight_version",
            "7",
        ),
        ({}, "finish_reason", {"type": "length", "length": 2}),
        ({"finish_reason": "stop", "stop_reason": "END"}, "finish_reason", {"type": "stop", "matched": "END"}),
        ({"finish_reason": "stop", "stop_reason": 97}, "finish_reason", {"type": "stop", "matched": 97}),
        ({"finish_reason": "stop"}, "finish_reason", {"type": "stop", "matched": 97}),
        ({"finish_reason": "abort"}, "finish_reason", {"type": "abort"}),
        ({"finish_reason": None}, "finish_reason", None),
        ({}, "routed_experts", None),
        ({}, "top_p_token_ids", None),
        ({}, "e2e_latency", None),
        ({}, "spec_verify_ct", None),
        ({}, "input_token_logprobs", None),
    ],
)
def test_keys_of_an_answer(choice, key, value):
    assert meta(**choice).get(key) == value


@pytest.mark.parametrize(
    ("details", "cached"), [(None, 0), ({"cached_tokens": None}, 0), ({"cached_tokens": 256}, 256)]
)
def test_cached_tokens(details, cached):
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "prompt_tokens_details": details}
    assert meta(top={"usage": usage})["cached_tokens"] == cached


def test_an_abort_before_the_first_token():
    nothing = {"token_ids": [], "text": "", "logprobs": {"content": []}, "weight_versions": []}
    got = read_answer(full_answer(finish_reason="abort", **nothing), {**BODY, "return_routed_experts": True})
    assert (got.text, got.token_ids, got.log_probs) == ("", [], [])
    assert got["meta_info"]["finish_reason"] == {"type": "abort"} and "weight_version" not in got["meta_info"]


def test_logprobs_that_do_not_match_the_tokens_are_an_error():
    with pytest.raises(IncompleteAnswer, match="0 logprobs for 2 tokens"):
        meta(logprobs={"content": []})


def test_routed_experts_that_were_asked_for_and_did_not_come():
    with pytest.raises(IncompleteAnswer, match="--enable-return-routed-experts"):
        meta({**BODY, "return_routed_experts": True})


def test_sampling_masks_that_were_asked_for_and_did_not_come():
    body = {**BODY, "sampling_params": {"custom_params": {"return_top_p_token_ids": True}}}
    with pytest.raises(IncompleteAnswer, match="--return-sampling-mask"):
        meta(body)
    assert "top_p_token_ids" not in meta(body, finish_reason="abort")
    assert int32(meta(body, sampling_mask=[[343], [97]])["top_p_token_ids"]) == [343, 97]


@pytest.mark.parametrize("kind", ["|u1", "<u2"])
@pytest.mark.parametrize("shape", [(8,), (4, 2), (2, 2, 2)])
def test_routed_experts_of_any_shape(kind, shape):
    values = [0, 255, 1, 2, 3, 4, 5, 256 if kind == "<u2" else 6]
    got = meta({**BODY, "return_routed_experts": True}, routed_experts=npy(values, kind, shape=shape))
    assert int32(got["routed_experts"]) == values


def test_an_array_that_is_not_whole_is_an_error():
    with pytest.raises(ValueError, match="of 3 integers"):
        meta({**BODY, "return_routed_experts": True}, routed_experts=npy([1, 2, 3], shape=(2, 2)))


def test_the_prompts_token_is_picked_by_its_id():
    scores = [
        None,
        {
            "9": {"logprob": -0.1, "rank": 1, "decoded_token": "x"},
            "6": {"logprob": -1.0, "rank": 4, "decoded_token": "y"},
        },
        {"7": {"logprob": -2.0, "rank": 1, "decoded_token": "z"}},
    ]
    body = {**BODY, "logprob_start_len": 0}
    got = meta(body, top={"prompt_logprobs": scores})
    assert got["input_token_logprobs"] == [[None, 5, None], [-1.0, 6, None], [-2.0, 7, None]]


def test_a_scoring_call_shows_nothing_of_the_forced_token():
    body = {**BODY, "sampling_params": {"max_new_tokens": 0}, "logprob_start_len": 0}
    got = read_answer({**full_answer(sampling_mask=[[343], [97]]), "prompt_logprobs": [None] * 3}, body)
    assert (got.text, got.token_ids, got.log_probs) == ("", [], [])
    assert not [key for key in got["meta_info"] if key.startswith("top_p")]


@pytest.mark.parametrize(
    ("mask", "ids", "offsets"), [([[343, 1], [97]], [343, 1, 97], [0, 2, 3]), ([[], [97]], [97], [0, 0, 1])]
)
def test_sampling_masks(mask, ids, offsets):
    got = meta(sampling_mask=mask)
    assert (int32(got["top_p_token_ids"]), int32(got["top_p_token_offsets"])) == (ids, offsets)


def test_speculation_with_nulls():
    got = meta(top={"metrics": {"speculative_decoding": {"num_draft_tokens": 4, "num_spec_steps": None}}})
    assert (got["spec_accept_token_num"], got["spec_draft_token_num"], got["spec_verify_ct"]) == (0, 4, 0)


COPIES = [
    lambda got: json.loads(json.dumps(got)),
    copy.copy,
    copy.deepcopy,
    lambda got: got.copy(),
    lambda got: pickle.loads(pickle.dumps(got)),
    lambda got: {**got},
    lambda got: dict(got.items()),
    lambda got: got | {},
]


@pytest.mark.parametrize("copied", COPIES)
def test_an_answer_is_a_dict_in_every_copy(copied):
    got = read_answer(full_answer(), BODY)
    assert copied(got) == got and copied(got)["text"] == "ab"


def test_an_answer_is_a_dict_in_every_operation():
    got = read_answer(full_answer(), BODY)
    assert isinstance(got, Answer) and "text" in got and "choices" not in got
    assert got.get("choices", 1) == 1
    with pytest.raises(KeyError):
        got["choices"]
    got |= {"mine": 1}
    assert got.pop("mine") == 1
    del got["text"]
    assert list(got) == ["output_ids", "meta_info"]
