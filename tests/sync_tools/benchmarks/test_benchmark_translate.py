"""What the benchmark of translation counts, on a tree whose every figure is known."""

from pathlib import Path

import pytest

from benchmarks.translate_peers import NAMES, available, timed
from benchmarks.translate_quality import quality, sites
from benchmarks.translate_speed import measure
from sync_tools.translate import Translator

CALL = """from slime.utils.http_utils import post


async def ask(args, ids, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    return (await post(url, {"input_ids": ids, "sampling_params": sampling_params}))["text"]
"""
FILES = {
    "slime/ask.py": CALL.encode(),
    "slime/credit.py": b"# Adapted from SGLang, see https://github.com/sgl-project/sglang\nimport slime\n",
    "plain.py": b"x = 1\n",
}
SITES = sites(FILES)


def translated(files: dict[str, bytes]) -> dict[str, bytes]:
    return {path: done.data for path, done in Translator().files(files.items()).items()}


def renamed(files: dict[str, bytes]) -> dict[str, bytes]:
    def plain(data: bytes) -> bytes:
        for old, new in NAMES.items():
            data = data.replace(old.encode(), new.encode())
        return data

    return {path: plain(data) for path, data in files.items()}


def test_a_translation_reaches_the_endpoint_and_leaves_credit_alone() -> None:
    found = quality(FILES, translated(FILES), SITES)
    assert (found.files_changed, found.protected_broken, found.unparsable) == (2, 0, 0)
    assert found.old_names == found.justified == 3
    assert (found.endpoints, found.endpoints_upstream) == (1, 1)


def test_a_plain_rename_breaks_credit_and_reaches_no_endpoint() -> None:
    found = quality(FILES, renamed(FILES), SITES)
    assert found.protected_broken > 0
    assert found.endpoints == 0
    assert found.old_names == 1 and found.justified == 1  # `sgl-project`, which the rename does not know


def test_no_change_leaves_every_name_and_what_does_not_parse_is_counted() -> None:
    found = quality(FILES, {**FILES, "plain.py": b"x = (\n"}, SITES)
    assert (found.files_changed, found.unparsable, found.protected_broken) == (1, 1, 0)
    assert found.old_names > found.justified


def test_each_peer_is_run_and_one_that_is_missing_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.translate_speed.available", lambda name: name != "ast_grep")
    found = measure(FILES, ("sync_1", "libcst_parse_print", "ast_grep", "sed"), runs=1)
    assert found["ast_grep"] is None
    assert found["libcst_parse_print"]["files_changed"] == 0
    assert found["sync_1"]["endpoints"] == 1
    assert found["sed"]["files_changed"] == 2
    assert found["sed"]["of_sed"] == 1.0


@pytest.mark.parametrize("name", ["libcst_rename", "ast_grep"])
def test_the_syntactic_peers_rename_imports(name: str, tmp_path: Path) -> None:
    if not available(name):
        pytest.skip(f"{name} is not installed")
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.py").write_bytes(b"import slime\n")
    assert timed(name, source, tmp_path / "out") > 0
    assert (tmp_path / "out/a.py").read_bytes() == b"import vime\n"
