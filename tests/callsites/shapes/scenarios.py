"""The scripts that each case runs under, in the form of the call-site harness."""


def turn(text, finish="stop", start=-0.5, **more):
    toks = list(text.encode("utf-8")) if isinstance(text, str) else list(text)
    return dict(tokens=toks, logprobs=[round(start - 0.01 * i, 4) for i in range(len(toks))], finish=finish, **more)


HALF = [97, 0xE2, 0x82]
KEYS = ("return_logprob", "input_ids", "sglang", "slime")


def case(name, *scenarios, **more):
    return dict(file=f"{name}.py", scenarios=list(scenarios), **{"must_not": ("sglang", "slime"), **more})


_ALL = [
    case("s01_two_routes_one_helper", dict(script=[turn("ok")]), must_not=KEYS),
    case("s02_gather", dict(script=[turn("one"), turn("two", finish="length")]), must_not=("input_ids", "sglang")),
    case("s03_tasks", dict(script=[turn("hello")]), must_not=KEYS),
    case("s04_partial", dict(script=[turn("hi!")]), must_not=("no_stop_trim", "min_new_tokens", *KEYS)),
    case("s05_closure", dict(script=[turn("a", version="1"), turn("b", version="2")]), must_not=KEYS),
    case("s06_client_class", dict(script=[turn("héllo")]), must_not=KEYS),
    case("s07_response_text", dict(script=[turn("ok")]), must_not=KEYS),
    case("s08_urljoin", dict(script=[turn("1"), turn("2"), turn("3")])),
    case(
        "s09_routed_experts",
        dict(script=[turn("abc", experts=[1, 2, 3, 255])], args=dict(use_rollout_routing_replay=True)),
        dict(script=[turn("abc", experts=[1, 2, 3])]),
    ),
    case(
        "s10_scoring",
        dict(
            script=[turn("", finish="length", prompt_logprobs=[-0.1, -0.2])],
            sample=dict(tokens=[97, 98, 99]),
            args=dict(rm_url="http://t:1/generate"),
            args_vllm=dict(rm_url="http://t:1/inference/v1/generate"),
        ),
        ignore_call=("max_tokens", "logprobs"),
        must_not=KEYS,
    ),
    case("s11_leaves", dict(script=[turn("ok")]), must=('"return_logprob"', '"input_ids"')),
    case("s12_names_reused", dict(script=[turn("a"), turn("b")]), must=('"return_logprob": False',)),
    case("s13_stream_generator", dict(script=[turn("stre€m", cached=3)]), dict(script=[turn("abc", finish="abort")]), must_not=KEYS),
    case("s14_stream_helper", dict(script=[turn("a€b€")]), must_not=KEYS),
    case("s15_module_template", dict(script=[turn("ok")]), must_not=("max_new_tokens", *KEYS)),
    case("s16_retry", dict(script=[turn("a"), turn("b")])),
    case("s17_control", dict(script=[turn("a")])),
    case("s18_sampling", dict(script=[turn("a")]), dict(script=[turn("a")], sample=dict(index=1))),
    case("s19_dict_subclass", dict(script=[turn("a€")])),
    case("s20_missing_key", dict(script=[turn("a")], raises="raised KeyError")),
    case("s21_text_in_helper", dict(script=[turn("a")])),
    case(
        "s22_suffix_logic",
        dict(script=[turn("a")], args_sglang=dict(teacher="http://t:1"), args_vllm=dict(teacher="http://t:1/")),
        dict(
            script=[turn("a")],
            args_sglang=dict(teacher="http://t:1/generate"),
            args_vllm=dict(teacher="http://t:1/inference/v1/generate"),
        ),
        must_not=KEYS,
    ),
    case("s23_queue", dict(script=[turn("a"), turn("bc")])),
    case(
        "s24_stream_tail",
        dict(script=[turn(HALF, finish="length")]),
        dict(script=[turn("abcdef", drop_after=2)]),
        dict(script=[turn("a€b€")], abort_at_line=4),
        in_place_differs="the server keeps an incomplete character back; usage is not known before the end",
    ),
]
CASES = {case["file"].removesuffix(".py"): case for case in _ALL}
