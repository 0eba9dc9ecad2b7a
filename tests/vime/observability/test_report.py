"""The report: right for runs of any size, and harmless whatever a model, a dataset or a name says."""

import json
import random
import re
import shutil
import subprocess
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_world import learned, sample

from vime.cli import main
from vime.observability.number_text import text
from vime.observability.report import render
from vime.observability.report.axis import axis
from vime.observability.report.excerpts import MOST_CHARACTERS, excerpt, visible
from vime.observability.report.page import script_data
from vime.observability.report.panels import filled
from vime.observability.report.plots import MOST_POINTS, thinned
from vime.observability.run_log import RunLog
from vime.observability.run_read import Series, read_run
from vime.observability.trace_utils import trace_event, trace_span

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=document.title='owned'>&amp;{{7*7}}\u202e\x00\ud800"


class Tags(HTMLParser):
    """The page's elements as a browser sees them, and the data it holds."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.data = ""
        self._in_data = False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href", "onerror", "onclick", "style")]
        self._in_data = ("id", "data") in attrs

    def handle_data(self, data):
        self.data += data if self._in_data else ""

    def handle_endtag(self, tag):
        self._in_data = False


def hostile(folder):
    """A run in which everything that can be named or said is hostile."""
    log = RunLog(folder)
    log.log({"rollout/raw_reward": 0.0, HOSTILE: 1.0, f"eval/{HOSTILE.replace('/', '')}": 1.0}, "rollout/step", 0)
    log.event(HOSTILE, about=HOSTILE)
    bad = sample("123", HOSTILE, 1.0, random.Random(0))
    bad.label, bad.prompt, bad.reward, bad.weight_versions = HOSTILE, HOSTILE, {"reward": HOSTILE}, [HOSTILE]
    log.samples(0, [bad], pieces=lambda ids: [HOSTILE] * len(ids))
    log.evaluation(0, {"bad": [bad]})
    shown = {
        "config": {"hf_checkpoint": HOSTILE, "eval_prompt_data": [HOSTILE], "dtype": HOSTILE},
        "versions": {HOSTILE: HOSTILE},
    }
    (folder / "config.json").write_text(json.dumps(shown))
    return read_run(folder)


def test_a_page_of_a_whole_run(tmp_path):
    log = learned(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"config": {"rm_type": "exact_match", "eval_temperature": 0}}))
    assert log.folder == tmp_path
    page = render(read_run(tmp_path))
    assert "Greedy accuracy: rev3 0.100 before → 1.000 after 80 rollouts." in page and "One run with one seed" in page
    for title in ("Reward", "Evaluation", "Entropy", "KL", "Logprob difference", "Gradient norm", "Time of a step"):
        assert f"<strong>{title}</strong>" in page
    seen = Tags(page)
    assert seen.links == [] and seen.tags.count("svg") == 13 and seen.tags.count("script") == 2
    data = json.loads(seen.data)
    reward = data["plots"][0]
    assert reward["x"] == list(range(80)) and reward["lines"][0]["label"] == "reward"
    time = next(one for one in data["plots"] if one["lines"][0]["label"] == "generation")["lines"]
    assert [line["label"] for line in time] == ["generation", "logprobs", "update", "weight sync", "other"]
    token = next(one for one in data["samples"] if one["kind"] == "rollout")["samples"][0]["response"][0]
    assert token[1] < 0 and token[2] == 1


def test_nothing_a_run_says_becomes_markup_or_script(tmp_path):
    page = render(hostile(tmp_path))
    plain = learned(tmp_path / "plain", steps=1)
    expected = Tags(render(read_run(plain.folder)))
    seen = Tags(page)
    assert "img" not in seen.tags and seen.tags.count("script") == 2 == expected.tags.count("script")
    assert seen.links == [] and "{{7*7}}" in seen.data and "\u202e" not in page and "\x00" not in page
    said = json.loads(seen.data)["samples"][1]["samples"][0]
    assert (
        said["response"][0][0].startswith("</script><script>") and "‹U+202E›‹U+0000›‹U+D800›" in said["response"][0][0]
    )
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]+'; base-uri 'none'", page)
    page.encode("utf-8")


@given(st.recursive(st.text() | st.none() | st.integers(), lambda one: st.lists(one) | st.dictionaries(st.text(), one)))
@settings(max_examples=60)
def test_data_in_a_script_element_never_ends_it_and_is_what_it_was(data):
    shown = script_data(data)
    assert not set("<>&") & set(shown) and json.loads(shown) == data


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_runs_that_have_hardly_begun(tmp_path, steps):
    log = RunLog(tmp_path)
    log.event("start")
    for step in range(steps):
        log.log({"rollout/raw_reward": 0.25, "train/grad_norm": 0.0, "perf/rollout_time": 0.0}, "rollout/step", step)
    page = render(read_run(tmp_path))
    assert ("plots appear with the first rollout" in page) == (steps == 0)
    assert "nan" not in page.lower() and ("Mean reward on the training prompts" in page) == (steps == 2)


def test_generation_beside_training_is_no_part_of_a_step_but_waiting_for_it_is(tmp_path):
    log = RunLog(tmp_path)
    for step in range(3):
        times = {"perf/rollout_time": 5.0, "perf/rollout_wait_time": 1.0, "perf/actor_train_time": 2.0}
        log.log(times | {"perf/step_time": 3.5}, "rollout/step", step)
    (panel,) = (one for one in filled(read_run(tmp_path).series) if one.panel.stacked)
    assert {label: one.values[0] for label, one in panel.series} == {
        "waiting for generation": 1.0,
        "update": 2.0,
        "other": 0.5,
    }


def test_a_huge_run_stays_a_small_page(tmp_path):
    draw = random.Random(0)
    rows = [
        {
            "step_key": "rollout/step",
            "step": step,
            "metrics": {"rollout/raw_reward": draw.random(), "perf/rollout_time": 1.0},
        }
        for step in range(50_000)
    ]
    rows[40_123]["metrics"]["rollout/raw_reward"] = 9.0
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    log = RunLog(tmp_path)
    log.samples(0, [sample("123", "x" * 200_000, 1.0, draw)], pieces=lambda ids: ["word " * 10] * len(ids))
    for step in range(1, 40):
        log.samples(step, [sample("123", "321", 1.0, draw)] * 64)
    begun = time.process_time()
    page = render(read_run(tmp_path))
    assert time.process_time() - begun < 15 and len(page) < 2_000_000
    assert "characters; its beginning is shown" in json.loads(Tags(page).data)["samples"][0]["samples"][0]["notes"][0]
    assert "9" in {one for line in json.loads(Tags(page).data)["plots"][0]["lines"] for one in line["values"]}


def test_a_long_prompt_keeps_its_end_and_a_long_response_its_beginning():
    row = {"prompt": "a" * MOST_CHARACTERS + "Z", "response": "B" + "c" * 2 * MOST_CHARACTERS, "reward": float("nan")}
    shown = excerpt(row)
    assert shown["prompt"][0][0].endswith("Z") and shown["response"][0][0].startswith("B") and shown["reward"] is None
    assert len(shown["response"][0][0]) == MOST_CHARACTERS and len(shown["notes"]) == 3


@given(st.text(max_size=60))
@settings(max_examples=60)
def test_what_is_shown_has_nothing_hidden(said):
    shown = visible(said)
    assert all(one in "\n\t" or one.isprintable() or one.isspace() for one in shown)
    assert visible(shown) == shown


@given(
    st.lists(st.floats(-1e9, 1e9) | st.sampled_from([5e-324, 1e-301, 0.0, 1e-12]), min_size=1, max_size=20),
    st.sampled_from(["linear", "log"]),
)
@settings(max_examples=60)
def test_every_value_lies_on_its_axis(values, scale):
    one = axis(values, 100.0, 0.0, scale)
    assert all(-0.1 <= one.at(value) <= 100.1 for value in values) and 2 <= len(one.ticks) <= 12
    assert sorted(set(one.ticks)) == list(one.ticks)
    shown = [value for value in values if scale == "linear" or value > 0]
    for low, high in zip(sorted(shown), sorted(shown)[1:]):
        assert one.at(low) >= one.at(high)


@given(st.integers(1, 3000), st.integers(0, 2999))
@settings(max_examples=30)
def test_thinning_keeps_the_ends_and_the_extremes(count, place):
    values = [0.0] * count
    values[place % count] = 5.0
    one = thinned(Series("x", "train/step", tuple(range(count)), tuple(values)))
    assert len(one.steps) <= MOST_POINTS and one.steps[0] == 0 and one.steps[-1] == count - 1 and max(one.values) == 5.0
    assert list(one.steps) == sorted(set(one.steps))


def test_numbers_are_short():
    assert [text(one) for one in (0.0, 1.0, 0.97513, 1234.5, 7.4e-8, -2.5e-5, 12345678.0)] == [
        "0", "1", "0.9751", "1,234", "7.4e-8", "-2.5e-5", "1.23e7",
    ]  # fmt: skip


def test_what_the_result_does_not_show_is_said(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"input": "1?"}\n\n{"input": "2?"}\n')
    (tmp_path / "b.jsonl").write_text('{"input": "3?"}\n')
    log = RunLog(tmp_path)
    log.log(
        {
            "eval/math": 0.5,
            "train/train_rollout_logprob_abs_diff": 2e-5,
            "train/train_rollout_logprob_abs_diff_max": 9e-4,
            "train/loss": float("nan"),
        },
        "eval/step",
        0,
    )
    log.log({"eval/math": 0.4}, "eval/step", 5)
    config = {
        "prompt_data": str(tmp_path / "a.jsonl"),
        "dtype": "float32",
        "input_key": "input",
        "eval_input_key": "input",
    }
    config["eval_prompt_data"] = ["math", str(tmp_path / "a.jsonl"), "other", str(tmp_path / "b.jsonl")]
    shown = {"config": config}
    (tmp_path / "config.json").write_text(json.dumps(shown))
    page = render(read_run(tmp_path))
    sets = " ".join(config["eval_prompt_data"]).replace("/", "/<wbr>")
    assert f"<dd>{sets}</dd>" in page, "paths break behind their slashes"
    page = page.replace("/<wbr>", "/")
    assert '<h1 class="plain">Mean reward in evaluation: math 0.500 before → 0.400 after 5 rollouts.' in page
    assert "2 of the 2 prompts of" in page and "None of the 1 prompts of" in page
    assert "DISAGREE" in page and "Not finite at some step: train/loss." in page
    (tmp_path / "b.jsonl").write_text("no JSON")
    assert "prompts of" not in render(read_run(tmp_path))


def test_the_command(tmp_path, capsys):
    learned(tmp_path / "runs/a", steps=2)
    assert main(["report", str(tmp_path / "runs")]) == 0 and (tmp_path / "runs/a/report.html").stat().st_size > 10_000
    assert main(["report", str(tmp_path / "runs/a"), "--out", str(tmp_path / "x.html")]) == 0
    assert "x.html" in capsys.readouterr().out and (tmp_path / "x.html").exists()
    for words in ([], ["a", "b"], ["--nonsense", "a"], ["a", "--out"], [str(tmp_path / "none")]):
        assert main(["report", *words]) == 2 and "error: " in capsys.readouterr().err


def test_the_spans_of_a_run(tmp_path, capsys):
    log = RunLog(tmp_path)
    one = sample("123", "321", 1.0, random.Random(0))
    with trace_span(one, "generate_and_rm", attrs={"attempt": 1}), trace_span(one, "vllm_generate") as span:
        trace_event(one, "aborted")
        span.set("prompt_tokens", 12)
    log.samples(3, [sample("123", "321", 1.0, random.Random(0)), one])
    assert main(["trace", str(tmp_path)]) == 0 and "trace.json: 5 events" in capsys.readouterr().out
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    outer, inner, mark = (
        next(one for one in events if one["name"] == name) for name in ("generate_and_rm", "vllm_generate", "aborted")
    )
    assert outer["ts"] <= inner["ts"] <= mark["ts"] <= inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"]
    assert inner["args"] == {"prompt_tokens": 12} and outer["tid"] == 1 and events[0]["args"] == {"name": "rollout 3"}
    render(read_run(tmp_path))


def test_a_run_without_spans_says_so(tmp_path, capsys):
    learned(tmp_path, steps=1)
    assert main(["trace", str(tmp_path)]) == 2 and "no sample of this run has a trace" in capsys.readouterr().err
    assert main(["trace", "--help"]) == 0 and "perfetto" in capsys.readouterr().out


needs_browser = pytest.mark.skipif(
    shutil.which("chromium") is None, reason="there is no chromium to look at the page with"
)


def seen_in_browser(page, tmp_path):
    """The document after its script ran."""
    quiet = ("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run")
    words = [
        "chromium",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        *quiet,
        f"--user-data-dir={tmp_path / 'profile'}",
    ]
    file = tmp_path / "page.html"
    file.write_text(page, "utf-8")
    done = subprocess.run([*words, "--dump-dom", file.as_uri()], capture_output=True, text=True, timeout=90)
    assert "</html>" in done.stdout, done.stderr[-500:]
    return done.stdout


@needs_browser
def test_a_browser_shows_the_samples_and_runs_nothing_of_theirs(tmp_path):
    dom = seen_in_browser(render(hostile(tmp_path / "run")), tmp_path)
    assert "<title>run · run report</title>" in dom and "<img" not in dom
    assert dom.count('class="tok') > 6 and "&lt;/script&gt;&lt;script&gt;document.title='owned'" in dom
    assert '<option value="1">rollout 0</option>' in dom


@needs_browser
def test_plots_and_tokens_tell_their_values_in_a_browser(tmp_path):
    """What a hand would do, done by a script, for which this copy of the page lets go of its policy."""
    learned(tmp_path / "run", steps=21)
    hand = """<script>
      const key = (where, key) => where.dispatchEvent(new KeyboardEvent("keydown", { key }));
      const plots = document.querySelectorAll("figure svg"), box = plots[0].getBoundingClientRect();
      plots[0].dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + box.width * 0.55, clientY: box.top + 9 }));
      plots[1].focus();
      key(plots[1], "Home");
      chooser.value = "1";
      chooser.dispatchEvent(new Event("change"));
      const response = document.querySelectorAll("#sample .text")[1];
      key(response, "ArrowRight");
      key(response, "ArrowRight");
    </script></body>"""
    page = re.sub("<meta http-equiv[^>]*>", "", render(read_run(tmp_path / "run"))).replace("</body>", hand)
    dom = seen_in_browser(page, tmp_path)
    tips = [re.sub("<[^>]+>", " ", tip) for tip in re.findall('<div class="tip"[^>]*>(.*?)</div>', dom)]
    assert re.search(r"rollout 1\d\s+reward\s+0\.\d", tips[0]) and re.search(r"rollout 0\s+rev3\s+0\.1\b", tips[1])
    assert re.search(r'<p class="detail">"\d": probability [\d.]+, logprob -[\d.]+</p>', dom)
    assert dom.count(" chosen") == 1


@needs_browser
def test_a_long_word_makes_no_page_wider_than_a_phone(tmp_path):
    learned(tmp_path / "run", steps=21)
    hand = """<script>
      const texts = "h1, .eyebrow, .remarks, dd, figcaption, .legend li, .about span, .text, select option";
      document.querySelectorAll(texts).forEach((where) => where.append("/a-path/".repeat(40)));
      document.body.style.width = "360px";
      document.title = "wide " + document.body.scrollWidth;
    </script></body>"""
    page = re.sub("<meta http-equiv[^>]*>", "", render(read_run(tmp_path / "run"))).replace("</body>", hand)
    assert "<title>wide 360</title>" in seen_in_browser(page, tmp_path)
