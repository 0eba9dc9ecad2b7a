"""Upstream-shaped bodies become requests that vLLM takes and does not ignore."""

import array
import json

import pytest
from seam_world import Bytes

from vime.backends.vllm_utils.seam import UnsupportedRequest, generate_request


def build(sampling=None, **body):
    return generate_request({"input_ids": [1, 2], "sampling_params": sampling or {}, **body})


def test_every_field_has_its_place_and_the_body_stays_as_it_was():
    body = {
        "input_ids": (1, 2),
        "sampling_params": {"max_new_tokens": 5},
        "return_logprob": True,
        "rid": "r",
        "priority": 1,
        "extra_key": "salt",
        "lora_path": "ours",
        "stream": True,
        "return_routed_experts": True,
    }
    before = json.dumps(body)
    request = generate_request(body)
    assert json.loads(json.dumps(request)) == {
        "token_ids": [1, 2],
        "sampling_params": {"max_tokens": 5, "logprobs": 1},
        "request_id": "r",
        "priority": 1,
        "cache_salt": "salt",
        "model": "ours",
        "stream": True,
        "stream_options": {"include_usage": True},
        "output_mode": "text",
    }
    assert json.dumps(body) == before
    assert generate_request(request) is request


def test_either_spelling_is_read_and_vllms_wins():
    native = {"token_ids": [1, 2], "sampling_params": {"max_tokens": 4, "max_new_tokens": 9}, "logprobs": True}
    assert generate_request(native)["sampling_params"] == {"max_tokens": 4, "logprobs": 1}


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({}, {"max_tokens": 128}),
        ({"max_new_tokens": None}, {}),
        ({"max_new_tokens": 3, "min_new_tokens": 1, "sampling_seed": 7}, {"max_tokens": 3, "min_tokens": 1, "seed": 7}),
        (
            {"max_new_tokens": 3, "no_stop_trim": True, "stop": "x"},
            {"max_tokens": 3, "include_stop_str_in_output": True, "stop": "x"},
        ),
        (
            {"max_new_tokens": 3, "top_k": None, "stop": None, "stop_token_ids": [4]},
            {"max_tokens": 3, "stop_token_ids": [4]},
        ),
        ({"max_new_tokens": 3, "stop": ""}, {"max_tokens": 3}),
        ({"max_new_tokens": 3, "custom_params": {"return_top_p_token_ids": False}}, {"max_tokens": 3}),
        ({"max_new_tokens": 3, "custom_params": {"mine": 1}}, {"max_tokens": 3, "extra_args": {"mine": 1}}),
        ({"max_new_tokens": 3, "json_schema": "{}"}, {"max_tokens": 3, "structured_outputs": {"json": "{}"}}),
        ({"max_new_tokens": 3, "regex": "a+"}, {"max_tokens": 3, "structured_outputs": {"regex": "a+"}}),
        ({"max_new_tokens": 0}, {"max_tokens": 1}),
    ],
)
def test_sampling_parameters(given, sent):
    assert build(given)["sampling_params"] == sent


def test_a_scoring_call_asks_for_the_prompts_logprobs_alone():
    request = build({"max_new_tokens": 0}, return_logprob=True, logprob_start_len=0)
    assert request["sampling_params"] == {"max_tokens": 1, "prompt_logprobs": 0}
    assert request.asked.scoring
    both = build({"max_new_tokens": 2}, return_logprob=True, logprob_start_len=0)
    assert both["sampling_params"] == {"max_tokens": 2, "prompt_logprobs": 0, "logprobs": 1}


def test_a_text_prompt_is_encoded_with_special_tokens():
    request = generate_request({"text": "ab", "sampling_params": {}}, Bytes())
    assert request["token_ids"] == [256, 97, 98]
    with pytest.raises(UnsupportedRequest, match="no tokenizer"):
        generate_request({"text": "ab", "sampling_params": {}})


def test_prompts_may_be_arrays():
    assert build(input_ids=array.array("l", [3, 4]))["token_ids"] == [3, 4]


@pytest.mark.parametrize(
    "body",
    [
        {"image_data": ["x"]},
        {"input_ids": [[1], [2]]},
        {"input_ids": None, "text": ["a", "b"]},
        {"sampling_params": [{}]},
        {"session_params": {"id": 1}},
        {"no_such_field": 1},
        {"sampling_params": {"no_such_parameter": 1}},
    ],
)
def test_what_vllm_would_ignore_is_refused(body):
    with pytest.raises(UnsupportedRequest) as refused:
        build(
            **{"sampling": body.pop("sampling_params")} if isinstance(body.get("sampling_params"), dict) else {}, **body
        )
    assert refused.value.field


def test_an_empty_image_list_is_no_image():
    assert "image_data" not in build(image_data=[])
