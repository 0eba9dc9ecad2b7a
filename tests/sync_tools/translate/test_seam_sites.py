"""What is recognised and cannot be translated is listed, with the lines of its statement."""

import pytest

from sync_tools.translate.python import translate_module

SEAM = "vime.backends.vllm_utils.seam"


def sites(text, style="module"):
    done = translate_module(text, style=style, seam_module=SEAM)
    return {(site.line, site.end_line, site.what) for site in done.unresolved}, done.source


POST = "from slime.utils.http_utils import get, post\n\n\n"


def test_images():
    found, out = sites(
        POST
        + """async def f(args, ids, images, sampling_params, state):
    payload = {"sampling_params": sampling_params}
    if images:
        payload["image_data"] = [
            str(image) for image in images
        ]
        payload["text"] = "look"
    else:
        payload["input_ids"] = ids
    return await post(f"http://{args.sglang_router_ip}/generate", payload)
"""
    )
    assert found == {(7, 9, "image_data")}
    assert "to_vllm(post)(" in out and 'payload["token_ids"] = ids' in out


def test_an_image_entry_of_a_literal_takes_its_own_lines():
    found, _ = sites(
        POST
        + """async def f(args, ids, image, params):
    return await post(
        f"http://{args.sglang_router_ip}/generate",
        {
            "input_ids": ids,
            "image_data": [image],
            "sampling_params": params,
        },
    )
"""
    )
    assert found == {(9, 9, "image_data")}


def test_a_text_prompt_without_a_tokenizer_in_reach():
    found, _ = sites(
        POST
        + 'async def f(url, text, params):\n    return await post(f"{url}/generate", {"text": text, "sampling_params": params})\n'
    )
    assert found == {(5, 5, "text")}


@pytest.mark.parametrize(
    ("call", "what"),
    [
        ('post(f"{url}/pull_weights", {"x": 1})', "/pull_weights"),
        ('get(f"{url}/get_server_info")', "/get_server_info"),
        ('post(f"{url}/release_memory_occupation", {"tags": ["weights"]})', "/release_memory_occupation"),
        ('args.client.put(f"{url}/pause_generation", json=body)', "/pause_generation"),
        (
            'engine.ask(f"http://{args.sglang_router_ip}/generate", {"input_ids": [1], "sampling_params": {}})',
            "engine.ask",
        ),
    ],
)
def test_calls(call, what):
    found, _ = sites(POST + f"async def f(url, args, engine, tags, body):\n    return await {call}\n")
    assert found == {(5, 5, what)}


def test_a_response_that_leaves_undecoded():
    found, out = sites(
        """import requests


def f(host, ids):
    return requests.post(f"http://{host}:1/generate", json={"input_ids": ids, "sampling_params": {}})
"""
    )
    assert found == {(5, 5, "answer")} and "json=generate_request({" in out


@pytest.mark.parametrize(
    ("call", "sent"),
    [
        (
            'post(f"{url}/resume_memory_occupation", {"tags": tags})',
            'post(f"{url}/wake_up" + wake_up_query(tags), {})',
        ),
        (
            'post(f"{url}/pause_generation", payload={"mode": body["mode"]})',
            'post(f"{url}/pause" + pause_query(body["mode"]), payload={})',
        ),
        ('post(f"{url}/pause_generation", body)', 'post(*control_call(f"{url}/pause", body))'),
        ('post(f"{url}/abort_request", body)', 'post(f"{url}/abort_requests", abort_body(body))'),
        ('get(f"{url}/flush_cache")', 'post(f"{url}/reset_prefix_cache", {})'),
    ],
)
def test_a_control_body_that_is_known_when_it_is_sent(call, sent):
    found, out = sites(POST + f"async def f(url, args, tags, body):\n    await {call}\n")
    assert not found and f"await {sent}" in out


def test_a_stream_whose_lines_are_decoded_elsewhere():
    found, out = sites(
        """from events import decode


async def f(client, args, payload):
    async with client.stream("POST", f"{args.sglang_url}/generate", json=payload) as response:
        async for line in response.aiter_lines():
            decode(line)
"""
    )
    assert not found and "in answers.upstream_lines(response.aiter_lines())" in out


def test_a_server_of_the_route():
    text = 'def serve(app, handler):\n    app.router.add_post("/generate", handler)\n'
    found, out = sites(text)
    assert found == {(2, 2, "route")} and out == text


def test_a_server_of_a_decorated_route():
    text = '@app.post("/generate")\nasync def generate(request):\n    return {}\n'
    found, out = sites(text)
    assert out == text and {what for _, _, what in found} == {"route"}


def test_what_the_inline_style_has_no_place_for():
    found, out = sites(
        POST
        + """async def f(args, ids, params):
    body = {"input_ids": ids, "sampling_params": params, "return_routed_experts": True}
    return await post(f"http://{args.sglang_router_ip}/generate", body)
""",
        "inline",
    )
    assert found == {(5, 5, "return_routed_experts")} and SEAM not in out
