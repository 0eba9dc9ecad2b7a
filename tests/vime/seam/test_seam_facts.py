"""The facts of both engines, a row a fact: what is sent for each field, what is read of each key of a full answer."""

import copy
import json
import pickle

import pytest
from seam_world import Bytes, int32, npy

from vime.backends.vllm_utils.seam import (
    Answer,
    AnswerStream,
    IncompleteAnswer,
    StreamError,
    UnsupportedRequest,
    control_call,
    generate_request,
    read_answer,
    wake_up_query,
)

BODY = {"input_ids": [5, 6, 7], "sampling_params": {"max_new_tokens": 4}, "return_logprob": True}


def sent(sampling=None, **body):
    return generate_request({"input_ids": [5, 6, 7], "sampling_params": sampling or {"max_new_tokens": 4}, **body})


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
    ("field", "where", "value"),
    [
        ({"rid": "a"}, "request_id", "a"),
        ({"lora_path": "tuned"}, "model", "tuned"),
        ({"extra_key": "salt"}, "cache_salt", "salt"),
        ({"priority": 0}, "priority", 0),
        ({"stream": True}, "stream_options", {"include_usage": True}),
        ({"return_logprob": True}, "logprobs", 1),
        ({"return_logprob": True, "top_logprobs_num": 5}, "logprobs", 5),
        ({"return_logprob": True, "logprob_start_len": 0}, "prompt_logprobs", 0),
        ({"return_routed_experts": True, "routed_experts_start_len": 7}, "routed_experts_prompt_start", 7),
        ({"image_data": None, "session_params": None, "bootstrap_room": None, "stream": None}, "stream", None),
        ({"return_logprob": False, "logprob_start_len": 0}, "prompt_logprobs", None),
        ({"return_logprob": True, "logprob_start_len": -1}, "prompt_logprobs", None),
    ],
)
def test_request_fields(field, where, value):
    request = sent(**field)
    assert request.get(where, request["sampling_params"].get(where)) == value
    assert not field.keys() & request.keys() - {"stream", "priority"}


@pytest.mark.parametrize(
    ("field", "named"),
    [
        ({"text": ["a", "b"], "input_ids": None}, "text"),
        ({"input_ids": [[1, 2]]}, "input_ids"),
        ({"input_ids": "123"}, "input_ids"),
        ({"input_ids": [1.5]}, "input_ids"),
        ({"image_data": ["data:..."]}, "image_data"),
        ({"data_parallel_rank": 1}, "data_parallel_rank"),
        ({"sampling_params": [{}, {}]}, "sampling_params"),
        ({"stream": True, "return_logprob": True, "logprob_start_len": 0}, "logprob_start_len"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_by_name(field, named):
    with pytest.raises(UnsupportedRequest) as refused:
        sent(**field)
    assert refused.value.field == named


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"max_new_tokens": 0}, {"max_tokens": 1}),
        ({"max_new_tokens": None}, {"max_tokens": None}),
        ({}, {"max_tokens": 128}),
        ({"temperature": 0, "top_p": 1.0, "min_p": 0.0}, {"temperature": 0, "top_p": 1.0, "min_p": 0.0}),
        ({"top_k": -1}, {"top_k": -1}),
        ({"top_k": 0}, {"top_k": 0}),
        ({"top_k": None}, {"top_k": None}),
        ({"top_k": 1 << 30}, {"top_k": 1 << 30}),
        ({"stop": None}, {"stop": None}),
        ({"stop": ""}, {"stop": None}),
        ({"stop": []}, {"stop": []}),
        ({"stop": "x"}, {"stop": "x"}),
        ({"stop": ["", "x"]}, {"stop": ["x"]}),
        ({"stop_token_ids": None}, {"stop_token_ids": None}),
        ({"stop_token_ids": [9]}, {"stop_token_ids": [9]}),
        ({"no_stop_trim": False}, {"include_stop_str_in_output": False}),
        ({"min_new_tokens": 0}, {"min_tokens": 0}),
        ({"sampling_seed": 0}, {"seed": 0}),
        ({"ignore_eos": False, "n": 2}, {"ignore_eos": False, "n": 2}),
        ({"spaces_between_special_tokens": False}, {"spaces_between_special_tokens": False}),
        ({"presence_penalty": -2, "repetition_penalty": 1.1}, {"presence_penalty": -2, "repetition_penalty": 1.1}),
        ({"ebnf": "g", "regex": None}, {"structured_outputs": {"grammar": "g"}}),
        ({"stop_regex": None}, {"stop_regex": None}),
        ({"custom_params": None}, {"extra_args": None}),
        ({"custom_params": {"return_top_p_token_ids": True, "a": 1}}, {"extra_args": {"a": 1}}),
        # What sampling kept is reported only for requests with a positive top_k.
        ({"top_k": -1, "custom_params": {"return_top_p_token_ids": True}}, {"top_k": 1 << 30}),
        ({"top_k": 20, "custom_params": {"return_top_p_token_ids": True}}, {"top_k": 20}),
    ],
)
def test_sampling_parameters_row_by_row(given, wanted):
    params = sent(dict(given) or {"n": 1})["sampling_params"]
    assert {key: params.get(key) for key in wanted} == wanted
    assert None not in params.values()


@pytest.mark.parametrize(
    "given",
    [
        {"stop_regex": "a"},
        {"dry_multiplier": 1},
        {"regex": "a", "json_schema": "{}"},
        # vLLM answers 500.
        {"regex": "a", "stop_token_ids": [3]},
    ],
)
def test_sampling_parameters_that_vllm_would_ignore_or_fail_on(given):
    with pytest.raises(UnsupportedRequest):
        sent(given)


def test_a_server_that_does_not_decode_is_not_asked_for_text():
    assert "output_mode" not in sent({"detokenize": False})
    assert sent()["output_mode"] == "text"
    assert "output_mode" not in generate_request({**BODY, "stream": True}, Bytes())


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
    stream = AnswerStream({**body, "stream": True})
    assert shown(stream, wire(chunk([97], sampling_mask=[[97]]), chunk([98], "stop", sampling_mask=[[98]])))


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


def test_a_request_is_a_plain_body_on_the_wire():
    request = sent(return_logprob=True)
    assert json.loads(json.dumps(request)) == request
    assert pickle.loads(pickle.dumps(request)).asked == copy.deepcopy(request).asked == request.asked


STREAMED = {**BODY, "stream": True}


def chunk(ids, finish=None, index=0, usage=None, **more):
    content = [{"token_id": i, "logprob": -1.0} for i in ids]
    choice = {"index": index, "finish_reason": finish, "stop_reason": None, "token_ids": ids, "routed_experts": None}
    choice |= {"sampling_mask": None, "weight_versions": None, "logprobs": {"content": content}, **more}
    return {"request_id": "generate-tokens-r", "usage": usage, "output_mode": "tokens", "choices": [choice]}


def wire(*chunks, end="\n", between=()):
    for one in chunks:
        yield "data: " + json.dumps(one) + end
        yield end.strip("\n\r") + end
        yield from between
    yield "data: [DONE]" + end


def shown(stream, lines):
    return [stream.read(json.loads(line[5:])) for line in stream.lines(lines) if line.startswith("data: {")]


USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 2}}
USAGE_CHUNK = {"request_id": "generate-tokens-r", "usage": USAGE, "choices": []}


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.parametrize("between", [(), (": ping", ""), ("event: message",)])
def test_the_final_chunk_has_the_usage_whatever_stands_between(end, between):
    seen = shown(
        AnswerStream(STREAMED, Bytes()), wire(chunk([97]), chunk([98], "length"), USAGE_CHUNK, end=end, between=between)
    )
    assert [one["text"] for one in seen] == ["a", "ab"]
    assert seen[-1]["meta_info"]["cached_tokens"] == 2


def test_the_usage_chunk_carries_the_metrics_of_the_request():
    spec = {"speculative_decoding": {"num_accepted_draft_tokens": 3, "num_draft_tokens": 4, "num_spec_steps": 2}}
    final = shown(AnswerStream(STREAMED), wire(chunk([97], "length"), {**USAGE_CHUNK, "metrics": spec}))[-1]
    assert final["meta_info"]["spec_accept_token_num"] == 3 and final["meta_info"]["spec_verify_ct"] == 2


def test_usage_in_every_chunk():
    one = {"prompt_tokens": 3, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1}}
    seen = shown(AnswerStream(STREAMED), wire(chunk([97], usage=one), chunk([98], "length", usage=USAGE)))
    assert [one["meta_info"]["completion_tokens"] for one in seen] == [1, 2]
    assert seen[-1]["meta_info"]["cached_tokens"] == 2


def test_an_abort_chunk_keeps_what_came():
    spans = [{"version": "7", "start": 0, "end": 1}]
    seen = shown(AnswerStream(STREAMED, Bytes()), wire(chunk([97]), chunk([], "abort", weight_versions=spans)))
    assert (seen[-1]["text"], seen[-1].log_probs) == ("a", [-1.0])
    assert seen[-1]["meta_info"]["finish_reason"] == {"type": "abort"}
    assert seen[-1]["meta_info"]["weight_version"] == "7"


def test_an_error_after_the_final_chunk_does_not_swallow_it():
    lines = AnswerStream(STREAMED, Bytes()).lines(
        wire(chunk([97], "stop"), {"error": {"message": "dead", "type": "x", "param": None, "code": 500}})
    )
    assert '"stop"' in next(lines)
    with pytest.raises(StreamError, match="dead"):
        list(lines)


def test_masks_and_spans_of_interleaved_choices():
    seen = shown(
        AnswerStream(STREAMED, Bytes()),
        wire(
            chunk([97], sampling_mask=[[97, 1]]),
            chunk([120], index=1, sampling_mask=[[120]]),
            chunk([98], "length", sampling_mask=[[98]]),
            chunk([121], "abort", index=1, sampling_mask=[[121, 2]]),
        ),
    )
    assert [(one["index"], one["text"]) for one in seen] == [(0, "a"), (1, "x"), (0, "ab"), (1, "xy")]
    assert int32(seen[2]["meta_info"]["top_p_token_ids"]) == [97, 1, 98]
    assert int32(seen[3]["meta_info"]["top_p_token_offsets"]) == [0, 1, 3]


def test_a_streamed_scoring_call_shows_nothing_of_the_forced_token():
    body = {"input_ids": [5], "sampling_params": {"max_new_tokens": 0}, "stream": True}
    (final,) = shown(AnswerStream(body, Bytes()), wire(chunk([97], "length", logprobs=None)))
    assert (final["text"], final["output_ids"]) == ("", [])
    assert final["meta_info"]["finish_reason"] == {"type": "length", "length": 0}


class TwoEnds(Bytes):
    """A model that may end with either of two tokens, whose text shows."""

    all_special_ids = (257, 258)

    def decode(self, ids, skip_special_tokens=False):
        return "".join("<end>" if i > 256 else chr(i) for i in ids if i != 256)


@pytest.mark.parametrize("last", [257, 258])
@pytest.mark.parametrize(("trim", "text"), [(True, "a"), (False, "a<end>")])
def test_every_end_token_of_a_model_is_cut(last, trim, text):
    body = {**STREAMED, "sampling_params": {"no_stop_trim": not trim, "skip_special_tokens": False}}
    assert shown(AnswerStream(body, TwoEnds()), wire(chunk([97, last], "stop")))[-1]["text"] == text


class Counting(Bytes):
    """Counts the tokens that it decodes."""

    decoded = 0

    def decode(self, ids, skip_special_tokens=False):
        self.decoded += len(ids)
        return super().decode(ids, skip_special_tokens)


def test_what_is_decoded_for_a_chunk_does_not_grow():
    costs = []
    for count in (100, 400):
        tokenizer = Counting()
        stream = AnswerStream(STREAMED, tokenizer)
        for _ in range(count):
            stream.read(chunk([97]))
        costs.append(tokenizer.decoded / count)
    assert costs[1] <= costs[0] * 1.1


@pytest.mark.parametrize(
    ("tags", "query"),
    [
        (None, ""),
        (["weights"], "?tags=weights"),
        (["kv_cache", "cuda_graph"], "?tags=kv_cache"),
        (["weights", "kv_cache"], "?tags=weights&tags=kv_cache"),
        # vLLM wakes nothing for what it does not know; without a query it would wake everything.
        (["cuda_graph"], "?tags=cuda_graph"),
    ],
)
def test_what_wakes_up(tags, query):
    assert wake_up_query(tags) == query
    assert control_call("http://e/wake_up", {"tags": tags}) == ("http://e/wake_up" + query, {})


@pytest.mark.parametrize(
    ("mode", "query"),
    [
        (None, ""),
        ("abort", ""),
        ("retract", "?mode=keep"),
        ("in_place", "?mode=keep&clear_cache=false"),
    ],
)
def test_what_pauses(mode, query):
    assert control_call("http://e/pause", {"mode": mode} if mode else {}) == ("http://e/pause" + query, {})
