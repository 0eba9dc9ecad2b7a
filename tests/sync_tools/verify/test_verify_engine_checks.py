"""payloads and endpoints: what is sent to a vLLM engine, and where."""

import pytest

HEAD = "from vime.utils.http_utils import post\nfrom vime.backends.vllm_utils.seam import generate_request\n\n\n"


def sent(found, check: str, code: str, path: str = "vime/rollout/new.py") -> list[int]:
    """The lines, after the head, at which a check finds something."""
    return [line - HEAD.count("\n") for _, line, _ in found(check, {path: HEAD + code})]


NATIVE = 'u = f"http://{a.ip}:{a.port}/inference/v1/generate"'


@pytest.mark.parametrize(
    "code",
    [
        f"async def f(a, ids):\n    {NATIVE}\n    return await post(u, {{'token_ids': ids, 'sampling_params': {{'max_tokens': 3}}}})\n",
        f"async def f(a, b, s):\n    {NATIVE}\n    b = {{'input_ids': [1], 'sampling_params': s}}\n    return await post(u, generate_request(b, a))\n",
        f"async def f(a, s):\n    {NATIVE}\n    b = generate_request({{'input_ids': [1], 'sampling_params': s}}, a)\n    return await post(u, b)\n",
        "async def f(u, s):\n    return await post(u, {'prompt': s, 'text': 'x', 'label': 1})\n",
        "async def f(u):\n    return await post(f'{u}/v1/chat/completions', {'messages': [], 'temperature': 1})\n",
        "async def f(u):\n    return await post(f'{u}/abort_requests', {'request_ids': None})\n",
        "def f(tokenizer, x):\n    return tokenizer(x)['input_ids']\n",
    ],
)
def test_native_requests_built_requests_and_other_services_pass(found, code):
    assert sent(found, "payloads", code) == []


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        (f"async def f(a, i):\n    {NATIVE}\n    return await post(u, {{'input_ids': i, 'sampling_params': {{}}}})\n", [3]),
        (f"async def f(a, i):\n    {NATIVE}\n    p = {{'token_ids': i}}\n    p['return_logprob'] = True\n    return await post(u, p)\n", [4]),
        (f"async def f(a, i):\n    {NATIVE}\n    p = {{'token_ids': i}}\n    p.update(rid=1)\n    return await post(u, p)\n", [4]),
        (f"async def f(a, i):\n    {NATIVE}\n    p = dict(token_ids=i, made_up=1)\n    return await post(u, p)\n", [3]),
        (f"async def f(a):\n    {NATIVE}\n    s = {{'max_new_tokens': 3, 'seed': 1}}\n    return await post(u, {{'token_ids': [1], 'sampling_params': s}})\n", [3]),
        (f"async def f(a):\n    {NATIVE}\n    async with c.stream('POST', u, json={{'token_ids': [1], 'rid': 'x'}}) as r:\n        pass\n", [3]),
        ("async def f(a, u):\n    return await post(u, {'input_ids': [1], 'sampling_params': {'no_stop_trim': True}})\n", [2, 2]),
        (f"async def f(a, sampling_params):\n    {NATIVE}\n    return await post(u, {{'token_ids': [1], 'sampling_params': sampling_params}})\n", [3]),
        ("async def f(s, u):\n    return await s.post(u, json={'text': 'x', 'sampling_params': {}})\n", [2]),
    ],
)  # fmt: skip
def test_keys_that_vllm_ignores_are_found_where_they_are_given(found, code, lines):
    assert sent(found, "payloads", code) == lines


def test_a_body_that_neither_engine_knows_is_another_servers(found):
    ours = "def warm(c, h, ids):\n    c.post(f'http://{h}/generate', json={'input_ids': ids, 'sample_n': 0})\n"
    assert sent(found, "payloads", ours) == []
    assert sent(found, "payloads", ours.replace("'sample_n': 0", "'sampling_params': {}")) != []


def test_a_reported_line_is_not_found_again(found):
    code = "async def f(u):\n    return await post(u, {'text': 'x', 'sampling_params': {}})\n"
    assert found("payloads", {"vime/a.py": code}) != []
    assert found("payloads", {"vime/a.py": code}, reported={"vime/a.py": frozenset({2})}) == []


@pytest.mark.parametrize(
    "code",
    [
        'u = f"http://{ip}:{port}/generate"\n',
        'u = f"http://{ip}:" f"{port}/generate"\n',
        'u = base + "/flush_cache"\n',
        'u = get_model_url(args, "m", "/generate")\n',
        'def f(args, endpoint="/generate"): ...\n',
        'r = self._make_request("pause_generation", {})\n',
        'u = "http://localhost:30000/health_generate"\n',
        'x = f"--rm-url http://{h}:{p}/generate "\n',
        'u = f"{base}/v1/loads?include=core"\n',
    ],
)
def test_routes_of_the_old_engine_are_found(found, code):
    assert sent(found, "endpoints", code) == [1]


@pytest.mark.parametrize(
    "code",
    [
        'u = f"http://{ip}:{port}/inference/v1/generate"\n',
        'u = f"{base}/v1/chat/completions"\n',
        '"""Ask /generate."""\n',
        'x = f"{folder}/generate_data"\n',
        'from fastapi import FastAPI\n@app.post("/generate")\ndef f(): ...\n',
        'app.router.add_post("/generate", f)\nu = f"http://{h}/generate"\n',
        'assert path == "/generate"\n',
    ],
)
def test_native_routes_and_routes_we_serve_pass(found, code):
    assert sent(found, "endpoints", code) == []


def test_routes_served_by_a_neighbour_are_ours(found):
    files = {
        "vime/server/app.py": 'def make(app):\n    app.router.add_post("/generate", make)\n',
        "vime/server/warm.py": 'def warm(get, h):\n    get(f"http://{h}/generate")\n',
        "vime/other/warm.py": 'def warm(get, h):\n    get(f"http://{h}/generate")\n',
    }
    assert found("endpoints", files) == [("vime/other/warm.py", 2, "endpoints.route")]


def test_routes_in_scripts_are_found(found):
    text = "curl http://$H:$P/health_generate\ncurl ${URL}/get_model_info\ncurl http://h:1/health\nls /generate\n"
    assert [line for _, line, _ in found("endpoints", {"run.sh": text})] == [1, 2]
