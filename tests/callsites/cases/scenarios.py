"""The scripts that each case runs under (doubles.py says what a turn holds, harness.py what a scenario may set)."""

SEARCH = {"http://search:8/retrieve": {"text": "found it", "meta_info": {"total": 2}}}
JUDGE = {"http://judge:9/score": {"text": "good", "meta_info": {"score": 0.5, "finish_reason": "none"}}}
SCORING = ("max_tokens", "logprobs")
NAMES = ("sglang", "slime")
# Where a payload stays in sight from where it is made to where it is sent, its keys are vLLM's.
ALL = (*NAMES, "return_logprob", "input_ids")


def turn(text, finish="stop", start=-0.5, **more):
    tokens = list(text.encode("utf-8"))
    logprobs = [round(start - 0.01 * i, 4) for i in range(len(tokens))]
    return dict(tokens=tokens, logprobs=logprobs, finish=finish, **more)


def script(*turns, **more):
    return dict(script=list(turns), **more)


USUAL = (
    script(turn("hello", version="7", cached=2)),
    script(turn("hello wor", finish="length")),
    script(turn("he", finish="abort")),
    script(turn("héllo €")),
)
TURNS = (script(turn("one "), turn("two", start=-1.0), turn("three", finish="length")), *USUAL[:2])
STREAMS = (
    *USUAL,
    script(turn("a€b€c", finish="length", version="3", cached=1)),
)
ASCII_STREAMS = (*USUAL[:3], script(turn("a longer one", finish="length", version="3", cached=1)))
NO_LOGPROBS = script(turn("xyz", no_logprobs=True))
PROMPT = dict(prompt="ab", tokens=[97, 98, 99, 100, 101], response="cde", response_length=3)


def case(name, *scenarios, **more):
    more.setdefault("must_not", NAMES)
    return dict(file=f"{name}.py", scenarios=list(scenarios or USUAL), **more)



def _cases():
    usual = (
        "helper_parses_answer gather_starred wait_for_deadline task_result zip_starred "
        "unpacking_loop map_and_itemgetter slices_and_indices numpy_pairs walk_the_answer delete_and_pop "
        "finish_details method_and_state"
    )
    turns = (
        "closure_sends partial_and_gather as_completed_loop nested_comprehension best_of_answers url_formatted "
        "url_joined url_added url_by_model_name several_samples lambda_sender turn_records yielded_answers "
        "module_state text_in_strings merged_answer copied_answer other_import_forms again_while_aborted"
    )
    streams = "stream_generator stream_decoder stream_filtered stream_until_finished stream_accumulator"
    for name in usual.split():
        yield case(name, must_not=ALL)
    for name in ("helper_builds_payload", "output_ids"):
        yield case(name)
    for name in turns.split():
        yield case(name, *TURNS)
    for name in streams.split():
        yield case(name, *STREAMS)
    for name in ("walrus_reads", "missing_logprobs", "defensive_reads", "match_patterns"):
        yield case(name, *USUAL, NO_LOGPROBS)
    for name in ("url_property", "answer_on_sample", "args_as_mapping", "decorated_sender", "sender_as_value"):
        yield case(name, *USUAL[:2])
    for name in ("sampling_shared", "own_session", "own_session_text", "traced_request"):
        yield case(name, *USUAL[:3])
    yield case("missing_key_raises", script(turn("hello")), raises="raised KeyError")
    yield case("conditional_expressions", *USUAL, NO_LOGPROBS, script(turn("abc"), sample=dict(index=1)))
    yield case("payload_by_updates", *USUAL[:2])
    yield case("payload_dataclass", *USUAL[:2])
    for name in ("payload_from_base", "payload_keywords", "payload_queue", "text_prompts"):
        yield case(name, *TURNS)
    # Nothing that could make tokens is in reach of the sink: translated or listed, but never sent as text.
    yield case("text_prompt_without_args", *USUAL, may_list=True)
    yield case("sampling_all_keys", script(turn("hello")))
    yield case(
        "sampling_literal",
        script(turn("ab!")),
        script(turn("abcd", finish="length"), sample=dict(index=3), args=dict(minimum=2)),
    )
    yield case(
        "sampling_budget",
        script(turn("abcd", finish="length"), turn("ef", finish="length"), turn("g")),
        script(turn("abcdefghijklmnop", finish="length")),
        script(turn("x"), sampling_params=dict(max_new_tokens=0, temperature=1.0)),
    )
    yield case("abort_by_rid", script(turn("abc", finish="length")), script(turn("abc")))
    yield case("abort_everything", script(turn("x")))
    yield case("pause_and_continue", script(turn("x")))
    yield case("memory_control", script(turn("x")))
    yield case("own_session_with_abort", script(turn("ab", finish="abort")), script(turn("ab")), NO_LOGPROBS)
    scored = turn("", finish="length", prompt_logprobs=[-0.1, -0.2, -0.3, -0.4])
    yield case("scoring", script(scored, sample=PROMPT), ignore_call=SCORING)
    yield case(
        "two_engines",
        script(
            turn("cd"),
            turn("", finish="length", prompt_logprobs=[-0.1, -0.2, -0.3, -0.4]),
            turn("", finish="length", prompt_logprobs=[-0.5, -0.6, -0.7, -0.8]),
        ),
        ignore_call=SCORING,
    )
    replay = dict(use_rollout_routing_replay=True, moe_router_topk=2)
    experts = [1, 0, 7, 3, 2, 2, 5, 6, 4, 1, 0, 3]
    for name in ("routed_experts", "routed_experts_to_sample"):
        yield case(name, script(turn("abcd", experts=experts), args=replay), script(turn("abcd")))
    yield case("service_with_same_keys", *[dict(s, services=JUDGE) for s in USUAL[:2]])
    for name in ("wrapper_for_both", "names_reused"):
        yield case(name, *[dict(s, services=SEARCH) for s in USUAL[:2]])
    yield case("lookalikes", script(turn("x")), must=('"return_logprob": True', '"input_ids": [1, 2]'))
    sticky = dict(args_sglang=dict(router_policy="consistent_hashing"), args_vllm=dict(router_policy="consistent_hash"))
    yield case(
        "session_helper",
        script(turn("hi"), sample=dict(session_id="s-1"), **sticky),
        script(turn("hi"), sample=dict(session_id="s-1")),
        must_not=("X-SMG-Routing-Key", "consistent_hashing"),
    )
    resumed = dict(tokens=[97, 98, 99], response="c", response_length=1, rollout_log_probs=[-0.1], status="aborted")
    yield case(
        "stream_appends",
        *STREAMS,
        script(turn("streamed answer"), abort_at_line=2),
        script(turn("again"), sample=resumed),
    )
    # In mid-stream the SGLang double shows half a character as U+FFFD, which the real engine and vLLM hold back.
    yield case("stream_differences", *ASCII_STREAMS)
    yield case("stream_breaks", script(turn("hello world", drop_after=4)), script(turn("hello", cached=1)))
    yield case("stream_of_text", *ASCII_STREAMS)
    yield case("stream_or_not", *USUAL[:2], *[dict(s, args=dict(stream=True)) for s in STREAMS])
    for name in ("image_branch", "computed_keys", "suppressed_reads", "annotated_names"):
        yield case(name, *USUAL)
    for name in ("task_group", "base_class", "recursive_turns", "aliased_payload"):
        yield case(name, *TURNS)
    yield case("stores_into_answer", *USUAL[:3])
    yield case("cached_answers", script(turn("hello"), turn("not asked for")))
    at = dict(args=dict(rm_url="http://teacher:1/generate"), args_vllm=dict(rm_url="http://teacher:1/inference/v1/generate"))
    yield case("opaque_reward", script(scored, sample=PROMPT, **at), ignore_call=SCORING)
    judge = dict(args=dict(rm_url="http://judge:9/score"), services=JUDGE)
    yield case("opaque_other_service", script(turn("x"), **judge), must=('"return_logprob": True',))
    yield case("no_counterpart_inside", must=("FunctionCallParser",), must_not=("vllm.srt",), text_only=True, unresolved=True)
    yield case(
        "attribution_in_prose",
        script(turn("x")),
        must=(
            "Derived from slime, https://github.com/THUDM/slime/blob/main/LICENSE",
            "ported from sglang (sgl-project/sglang#1234)",
            "adapted from THUDM/slime, see sgl-project/sglang#6 and lmsysorg/sglang",
            "https://docs.sglang.ai/router",
            "THUDM/slime#1920",
            '"vime.rollout.vllm_rollout.generate_rollout"',
        ),
        must_not=("from slime.utils", "vime authors"),
    )
    yield case(
        "module_paths_in_strings",
        must=('load_function("vime.utils.misc.group_by")', 'import_module("vime.utils.misc")', '"VIME_CASE_FLAG"'),
        must_not=("slime", "SLIME"),
        text_only=True,
    )
    for name in ("flow_try_finally", "flow_optional_answer", "flow_payload_inspected", "flow_payload_kept", "names_taken", "odd_layout"):
        yield case(name, *USUAL)
    for name in ("flow_until_break", "flow_nested_loops", "flow_filtered_payload", "flow_starred_call", "flow_two_streams"):
        yield case(name, *TURNS)
    yield case("flow_stream_then_post", script(turn("hello", drop_after=2), turn("llo", cached=1)), script(turn("whole")))
    for name in ("payload_handlers", "payload_through_queue", "payload_walrus", "urls_of_workers", "urls_kept"):
        yield case(name, *TURNS)
    for name in ("payload_row", "payload_attributes", "options_by_name"):
        yield case(name, *USUAL[:2])
    yield case("urls_in_tables", script(*[turn(str(n)) for n in range(7)], sample=dict(index=0)))
    for name in ("stream_last_line", "stream_throttled", "stream_kept_chunks", "stream_by_hand"):
        yield case(name, *ASCII_STREAMS)
    for name in ("control_by_name", "control_forms"):
        yield case(name, script(turn("x")))


CASES = {entry["file"].removesuffix(".py"): entry for entry in _cases()}
