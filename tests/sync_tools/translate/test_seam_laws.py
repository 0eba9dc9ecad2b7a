"""What holds for every module: idempotence, identity where nothing is to be done, bytes that are kept."""

import random
from pathlib import Path

import pytest

from sync_tools.translate import python as seam_pass
from sync_tools.translate.python import needs, passes, translate_module

SEAM = "vime.backends.vllm_utils.seam"
SHAPES = sorted((Path(__file__).parents[2] / "callsites" / "shapes").glob("s*.py"))
STYLES = ("module", "vendor", "inline")

CALL = '''import requests


def ask(host, ids):
    """Über den Daumen."""
    body = {"input_ids": ids, "sampling_params": {"max_new_tokens": 4}}
    return requests.post(f"http://{host}:30000/generate", json=body).json()["text"]
'''


def run(text, style="module"):
    return translate_module(text, style=style, seam_module=SEAM)


@pytest.mark.parametrize("path", SHAPES, ids=lambda p: p.stem)
@pytest.mark.parametrize("style", STYLES)
def test_translated_twice_is_translated_once(path, style):
    once = run(path.read_text("utf-8"), style)
    twice = run(once.source, style)
    assert twice.source == once.source and not twice.applications
    compile(once.source, path.name, "exec")


@pytest.mark.parametrize("path", SHAPES, ids=lambda p: p.stem)
def test_it_is_the_same_in_every_run(path):
    assert run(path.read_text("utf-8")) == run(path.read_text("utf-8"))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff", "#!/usr/bin/env python\n\f\n"])
def test_line_ends_marks_and_missing_last_ends_are_kept(end, start):
    text = (start + CALL).replace("\n", end).removesuffix(end)
    done = run(text).source
    assert "inference/v1/generate" in done and "read_answer" in done
    assert done.startswith(start.replace("\n", end)) and not done.endswith(end)
    assert done.replace("\r\n", "").count("\r") == 0 and (end == "\n" or "\n" not in done.replace("\r\n", ""))


@pytest.mark.parametrize("indent", ["  ", "\t"])
def test_indentation_is_the_modules_own(indent):
    text = (
        "import json\n\n\nasync def f(client, args, payload):\n"
        '@async with client.stream("POST", f"{args.sglang_url}/generate", json=payload) as r:\n'
        "@@async for line in r.aiter_lines():\n@@@print(json.loads(line[5:]))\n"
    ).replace("@", indent)
    assert f"\n{indent}answers = AnswerStream(payload)\n{indent}async with" in run(text).source


@pytest.mark.parametrize("text", ["", "\n", "x = 1", "def f():\n    return {'input_ids': [1]}\n", "# /generate\n"])
def test_what_holds_nothing_comes_back(text):
    done = run(text)
    assert done.source == text and not done.applications and not done.unresolved


@pytest.mark.parametrize(
    "text", ['url = "/generate\n', 'x = "/generate"\0\n', '"/generate"\n  indented\n', "f(" * 200 + '"/generate"']
)
def test_what_does_not_parse_is_a_site_and_stays(text):
    done = run(text)
    assert done.source == text
    assert [site.what for site in done.unresolved] == ["module"] and done.unresolved[0].line >= 1


def test_skipping_changes_nothing(monkeypatch):
    texts = [path.read_text("utf-8") for path in SHAPES] + [
        path.read_text("utf-8") for path in Path(seam_pass.__file__).parent.glob("*.py")
    ]
    words = ("sampling_params", "input_ids", "/generate", "post", "flush_cache", "meta_info", "text")
    rng = random.Random(7)
    texts += [
        f'def f(a):\n    return {{"{rng.choice(words)}": a.{rng.choice(("post", "get"))}(b"{rng.choice(words)}")}}\n'
        for _ in range(40)
    ]
    quick = [run(text) for text in texts]
    monkeypatch.setattr(seam_pass, "needs", lambda text: True)
    monkeypatch.setattr(passes, "worth_following", lambda source, rules: True)
    assert [run(text) for text in texts] == quick


def test_applications_name_lines_of_the_text_that_went_in():
    for application in run(CALL).applications:
        line = CALL.splitlines()[application.line - 1]
        assert application.before == "" or line[application.column - 1 :].startswith(application.before[:10])


def test_needs_is_quick_to_say_no():
    assert not needs("import torch\n") and needs(CALL)
