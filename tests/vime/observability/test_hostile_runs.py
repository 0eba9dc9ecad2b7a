"""The folder of a run may come from anybody: whatever lies in it, the report is made, in a moment, and stays one page."""

import json
import os
import signal
import time
from contextlib import contextmanager
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vime.cli import main
from vime.observability.report import render
from vime.observability.run_read import read_run

HUGE = 10**400
ODD = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.sampled_from([HUGE, -HUGE, 2**63, 1.7e308, 5e-324])
    | st.text(max_size=4) | st.sampled_from(["</script><script>", "nan", "/dev/zero", "\0"]),
    lambda one: st.lists(one, max_size=3) | st.dictionaries(st.text(max_size=3), one, max_size=3),
    max_leaves=6,
)  # fmt: skip
NUMBERS = st.floats() | st.integers(-3, 9) | ODD
NAMES = st.sampled_from(
    ["rollout/raw_reward", "eval/a", "train/loss", "train/grad_norm", "perf/rollout_time", "perf/step_time"]
)


def mostly(usual):
    """What is expected, or anything."""
    return st.one_of(usual, usual, usual, ODD)


def rows(**fields):
    return st.lists(mostly(st.fixed_dictionaries({}, optional={k: mostly(v) for k, v in fields.items()})), max_size=4)


EVENTS = st.lists(mostly(st.fixed_dictionaries({"type": st.sampled_from(["span_start", "span_end", "event"])},
                         optional={"span_id": mostly(st.text(max_size=1)), "ts": NUMBERS, "attrs": ODD})))  # fmt: skip
SAID = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("prompt_data", "eval_prompt_data", "dtype", "rm_type", "lr"), ODD)
)
RUN = st.fixed_dictionaries({
    "metrics.jsonl": rows(time=NUMBERS, step_key=st.just("rollout/step"), step=NUMBERS,
                          metrics=st.dictionaries(NAMES, NUMBERS), resume=st.dictionaries(st.just("rollout/step"), NUMBERS)),
    "events.jsonl": rows(time=NUMBERS, event=st.text(max_size=3)),
    "samples/rollout_0.jsonl": rows(prompt=ODD, response=ODD, pieces=st.lists(ODD), response_length=st.integers(-1, 3),
                                    log_probs=st.lists(NUMBERS), loss_mask=st.lists(ODD), reward=NUMBERS, label=ODD,
                                    weight_versions=ODD, trace=st.fixed_dictionaries({"events": mostly(EVENTS)})),
    "config.json": st.tuples(mostly(st.fixed_dictionaries({}, optional={"config": SAID, "versions": ODD}))),
})  # fmt: skip


class Tags(HTMLParser):
    """What of the page could load or run something."""

    def __init__(self, page):
        super().__init__()
        self.scripts, self.links = 0, []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        self.links += [name for name, _ in attrs if name in ("src", "href") or name.startswith("on")]


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else "".join(json.dumps(row) + "\n" for row in content))
    return folder


@contextmanager
def within(seconds):
    """An error where the block takes longer, also where it waits for a file."""

    def late(*_):
        raise AssertionError(f"not done within {seconds} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(RUN)
def test_whatever_the_files_say_there_is_a_page_and_a_trace(tmp_path_factory, capsys, files):
    folder = write(tmp_path_factory.mktemp("run"), files)
    assert main(["report", str(folder)]) == 0
    page = Tags((folder / "report.html").read_text())
    assert page.scripts == 2 and page.links == []
    assert main(["trace", str(folder)]) in (0, 2)
    capsys.readouterr()


def test_what_is_no_plain_file_is_not_read(tmp_path):
    """A pipe that nobody writes to has no end, nor has /dev/zero; a folder or a broken link is no log."""
    write(tmp_path, {"events.jsonl": '{"event": "start"}\n', "samples/eval_0.jsonl": '{"response": "here"}\n'})
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for name in ("metrics.jsonl", "samples/rollout_0.jsonl"):
        (tmp_path / name).symlink_to(pipe)
    (tmp_path / "samples/rollout_1.jsonl").mkdir()
    (tmp_path / "samples/rollout_2.jsonl").symlink_to(tmp_path / "nowhere")
    (tmp_path / "samples/rollout_3.jsonl").symlink_to("rollout_3.jsonl")
    (tmp_path / "config.json").symlink_to(pipe)
    with within(20):
        run = read_run(tmp_path)
        assert [sample.path.name for sample in run.samples] == ["eval_0.jsonl"] and "here" in render(run)


@pytest.mark.parametrize("prompts", ["pipe", "deep"])
def test_prompts_that_the_configuration_names_are_compared_only_where_they_are_a_file(tmp_path, prompts):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "deep").write_text('{"input": ' + "[" * 100_000 + "\n")
    named = str(tmp_path / prompts)
    config = {"prompt_data": named, "eval_prompt_data": ["a", named], "input_key": "input"}
    metrics = [{"step_key": "eval/step", "step": step, "metrics": {"eval/a": 1.0}} for step in (0, 1)]
    write(tmp_path, {"metrics.jsonl": metrics, "config.json": json.dumps({"config": config})})
    with within(20):
        assert "prompts of" not in render(read_run(tmp_path))


def test_long_words_cost_no_more_than_what_is_shown_of_them(tmp_path):
    long = "é" * 5_000_000
    write(tmp_path, {"samples/rollout_0.jsonl": [{"label": long, "response": long, "prompt": long, "status": long}],
                     "events.jsonl": [{"event": long, "why": long}], "config.json": json.dumps({"config": {"lr": long}})})  # fmt: skip
    began = time.process_time()
    assert len(render(read_run(tmp_path))) < 300_000 and time.process_time() - began < 10


def test_a_reward_of_true_is_a_number_to_the_pages_script(tmp_path):
    write(tmp_path, {"samples/rollout_0.jsonl": [{"response": "x", "reward": True}]})
    assert '"reward":1.0' in render(read_run(tmp_path))
