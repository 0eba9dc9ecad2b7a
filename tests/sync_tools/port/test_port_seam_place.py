"""Where the seam is: no port imports it from where it is not."""

import json

import pytest

ELSEWHERE = '[seam]\nmodule = "vime.backends.vllm_utils.engine_seam"\n'


@pytest.fixture
def bare(imported, git):
    """A fork imported without the seam, at the parent of #1921, and its sync.toml."""

    def make(text: str):
        fork = imported(1921)
        git(fork, "rm", "-rq", "vime/backends/vllm_utils/seam")
        (fork / "sync.toml").write_text(f"schema = 1\n{text}")
        git(fork, "add", "--all")
        git(fork, "commit", "-qm", "No seam")
        return fork

    return make


@pytest.mark.parametrize(("text", "name"), [('[seam]\nstyle = "vendor"\n', "seam"), (ELSEWHERE, "engine_seam")])
def test_the_seam_comes_with_the_adaptation_to_where_the_code_imports_it_from(text, name, sync, bare, upstream, git):
    fork = bare(text)
    value = json.loads(sync("port", 1921, "--json", repo=fork, upstream=upstream).out)
    assert value["ports"][0]["checks"]["imports"] == {"result": "passed", "findings": []}
    folder = f"vime/backends/vllm_utils/{name}"
    first, second = (git(fork, "show", "--format=", "--name-only", value["branch"] + at) for at in ("~1", ""))
    assert folder not in first and f"{folder}/__init__.py" in second.splitlines()
    code = git(fork, "show", f"{value['branch']}:vime/rollout/vllm_streaming_rollout.py")
    assert f"from vime.backends.vllm_utils.{name} import" in code


def test_a_seam_that_sync_toml_says_is_there_and_is_not_stops_the_port(sync, bare, upstream, git):
    fork = bare('[seam]\nstyle = "module"\n')
    answer = sync("port", 1921, repo=fork, upstream=upstream)
    assert answer.code == 2 and "no seam" in answer.err and "vendor" in answer.err
    assert git(fork, "branch", "--list", "sync/*") == ""
