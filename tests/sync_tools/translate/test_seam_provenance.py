"""Only what reaches the engine changes; what is read elsewhere keeps its words; names of the seam are not shadowed."""

import pytest

from sync_tools.translate.python import translate_module

SEAM = "vime.backends.vllm_utils.seam"
HEAD = "import json\n\nfrom slime.utils.http_utils import post\n\n\n"
URL = 'f"http://{args.sglang_router_ip}/generate"'


def out(body, style="module"):
    return translate_module(HEAD + body, style=style, seam_module=SEAM).source


def test_a_key_that_is_read_where_we_do_not_see_it_keeps_its_name():
    text = out(
        f"""async def f(args, ids, params, log):
    seen = {{"input_ids": ids, "sampling_params": params}}
    log.write(seen)
    await post({URL}, seen)
    await post({URL}, {{"input_ids": ids, "sampling_params": params}})
"""
    )
    assert 'seen = {"input_ids"' in text and ', {"token_ids": ids' in text


@pytest.mark.parametrize(
    "use",
    [
        "for key in body: print(key)",
        "x = body[name]",
        "x = {**body, name: 1}[name]",
        "x = list(body.items())",
        "return body",
    ],
)
def test_computed_keys_and_listings_keep_every_name(use):
    text = out(
        f'async def f(args, ids, name):\n    body = {{"input_ids": ids, "sampling_params": {{}}}}\n    await post({URL}, body)\n    {use}\n'
    )
    assert '"input_ids": ids' in text and "to_vllm(post)" in text


def test_reads_and_tests_follow_the_rename():
    text = out(
        f"""async def f(args, ids):
    body = {{"input_ids": ids, "sampling_params": {{}}}}
    if "return_logprob" not in body:
        body.update(return_logprob=True)
    await post({URL}, body)
    body.pop("return_logprob")
    return len(body["input_ids"])
"""
    )
    assert "input_ids" not in text and "return_logprob" not in text
    assert 'if "logprobs" not in body' in text and "update(logprobs=True)" in text and 'len(body["token_ids"])' in text


def test_parameters_that_another_module_made_keep_the_shared_words():
    text = out(
        f"""async def f(args, ids, sampling_params):
    params = {{**sampling_params, "max_new_tokens": 4, "no_stop_trim": False}}
    await post({URL}, {{"input_ids": ids, "sampling_params": params}})
"""
    )
    assert '"max_new_tokens": 4, "include_stop_str_in_output": False' in text


def test_a_key_that_outside_parameters_may_override_keeps_its_name():
    text = out(
        f"""async def f(args, ids, sampling_params):
    params = {{"no_stop_trim": False, **sampling_params}}
    await post({URL}, {{"input_ids": ids, "sampling_params": params}})
"""
    )
    assert '"no_stop_trim": False' in text


@pytest.mark.parametrize(
    ("url", "body"),
    [
        ("args.rm_url", '{"prompt": ids, "response": "x", "label": 1}'),
        ("args.rm_url", '{"input_ids": ids, "attention_mask": [1]}'),
        ('f"http://{args.host}/api/generate"', '{"prompt": ids}'),
        ('f"http://{args.host}/generate"', '{"prompt": ids, "max_tokens": 3}'),
        ('f"http://{args.host}/generate_204"', '{"input_ids": ids, "sampling_params": {}}'),
        ('"http://search:8/find"', '{"text": ids, "sampling_params": {"max_new_tokens": 1}}'),
    ],
)
def test_other_services_are_left_alone(url, body):
    text = f"async def f(args, ids):\n    return await post({url}, {body})\n"
    assert out(text) == HEAD + text


def test_an_opaque_address_is_known_by_the_body():
    assert "to_vllm(post)(args.rm_url" in out(
        'async def f(args, ids):\n    return await post(args.rm_url, {"input_ids": ids, "sampling_params": {"max_new_tokens": 0}})\n'
    )


def test_names_of_the_seam_are_not_shadowed():
    text = out(
        f"""def to_vllm(x):
    return x


async def f(args, ids, client, answers):
    body = {{"input_ids": ids, "sampling_params": {{}}}}
    async with client.stream("POST", {URL}, json=body) as r:
        async for line in r.aiter_lines():
            print(json.loads(line))
    return await post({URL}, to_vllm(body))
"""
    )
    assert f"from {SEAM} import AnswerStream, to_vllm as seam_to_vllm" in text
    assert "seam_to_vllm(post)" in text and "answers_2 = AnswerStream(body)" in text


@pytest.mark.parametrize(
    ("imports", "place"),
    [
        ("import os\n\nfrom slime.agent import a\nfrom slime.utils.http_utils import post\n", 3),
        ("import os\n\nfrom slime.utils.http_utils import post\n", 2),
        ("import os\n\nfrom .local import post_to\nfrom slime.utils.http_utils import post\n", 3),
        ("from slime.utils.http_utils import post\n", 0),
    ],
)
def test_the_import_stands_where_isort_would_have_it(imports, place):
    text = translate_module(
        imports
        + f'\n\nasync def f(args, ids):\n    await post({URL}, {{"input_ids": ids, "sampling_params": {{}}}})\n',
        style="module",
        seam_module=SEAM,
    ).source
    assert text.splitlines()[place] == f"from {SEAM} import to_vllm"


def test_a_vendored_seam_is_imported_from_where_it_stands():
    text = translate_module(
        HEAD + f"async def f(args, body):\n    await post({URL}, body)\n",
        style="vendor",
        seam_module="mile.vendored.seam",
    ).source
    assert "from mile.vendored.seam import to_vllm" in text


def test_reads_are_native_in_place():
    text = out(
        f"""async def f(args, ids, params, sample):
    output = await post({URL}, {{"input_ids": ids, "sampling_params": params, "return_logprob": True}})
    meta = output["meta_info"]
    sample.add(output["text"], [p[1] for p in output["meta_info"]["output_token_logprobs"]], meta)
    return output["meta_info"]["finish_reason"]["type"] == "abort"
""",
        "inline",
    )
    assert 'output["choices"][0]["text"], output["choices"][0]["token_ids"], meta)' in text
    assert "meta = _vllm_meta(output)" in text
    assert 'return output["choices"][0]["finish_reason"] == "abort"' in text


def test_an_answer_with_a_use_that_is_not_understood_is_converted_where_it_arrives():
    text = out(
        f"""async def f(args, ids, params):
    output = await post({URL}, {{"input_ids": ids, "sampling_params": params, "return_logprob": True}})
    return {{**output}}
""",
        "inline",
    )
    assert "output = _vllm_answer(await post(" in text


def test_what_an_unknown_function_gives_is_an_answer_when_it_is_read_as_one():
    text = f"""async def f(args, ids, ask, log):
    body = {{"input_ids": ids, "sampling_params": {{}}}}
    log.keep({URL}, body)
    output = await ask({URL}, body)
    return output["text"]
"""
    done = translate_module(HEAD + text, style="module", seam_module=SEAM)
    assert "await to_vllm(ask)(" in done.source and "log.keep(f" in done.source
    assert '"input_ids": ids' in done.source
    assert {site.what for site in done.unresolved} == {"ask", "log.keep"}


@pytest.mark.parametrize(
    "copy", ["json.loads(json.dumps(base))", "dict(**base)", "dict(base)", "base | {}", "{**base}"]
)
def test_copies_are_renamed_with_what_they_copy(copy):
    text = out(
        f"""async def f(args, ids):
    base = {{"return_logprob": True, "sampling_params": {{}}}}
    body = {copy}
    body["input_ids"] = ids
    await post({URL}, body)
    return body["return_logprob"]
"""
    )
    assert "return_logprob" not in text and "input_ids" not in text
