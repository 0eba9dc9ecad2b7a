"""Upstream's streaming rollout, translated, in the real loop: a vLLM server, Megatron-core, Ray, the quick start's task."""

import subprocess

import pytest
from quickstart_world import INSTALLED, NEEDED, check, train

from sync_tools.translate import Translator

UPSTREAM_PATH = "slime/rollout/sglang_streaming_rollout.py"
PORTED_PATH = "vime/rollout/vllm_streaming_rollout.py"
MERGE = "35e8767f94b4742ebbb722ae5e901ca29c0f967e"
LATER = "624b824a898ab0ec1fcb4d373004c7f3852bf515"
ROLLOUTS = 10

pytestmark = [
    pytest.mark.slow,
    pytest.mark.upstream,
    pytest.mark.skipif(not INSTALLED, reason=f"needs {', '.join(NEEDED)}"),
]


@pytest.fixture
def ported(sync, slime, parent_import):
    """What `sync port 1921` puts into a fork."""
    fork = parent_import(MERGE)
    sync("port", 1921, repo=fork, upstream=slime)
    at = f"sync/slime-pr-1921:{PORTED_PATH}"
    return subprocess.run(["git", "-C", str(fork), "show", at], capture_output=True, check=True).stdout


@pytest.fixture
def module(request, tmp_path):
    """A folder with the translated module, outside of the repository."""
    if request.param == "port":
        source = request.getfixturevalue("ported")
    else:
        upstream = request.getfixturevalue("show")(f"{LATER}:{UPSTREAM_PATH}")
        source = Translator(style="module").file(UPSTREAM_PATH, upstream).data
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "translated_streaming.py").write_bytes(source)
    return tmp_path / "modules"


@pytest.mark.parametrize("module", ["port", "later"], indirect=True)
def test_it_trains_the_quick_start(module, tmp_path):
    run = train(tmp_path / "run", "translated_streaming.generate_streaming", ROLLOUTS, modules=module)
    check(run, ROLLOUTS)
