"""Kinds of places that the independent search showed: each is translated, and its neighbour is left alone or reported."""

import pytest

from sync_tools.translate import Translator

MODULE, INLINE = Translator(), Translator(style="inline")
HELPER = """
import requests


class Engine:
    def ask(self, endpoint, payload=None):
        url = f"http://{self.host}/{endpoint}"
        response = requests.post(url, json=payload or {})
        return response.json()

    def wake(self, tags):
        return self.ask("resume_memory_occupation", {"tags": tags})

    def sleep(self):
        return self.ask("release_memory_occupation")
"""
FLUSH = """
import requests


def flush(url):
    for _ in range(9):
        response = requests.get(f"{url}/flush_cache")
        if response.status_code == 200:
            break
"""


def text(source: str, path: str = "slime/a.py", translator: Translator = MODULE) -> str:
    done = translator.file(path, source.encode())
    assert translator.file(path, done.data).data == done.data
    return done.data.decode()


def reported(source: str, path: str = "slime/a.py") -> list[str]:
    return [site.what for site in MODULE.file(path, source.encode()).unresolved]


def test_a_helper_that_posts_to_several_routes_converts_before_it_sends() -> None:
    done = text(HELPER)
    assert done.count("        url, payload = control_call(url, payload)\n        response = requests.post(") == 1
    assert 'self.ask("wake_up", {"tags": tags})' in done and 'self.ask("sleep")' in done
    assert reported(HELPER) == []


def test_a_helper_whose_address_is_no_variable_is_reported() -> None:
    assert reported(HELPER.replace("requests.post(url,", 'requests.post(url + "",'))


def test_a_busy_cache_is_told_by_the_answer_not_by_the_status() -> None:
    assert 'if response.status_code == 200 and response.json()["success"]:' in text(FLUSH)
    assert reported(FLUSH) == []
    assert 'if done and (response.status_code == 200 and response.json()["success"]):' in text(
        FLUSH.replace("if response", "if done and response")
    )
    assert reported(FLUSH.replace("if response.status_code == 200", "if check(response)")) == ["/flush_cache"]


def test_an_answer_of_another_shape_is_no_matter_where_only_its_status_is_read() -> None:
    polled = 'import urllib.request\n\n\ndef up(u):\n    r = urllib.request.urlopen(f"{u}/server_info")\n    return r.status == 200\n'
    assert reported(polled) == []
    assert reported(polled.replace("r.status == 200", "json.load(r)")) == ["/server_info"]


def test_a_servers_command_line_as_a_list() -> None:
    command = 'run(["python3", "-m", "sglang.launch_server", "--model-path", m, "--tp", "1", "--host", h])\n'
    assert text(command) == (
        'run(["vllm", "serve", "--enable-scale-out", "--model", m, "--tensor-parallel-size", "1", "--host", h])\n'
    )
    beyond = command.replace('"--host"', '"--disaggregation-mode"')
    assert text(beyond) == beyond and reported(beyond) == ["sglang.launch_server"]


def test_a_documents_code_may_post_without_the_import() -> None:
    block = (
        '```python\nasync def f(args, sample, p):\n    url = f"http://{args.sglang_router_ip}:1/generate"\n'
        '    return await post(url, {"input_ids": sample.tokens, "sampling_params": p})\n```\n'
    )
    done = text(block, "docs/a.md")
    assert done.startswith("```python\nfrom vime.backends.vllm_utils.seam import to_vllm\n\nasync def f(")
    assert "await to_vllm(post)(url" in done and "http_utils" not in done and reported(block, "docs/a.md") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('help="Seconds between SGLang /health_generate checks."\n', 'help="Seconds between vLLM /health checks."\n'),
        (
            "x = 1  # sglang: /pull_weights, then reload\n",
            "x = 1  # vllm: /collective_rpc (pull_weights), then reload\n",
        ),
        ('route = "/health_generate sglang"\n', 'route = "/health_generate vllm"\n'),
    ],
)
def test_a_route_in_a_sentence_and_not_in_an_address(before: str, after: str) -> None:
    assert text(before) == after


def test_what_somebody_recorded_of_a_request_is_reported_where_it_is_asserted() -> None:
    asserted = 'def test(fake):\n    assert fake.requests[0]["sampling_params"]["max_new_tokens"] == 7\n'
    assert reported(asserted) == ["max_new_tokens"]
    assert reported(asserted.replace("assert ", "return ")) == []


def test_memory_tags_are_the_seams_where_there_is_one() -> None:
    line = "from sglang.srt.constants import GPU_MEMORY_TYPE_WEIGHTS\n"
    assert text(line) == "from vime.backends.vllm_utils.seam import GPU_MEMORY_TYPE_WEIGHTS\n"
    assert text(line, translator=INLINE) == line


def test_an_argument_that_is_only_set_is_not_reported_as_read() -> None:
    assert reported("args.sglang_cuda_graph_backend_prefill = 1\n") == []
    assert reported("x = args.sglang_cuda_graph_backend_prefill == 1\n") == ["args.sglang_cuda_graph_backend_prefill"]


def test_the_device_of_a_kv_transfer_goes_into_the_connector_or_is_reported() -> None:
    pair = 'x --sglang-disaggregation-transfer-backend {} --sglang-disaggregation-ib-device "${{DEV}}"\n'
    assert r"\"device_name\":\"${DEV}\"" in text(pair.format("mooncake"), "run.sh")
    assert len(reported(pair.format("nixl"), "run.sh")) == 2
