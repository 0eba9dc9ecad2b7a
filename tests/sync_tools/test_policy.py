"""Globs of path policies, and where a path of upstream's lives in the fork."""

import pytest

from sync_tools.config import Config
from sync_tools.policy import matches, policy_for
from sync_tools.translate import Translator


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("docker/patch/**", "docker/patch/a/b.patch", True),
        ("docker/patch/**", "docker/patches/a", False),
        ("docker/npu_patch/**/sglang*.patch", "docker/npu_patch/sglang.patch", True),
        ("docker/npu_patch/**/sglang*.patch", "docker/npu_patch/v1/sglang-x.patch", True),
        ("docker/npu_patch/**/sglang*.patch", "docker/npu_patch/v1/slime.patch", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "a/b/c.py", True),
        ("*.py", "a/b.py", False),
        ("a?c/[xy].[!p]y", "abc/x.cy", True),
        ("a?c/[xy].[!p]y", "abc/x.py", False),
        ("docs/", "docs/en/a.md", True),
        ("a.b", "aXb", False),
        ("a[b", "a[b", True),
        ("a+(b)", "a+(b)", True),
    ],
)
def test_globs(glob: str, path: str, expected: bool) -> None:
    assert matches(glob, path) is expected


def test_the_first_matching_policy_holds_with_its_reason() -> None:
    policy = policy_for(Config(), "docker/patch/latest/sglang.patch")
    assert policy is not None
    assert policy.action == "skip"
    assert policy.reason
    assert policy_for(Config(), "slime/a.py") is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("slime/rollout/sglang_rollout.py", "vime/rollout/vllm_rollout.py"),
        ("slime/backends/sglang_utils/sglang_engine.py", "vime/backends/vllm_utils/vllm_engine.py"),
        ("slime/backends/megatron_utils/sglang.py", "vime/backends/megatron_utils/vllm.py"),
        ("slime_plugins/models/a.py", "vime_plugins/models/a.py"),
        ("tests/test_qwen2.5_0.5B_opd_sglang.py", "tests/test_qwen2.5_0.5B_opd_vllm.py"),
        ("docs/_static/image/sglang_config.png", "docs/_static/image/vllm_config.png"),
        ("docs/en/blogs/introducing_slime.md", "docs/en/blogs/introducing_slime.md"),
        ("README.md", "README.md"),
    ],
)
def test_paths_follow_the_names(old: str, new: str) -> None:
    translator = Translator()
    assert translator.path(old) == new
    assert translator.path(new) == new


def test_configured_paths_come_before_names_and_policies_before_both() -> None:
    config = Config.model_validate(
        {
            "paths": ({"old": "slime/a", "new": "ours/b"}, {"old": "slime/a/c.py", "new": "d.py"}),
            "policies": ({"match": "slime/e.py", "action": "into", "into": "ours/all.py", "reason": "one file"},),
        }
    )
    translator = Translator(config)
    assert translator.path("slime/a/sglang.py") == "ours/b/sglang.py"
    assert translator.path("slime/a/c.py") == "d.py"
    assert translator.path("slime/e.py") == "ours/all.py"
    assert translator.path("slime/ab.py") == "vime/ab.py"
