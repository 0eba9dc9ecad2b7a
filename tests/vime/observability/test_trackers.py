"""The timer, the trackers that are asked for, and progress on a terminal and in a pipe."""

import builtins
import inspect
import io
import logging
from argparse import Namespace

import pytest

from vime.observability import logging_utils
from vime.observability.progress import TerminalProgress
from vime.observability.run_read import read_run
from vime.observability.timer import Timer, inverse_timer, process_timer, timer, with_defer
from vime.observability.tracking_error import TrackingUnavailable
from vime.observability.wandb_utils import public
from vime.train.progress import Progress as Told


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def tracked(tmp_path, **changes) -> Namespace:
    base = {"use_tensorboard": False, "use_wandb": False, "run_dir": str(tmp_path / "run"), "tb_project_name": None}
    return Namespace(**base | {"tb_experiment_name": None, "wandb_key": None} | changes)


def test_a_timer_adds_up():
    clock = Clock()
    one = Timer(clock)
    for _ in range(2):
        with one.context("train"):
            clock.now += 1.5
    one.add("train", 1.0)
    with pytest.raises(ZeroDivisionError), one.context("broken"):
        clock.now += 1
        raise ZeroDivisionError
    assert one.log_dict() == {"train": 4.0, "broken": 1.0} and one.take() == {"train": 4.0, "broken": 1.0}
    assert one.log_dict() == {}
    one.start("x")
    with pytest.raises(RuntimeError, match="timer x runs already"):
        one.start("x")
    with pytest.raises(RuntimeError, match="timer y does not run"):
        one.end("y")


def test_upstreams_functions_share_the_timer_of_the_process():
    process_timer().reset()

    @timer
    def step():
        return 5

    calls = []

    @with_defer(lambda: calls.append("after"))
    def fails():
        raise KeyError

    process_timer().start("train_wait")
    with inverse_timer("train_wait"), timer("train"):
        assert step() == 5
    process_timer().end("train_wait")
    assert {"step", "train", "train_wait"} == process_timer().log_dict().keys() and Timer().log_dict() == {}
    with pytest.raises(KeyError):
        fails()
    assert calls == ["after"]
    process_timer().reset()


def test_what_is_logged_reaches_the_runs_log(tmp_path):
    args = tracked(tmp_path)
    logging_utils.init_tracking(args)
    logging_utils.log(args, {"train/loss": 0.5, "train/step": 7}, step_key="train/step")
    logging_utils.log(tracked(tmp_path, run_dir=None), {"train/loss": 0.5, "train/step": 8}, step_key="train/step")
    logging_utils.finish_tracking(args)
    assert read_run(tmp_path / "run").series["train/loss"].steps == (7,)


def test_a_tracker_that_is_not_installed_says_so_at_once(tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.split(".")[0] in ("wandb", "torch", "tensorboard"):
            raise ImportError(f"No module named {name!r}")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(
        TrackingUnavailable, match="wandb is not installed; pip install wandb, or leave --use-wandb out"
    ):
        logging_utils.init_tracking(tracked(tmp_path, use_wandb=True))
    with pytest.raises(TrackingUnavailable, match="leave --use-tensorboard out"):
        logging_utils.init_tracking(tracked(tmp_path, use_tensorboard=True))
    with pytest.raises(TrackingUnavailable, match="give --run-dir"):
        logging_utils.init_tracking(tracked(tmp_path, use_tensorboard=True, run_dir=None))
    logging_utils.init_tracking(tracked(tmp_path, use_wandb=True), primary=False)


def test_tensorboard_gets_the_figures(tmp_path):
    pytest.importorskip("torch")
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    args = tracked(tmp_path, use_tensorboard=True)
    logging_utils.init_tracking(args)
    for step in (3, 4):
        logging_utils.log(args, {"train/loss": step / 4, "train/step": step}, step_key="train/step")
    logging_utils.finish_tracking(args)
    files = list((tmp_path / "run/tensorboard").iterdir())
    seen = reader.EventAccumulator(str(tmp_path / "run/tensorboard"))
    seen.Reload()
    assert [(one.step, one.value) for one in seen.Scalars("train/loss")] == [(3, 0.75), (4, 1.0)] and len(files) == 1


def test_secrets_stay_here():
    assert public({"lr": 1, "wandb_key": "x", "vllm_api_key": "y", "my_password": "z"}) == {"lr": 1}


def test_the_logger_keeps_what_is_configured():
    before = list(logging.getLogger().handlers)
    logging_utils.configure_logger(" x")
    assert not before or logging.getLogger().handlers == before


def test_a_pipe_gets_a_line_a_step():
    clock, stream = Clock(), io.StringIO()
    with TerminalProgress(stream, clock) as progress:
        for second in range(7):
            clock.now = second
            progress.starting(f"engine 0 starts ({second})")
        clock.now = 12.25
        progress.begin(0, 12)
        progress.step("eval/step", 0, {"eval/rev3": 0.105, "eval/rev3/response_len/mean": 4.0, "eval/step": 0})
        for step in range(2):
            clock.now += 0.5
            figures = {"rollout/raw_reward": 0.25, "train/train_rollout_logprob_abs_diff": 4e-8}
            progress.step("rollout/step", step, figures)
        progress.say("engine 1 died\x1b[2J\r")
        progress.say("error: it is so\n  mend it")
    assert stream.getvalue().splitlines() == [
        "0 s: engine 0 starts (0)",
        "5 s: engine 0 starts (5)",
        "started after 12.2 s",
        "evaluation after 0 rollouts: rev3 0.105",
        "rollout  1/12  reward 0.250  rev3 0.105  0.50 s/step  6 s left  logprob diff 4e-8",
        "rollout  2/12  reward 0.250  rev3 0.105  0.50 s/step  5 s left  logprob diff 4e-8",
        "engine 1 died·[2J·",
        "error: it is so",
        "  mend it",
        "2 rollouts in 13.2 s, the start included",
    ]


@pytest.mark.parametrize("colour", [True, False])
def test_a_terminal_gets_one_line_that_renews_itself(monkeypatch, colour):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("NO_COLOR", "" if colour else "1")
    stream = Terminal()
    with TerminalProgress(stream) as progress:
        progress.starting("engine 0 loads")
        progress.begin(0, 40)
        progress.step("rollout/step", 9, {"rollout/raw_reward": 0.5})
        progress.say("[bold]checkpoint[/bold] saved")
    said = stream.getvalue()
    assert "started after 0." in said and "[bold]checkpoint[/bold] saved" in said and "━━━━" in said
    assert "rollout 10/40  reward 0.500" in said and ("\x1b[32m" in said) == colour


def test_it_is_what_the_loop_tells():
    for name in ("starting", "begin", "step", "say"):
        told, here = (list(inspect.signature(getattr(kind, name)).parameters) for kind in (Told, TerminalProgress))
        assert told == here


def test_a_dumb_terminal_is_a_pipe(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    stream = Terminal()
    with TerminalProgress(stream) as progress:
        progress.step("rollout/step", 0, {"rollout/raw_reward": 0.5})
    assert stream.getvalue() == "rollout 1/0  reward 0.500\n"
