"""What is said of a site: translated, unresolved with its reason, kept, or missed."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sync_tools.config import Config, PathPolicy
from sync_tools.seam.judge import Image, judge
from sync_tools.seam.model import Judged
from sync_tools.seam.survey import survey
from sync_tools.translate import Translator
from sync_tools.translate.reasons import SENTENCES, Reason

POSTED = """
from slime.utils.http_utils import post


async def ask(args, ids):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    output = await post(url, {"input_ids": ids, "sampling_params": {"max_new_tokens": 4}})
    return output["meta_info"]["output_token_logprobs"]
"""


def judged(text: str, path: str = "slime/a.py") -> list[Judged]:
    found, _ = judge(Image(path, text.encode(), Translator().file(path, text.encode())))
    return found


def verdicts(text: str, path: str = "slime/a.py") -> dict[str, str]:
    return {j.site.what: j.verdict for j in judged(text, path)}


def test_what_a_rollout_says_is_translated_by_rules_or_by_the_seam() -> None:
    found = {j.site.what: j.how for j in judged(POSTED)}
    assert found["/generate"] == found["input_ids"] == found["sglang_router_ip"] == "rule"
    assert found["meta_info"] == found["output_token_logprobs"] == "interface"


def test_a_site_that_the_translator_passes_over_is_missed() -> None:
    """The control of all this: a translation that leaves a file as it is misses every one of its sites."""
    translated = Translator().file("slime/a.py", POSTED.encode())
    lazy = replace(translated, data=POSTED.encode(), applications=())
    found, _ = judge(Image("slime/a.py", POSTED.encode(), lazy))
    assert found and {j.verdict for j in found} == {"missed"}


def test_one_flag_left_behind_among_equal_ones_is_missed() -> None:
    text = "x --sglang-seed 1\ny --sglang-seed 2\n"
    done = Translator().file("run.sh", text.encode())
    lazy = replace(done, data=b"x --vllm-seed 1\ny --sglang-seed 2\n", applications=done.applications[:1])
    found, _ = judge(Image("run.sh", text.encode(), lazy))
    assert [j.verdict for j in found] == ["translated", "missed"]


def test_a_control_routes_body_that_nothing_converts_is_missed() -> None:
    """The seam's objects take the vocabulary of requests and answers, not that of control routes."""
    text = 'import requests\n\n\ndef stop(u):\n    requests.post(f"{u}/abort_request", json={"abort_all": True})\n'
    done = Translator().file("slime/a.py", text.encode())
    assert {j.verdict for j in judge(Image("slime/a.py", text.encode(), done))[0]} == {"translated"}
    lazy = replace(done, data=text.replace("abort_request", "abort_requests").encode(), applications=())
    found = {j.site.what: j.verdict for j in judge(Image("slime/a.py", text.encode(), lazy))[0]}
    assert found == {"/abort_request": "translated", "abort_all": "missed"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("from sglang.srt.server_args import ServerArgs\n", Reason.NO_COUNTERPART),
        (POSTED.replace('"sampling_params"', '"image_data": [], "sampling_params"'), Reason.REFUSED),
        ('def f(app, h):\n    app.router.add_post("/generate", h)\n', Reason.OTHER_SERVICE),
        ('def f(fake):\n    assert fake.requests[0]["sampling_params"]["max_new_tokens"] == 7\n', Reason.PROVENANCE),
        (
            'import requests\n\n\ndef f(u, p):\n    b = {"text": p, "sampling_params": {}}\n'
            '    return requests.post(f"{u}/generate", json=b).json()\n',
            Reason.TOKENIZER,
        ),
    ],
)
def test_each_reason(text: str, reason: Reason) -> None:
    assert reason in {j.reason for j in judged(text) if j.verdict == "unresolved"}


def test_there_are_five_reasons_and_each_has_its_sentence() -> None:
    assert len(Reason) == 5 and set(SENTENCES) == set(Reason)


def test_kernels_and_attribution_are_no_seam() -> None:
    assert verdicts("from sglang.srt.layers import deep_gemm_wrapper\n") == {"from sglang.srt.layers": "kept"}
    assert verdicts("# Adapted from SGLangEngine of sglang.\n") == {"SGLangEngine": "kept"}


def test_what_a_fake_engine_answers_is_not_called_translated() -> None:
    """Its answer keeps upstream's shape, which nobody who reads vLLM's understands; a renamed header makes no wrap of it."""
    text = (
        "def answer(request, reply, pairs):\n    seen = request.headers.get('X-SMG-Routing-Key')\n"
        "    return reply({'meta_info': {'output_token_logprobs': pairs, 'finish_reason': {'type': 'stop'}}}, seen)\n\n\n"
        'def serve(app):\n    app.router.add_post("/generate", answer)\n'
    )
    found = {j.site.what: j for j in judged(text)}
    assert found["X-SMG-Routing-Key"].verdict == "translated" and found["/generate"].verdict == "unresolved"
    assert {found[what].verdict for what in ("meta_info", "output_token_logprobs", "finish_reason")} == {"kept"}
    assert found["meta_info"].speaks


def test_a_second_share_counts_what_is_kept_though_it_speaks_sglang(
    sync: Callable[..., object], tmp_path: Path
) -> None:
    (tmp_path / "run.sh").write_text("x --sglang-context-length 1\n")
    (tmp_path / "kernel.py").write_text("from sglang.srt.layers import deep_gemm_wrapper\n")
    (tmp_path / "note.py").write_text("# Adapted from SGLangEngine of sglang.\n")
    value = json.loads(sync("seam", "sites", tmp_path, "--json").out)
    assert (value["sites"], value["kept_count"], value["kept_speaking"]) == (1, 2, 1)
    assert (value["share"], value["share_with_kept"]) == (1.0, 0.5)
    assert "50.0% counting 1 place kept" in sync("seam", "sites", tmp_path).out


def test_a_policy_keeps_a_file_out_of_the_count() -> None:
    config = Config(policies=(PathPolicy(match="old/**", action="skip", reason="not wanted here"),))
    seen = survey({"old/a.sh": b"x --sglang-seed 1\n", "a.sh": b"x --sglang-seed 1\n"}, config)
    assert [(j.site.path, j.verdict) for j in seen.judged] == [("a.sh", "translated"), ("old/a.sh", "kept")]


def test_the_command_counts_and_says_by_its_code_whether_something_is_missed(
    sync: Callable[..., object], upstream: Path, tmp_path: Path
) -> None:
    said = sync("seam", "sites", "--at", "HEAD", "--json", upstream=upstream)
    value = json.loads(said.out)
    assert said.code == (1 if value["missed"] else 0) == 0
    assert value["sites"] == sum(kind["sites"] for kind in value["kinds"].values()) > 50
    assert value["translated"] + value["unresolved_count"] + value["missed_count"] == value["sites"]
    assert set(value["reasons"]) == {r.value for r in Reason}
    assert all(site["reason"] in value["reasons"] for site in value["unresolved"])


def test_a_folder_is_searched_like_a_revision(sync: Callable[..., object], tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("x --sglang-context-length 1\n")
    said = sync("seam", "sites", tmp_path, "--all")
    assert said.code == 0 and "run.sh:1:3: flag: --sglang-context-length: translated (rule)" in said.out


def test_one_tree_is_asked_for(sync: Callable[..., object], tmp_path: Path) -> None:
    assert sync("seam", "sites").code == 2
    assert sync("seam", "sites", tmp_path / "none").code == 2
