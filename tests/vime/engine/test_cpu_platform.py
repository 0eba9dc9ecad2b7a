"""What is put right in vLLM's platform for CPUs, on a platform that looks like vLLM's."""

import os
import subprocess
import sys

import pytest
from engine_world import FAKE_VLLM

CODE = """
import os
from types import SimpleNamespace
import vllm
from vllm import platforms
from vime.backends.vllm_utils.cpu_platform import install

install()
platform = platforms.current_platform
scheduler = SimpleNamespace(enable_chunked_prefill={chunked})
platform.check_and_update_config(SimpleNamespace(scheduler_config=scheduler))
print(os.environ.get("VLLM_WORKER_MULTIPROC_METHOD"))
try:
    platform.validate_request(None, SimpleNamespace(seed={seed}))
except ValueError as error:
    print(error)
"""


def outcome(chunked, seed, kind="cpu"):
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(FAKE_VLLM), *sys.path]), "FAKE_PLATFORM": kind}
    code = CODE.format(chunked=chunked, seed=seed)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environ, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize(("chunked", "seed"), [(True, None), (False, 3)])
def test_processes_are_forked_and_harmless_requests_pass(chunked, seed):
    assert outcome(chunked, seed) == ["fork"]


@pytest.mark.parametrize("seed", [0, 3])
def test_a_seed_is_refused_where_prompts_are_read_in_chunks(seed):
    method, refusal = outcome(True, seed)
    assert method == "fork" and "--vllm-no-enable-chunked-prefill" in refusal


def test_another_platform_stays_as_it_is():
    assert outcome(True, 3, kind="cuda") == ["spawn"]
