"""Rows of the fact sheet that a rename alone would get wrong: what each route, argument and header becomes."""

import pytest

from sync_tools.translate import Translator
from sync_tools.translate.python import translate_module

TRANSLATOR = Translator()
HEAD = (
    "import requests\n\nfrom slime.utils.http_utils import get, post\n\n\nasync def f(url, args, payload, rid):\n    "
)


def call(text: str) -> tuple[str, list[str]]:
    """What a call becomes, and why it is reported."""
    done = translate_module(HEAD + text + "\n", style="module", seam_module="vime.backends.vllm_utils.seam")
    return done.source.splitlines()[-1].strip(), [site.why for site in done.unresolved]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('requests.get(f"{url}/health_generate")', 'requests.get(f"{url}/health")'),
        ('await post(f"{url}/abort_request", {"abort_all": True})', 'await post(f"{url}/abort_requests", {})'),
        (
            'await post(f"{url}/abort_request", {"rid": rid})',
            'await post(f"{url}/abort_requests", {"request_ids": [f"generate-tokens-{rid}"]})',
        ),
        ('await post(f"{url}/continue_generation", {})', 'await post(f"{url}/resume", {})'),
        ('await post(f"{url}/pause_generation", {})', 'await post(f"{url}/pause", {})'),
        (
            'await post(f"{url}/pause_generation", {"mode": "in_place"})',
            'await post(f"{url}/pause?mode=keep&clear_cache=false", {})',
        ),
        ('await post(f"{url}/release_memory_occupation", {})', 'await post(f"{url}/sleep", {})'),
        (
            'await post(f"{url}/resume_memory_occupation", {"tags": ["kv_cache", "cuda_graph"]})',
            'await post(f"{url}/wake_up?tags=kv_cache", {})',
        ),
        ('requests.get(f"{url}/get_weight_version")', 'requests.get(f"{url}/weight_info")'),
        ('requests.get(f"{url}/stop_profile")', 'requests.post(f"{url}/stop_profile")'),
        ('requests.post(f"{url}/start_profile", json={})', 'requests.post(f"{url}/start_profile", json={})'),
        ('await post(f"{url}/flush_cache", {})', 'await post(f"{url}/reset_prefix_cache", {})'),
    ],
)
def test_routes(before, after):
    assert call(before) == (after, [])


@pytest.mark.parametrize(
    ("before", "why"),
    [
        ('done = await post(f"{url}/flush_cache", {})', "read `success`"),
        ('done = requests.get(f"{url}/flush_cache")', "read `success`"),
        ('info = requests.get(f"{url}/server_info")', "another shape"),
        ('info = requests.get(f"{url}/get_server_info")', "another shape"),
        ('info = requests.get(f"{url}/model_info")', "another shape"),
        ('requests.post(f"{url}/start_profile", json={"num_steps": 3})', "--profiler-config"),
        ('requests.post(f"{url}/start_profile", json=payload)', "--profiler-config"),
        ('requests.post(f"{url}/post_process_weights", json={})', ""),
    ],
)
def test_routes_whose_options_or_answers_differ_are_reported(before, why):
    _, reported = call(before)
    assert len(reported) == 1 and why in reported[0]


@pytest.mark.parametrize(
    "read",
    [
        "args.sglang_enable_dp_attention",
        "args.sglang_cuda_graph_backend_prefill",
        'getattr(args, "sglang_init_expert_location", None)',
        'getattr(args, "sglang_enable_elastic_expert_backup", False)',
    ],
)
def test_arguments_without_a_value_of_that_meaning_are_reported(read):
    done = TRANSLATOR.file("slime/a.py", f"x = {read}\n".encode())
    assert len(done.unresolved) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("args.sglang_router_request_timeout_secs", "args.router_request_timeout_secs"),
        ("args.sglang_speculative_algorithm", "args.vllm_speculative_config"),
        ("args.sglang_model_routers", "args.vllm_model_routers"),
        ("args.sglang_dp_size", "args.vllm_dp_size"),
        ("args.sglang_ep_size", "args.vllm_ep_size"),
        ('{"x-smg-routing-key": 1}', '{"x-session-id": 1}'),
        ('{"X-SMG-Routing-Key": 1}', '{"x-session-id": 1}'),
        ('args.router_policy == "consistent_hashing"', 'args.router_policy == "consistent_hash"'),
    ],
)
def test_names_that_are_not_the_word_with_another_spelling(before, after):
    done = TRANSLATOR.file("slime/a.py", f"x = {before}\n".encode())
    assert done.data.decode() == f"x = {after}\n" and not done.unresolved


@pytest.mark.parametrize(
    ("module", "hint"),
    [
        ("sglang.srt.disaggregation.encode_server", "--ec-transfer-config"),
        ("sglang.srt.managers.io_struct", "ToolParserManager"),
        ("sglang.srt.model_executor.model_runner", "transfers weights"),
        ("sglang.srt.model_loader.utils", "bit-exact"),
    ],
)
def test_imports_without_a_counterpart_say_what_stands_in(module, hint):
    text = f"from {module} import Thing\n".encode()
    done = TRANSLATOR.file("slime/a.py", text)
    assert done.data == text and hint in done.unresolved[0].why
