"""The scripts that each case runs under, in the form of the call-site harness."""

JUDGE = {"http://judge:9/score": {"text": "good", "meta_info": {"score": 0.5, "finish_reason": "none"}}}
NAMES = ("sglang", "slime")
SCORING = ("max_tokens", "logprobs")


def turn(text, finish="stop", start=-0.5, **more):
    tokens = list(text.encode("utf-8"))
    return dict(
        tokens=tokens, logprobs=[round(start - 0.01 * i, 4) for i in range(len(tokens))], finish=finish, **more
    )


def script(*turns, **more):
    return dict(script=list(turns), **more)


USUAL = (
    script(turn("hello", version="7", cached=2)),
    script(turn("hello wor", finish="length")),
    script(turn("he", finish="abort")),
    script(turn("héllo €")),
)
STREAMS = (
    *USUAL,
    script(turn("longer answer"), abort_at_line=2),
    script(turn("plain text, long", finish="length", version="3", cached=1)),
)
TURNS = (
    script(turn("one ", version="1"), turn("two", start=-1.0), turn("three", finish="length")),
    script(turn("end", finish="length")),
)
SCORED = dict(prompt="ab", tokens=[97, 98, 99, 100, 101], response="cde", response_length=3)
PROMPT_SCORES = dict(prompt_logprobs=[-0.1, -0.2, -0.3, -0.4])


def case(name, *scenarios, **more):
    more.setdefault("must_not", NAMES)
    return dict(file=f"{name}.py", scenarios=list(scenarios or USUAL), **more)


def _cases():
    import pathlib

    special = {c["file"][:-3]: c for c in _special()}
    for path in sorted(pathlib.Path(__file__).parent.glob("*.py")):
        if path.stem != "scenarios":
            yield special.get(path.stem) or case(path.stem)


def _special():
    teacher = dict(args=dict(rm_url="http://t:1/generate"), args_vllm=dict(rm_url="http://t:1/inference/v1/generate"))
    for name in ("cell_semaphore_wrapper", "cell_async_generator_turns", "cell_model_url", "cell_output_ids_only"):
        yield case(name, *TURNS)
    yield case("cell_text_and_scoring", script(turn("cd"), turn("", finish="length", **PROMPT_SCORES)), ignore_call=SCORING)
    yield case("cell_scoring_from_middle", script(turn("", finish="length", **PROMPT_SCORES), sample=SCORED), ignore_call=SCORING)
    yield case("cell_httpx_own_client", script(turn("", finish="length", **PROMPT_SCORES), sample=SCORED, **teacher), ignore_call=SCORING)
    yield case("cell_experts_decoded", script(turn("abc", experts=[1, 2, 3, 255])))
    yield case("cell_retry_loop", script(turn("a", no_logprobs=True), turn("bc")), script(turn("xyz")), script(turn("a", no_logprobs=True), raises="raised EmptyAnswer"))
    yield case("cell_two_services_same_names", *(s | dict(services=JUDGE) for s in USUAL))
    sticky = dict(args_sglang=dict(router_policy="consistent_hashing"), args_vllm=dict(router_policy="consistent_hash"))
    yield case("cell_headers_merged", script(turn("hi"), sample=dict(session_id="s-1"), **sticky), script(turn("hi"), sample=dict(session_id="s-1")), script(turn("hi"), **sticky))
    yield case("flow_new_text", *USUAL[:3], *STREAMS[4:])
    for name in ("flow_abort_resume", "flow_state_object", "flow_output_ids", "flow_text_prompt"):
        yield case(name, *STREAMS)
    for name in ("cell_answer_kept_in_metadata", "cell_default_args", "cell_nested_tools", "cell_worker_queue", "flow_or_post"):
        yield case(name, *TURNS)
    yield case("flow_dropped_connection", *USUAL, script(turn("abcdef", drop_after=2), turn("rest")))
    yield case("cell_try_keyerror", *USUAL, script(turn("abc", no_logprobs=True)))
    for name in ("opq_reward_in_class", "opq_reward_batch"):
        yield case(name, script(turn("", finish="length", **PROMPT_SCORES), sample=SCORED, **teacher), ignore_call=SCORING)
    yield case("opq_reward_text", script(turn("x"), services=JUDGE, args=dict(rm_url="http://judge:9/score")))
    for name in ("cell_payload_popped", "cell_rows_of_requests", "cell_merged_meta", "cell_text_special"):
        yield case(name, *TURNS)
    for name in ("flow_bytes_client", "flow_into_queue", "flow_lines_given_to_helper"):
        yield case(name, *USUAL[:3], *STREAMS[4:])
    yield case("flow_retry", *USUAL, script(turn("abcdef", drop_after=2), turn("abc")))
    yield case("flow_parallel", script(turn("abcdef"), turn("ghij", finish="length")))
    yield case("cell_experts_given_on", script(turn("abc", experts=[1, 2, 3, 255]), args=dict(use_rollout_routing_replay=True)), script(turn("abc", experts=[1, 2])))
    for name in ("opq_two_teachers", "opq_start_len"):
        yield case(name, script(turn("", finish="length", **PROMPT_SCORES), sample=SCORED, **teacher), ignore_call=SCORING)
    yield case("opq_generating_teacher", *(s | teacher for s in USUAL))
    for name in ("ctl_get_alone", "ctl_helper_with_body", "ctl_body_as_parameter", "ctl_version_and_info", "ctl_walrus_workers"):
        yield case(name, script(turn("x")))
    yield case("more_group_of_samples", script(turn("a"), turn("bb", start=-0.1), turn("ccc", finish="length")))
    resumed = dict(prompt="ab", tokens=[97, 98, 99], response="c", response_length=1, rollout_log_probs=[-0.1], status="aborted")
    yield case("more_partial_sample", *USUAL, script(turn("rest"), sample=resumed), script(turn("x"), sample=resumed, sampling_params=dict(max_new_tokens=1)))
    yield case("more_lookalike_local", must=('"input_ids": [1]', '"input_ids": [[1, 2]]', '"return_logprob": 1'))
    yield case("more_stream_shapes", *USUAL[:3], *STREAMS[4:5])
    for name in ("last_server_load", "last_rid_in_body", "last_tags_computed"):
        yield case(name, script(turn("x")))
    yield case("ctl_tags_in_constants", script(turn("x")), script(turn("x"), args=dict(partial_rollout=True)))
    for name in ("cell_control_sweep", "cell_health_poll", "ctl_flush_until_ok", "ctl_by_table", "ctl_gather_all", "ctl_class_client", "ctl_worker_removal"):
        yield case(name, script(turn("x")))
    for name in ("kin_transposed", "kin_pair_statistics", "kin_inherited_client"):
        yield case(name, *USUAL)
    for name in ("kin_template_constant", "kin_dict_union", "kin_filtered_params"):
        yield case(name, *USUAL[:2], script(turn("ok"), sampling_params=dict(max_new_tokens=4, temperature=0.5, top_k=3)))
    yield case("kin_walrus", *USUAL, script(turn("a", finish="length"), turn("b ")), ignore_call=("logprobs",))
    yield case("kin_partial_resume", *USUAL, script(turn("zz", no_logprobs=True)), script(turn("rest"), sample=resumed | dict(loss_mask=[1])), script(turn("x"), sample=resumed, sampling_params=dict(max_new_tokens=1)))
    experts = dict(args=dict(use_rollout_routing_replay=True))
    yield case("kin_routed_experts", script(turn("abc", experts=[1, 2, 3, 4]), **experts), *USUAL)
    yield case("kin_common_spread", script(turn("go</tool>"), turn("ok")), script(turn("x", experts=[1, 2]), **experts), must_not=("no_stop_trim", "return_logprob"))
    search = dict(services={"http://search:9/retrieve": {"result": [{"text": "p1"}, {"text": "p2"}]}})
    yield case("kin_retriever", script(turn("<search>q</search>"), turn("ans"), **search), script(turn("x", finish="abort"), **search), must=('"queries": [query]', 'output["result"]'), must_not=())
    yield case("kin_text_history", script(turn("go</act>"), turn("fin")), script(turn("a</act>"), turn("b", finish="abort")), ignore_call=("logprobs",))
    yield case("kin_key_loops", script(turn("ab", cached=1), turn("c", cached=3)), script(turn("x", finish="abort")))
    yield case("kin_tool_registry", script(turn("calc:12"), turn("echo:hi"), turn("done")), must=('"finish_reason": {"type": "tool"}',))
    yield case("kin_stream_stop_abort", script(turn("ab!cdef")), script(turn("abcd")), script(turn("ab\u20ac!d", finish="length")))
    yield case("kin_score_then_generate", *(script(turn("", finish="length", prompt_logprobs=[lp]), turn("ok")) for lp in (-0.5, -0.01)), ignore_call=SCORING)
    # A dict from a builder that stands above its caller, or that gathers keywords, is written in vLLM's words.
    for name in ("kin_payload_builder", "kin_kwargs_through"):
        yield case(name, script(turn("ab"), turn("cd", finish="length")), must_not=("return_logprob",) if "builder" in name else ())
    yield case("kin_teacher_helpers", script(turn("", finish="length", **PROMPT_SCORES), sample=SCORED, **teacher), ignore_call=SCORING, must_not=("return_logprob",))
    # Text where the run's arguments alone are in reach.
    yield case("kin_reward_batch", script(turn("Yes"), turn("no", finish="length")), ignore_call=("logprobs",), must=("GenerateState(args).tokenizer",))
    yield case("kin_agent_object", script(turn('{"steps": 2, "text": "go"}')), script(turn("x", finish="abort")), ignore_call=("logprobs",), must=("GenerateState(self.args).tokenizer",))
    yield case("kin_property_and_slots", *TURNS, script(turn("a?"), turn("b"), sample=dict(session_id="q")))
    yield case("kin_recursive_tree", script(turn("ab"), turn("c", start=-2.0), turn("d")), script(turn("x", finish="length")))
    yield case("kin_stream_dispatch", *(s | dict(args=dict(use_stream=on)) for on in (True, False) for s in USUAL[:3]))
    yield case("kin_decorated_retry", *USUAL, script(turn("ab", finish="abort"), turn("c")))
    yield case("kin_stream_callback", *STREAMS, script(turn("abcdefgh")))
    yield case("kin_two_texts", script(turn("ab"), turn("cde"), turn("yes")), ignore_call=("logprobs",))
    yield case("kin_task_group", script(turn("ab"), turn("cde", finish="length")))


CASES = {c["file"].removesuffix(".py"): c for c in _cases()}
