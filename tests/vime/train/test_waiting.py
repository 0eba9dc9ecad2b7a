"""What is said of an actor that is gone."""

import pytest

pytest.importorskip("ray")

import ray
from ray.exceptions import ActorDiedError, OutOfMemoryError

from vime.errors import RankDied
from vime.ray.wait import results

KILLED = """The actor died unexpectedly before finishing this task.
\tactor_id: 0123
The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit detail: Worker
unexpectedly exits with a connection error code 2. End of file. Some common causes include: (1) the process was killed"""


def _gone(error: Exception, monkeypatch: pytest.MonkeyPatch) -> RankDied:
    def get(ref: str) -> None:
        raise error

    monkeypatch.setattr(ray, "wait", lambda refs, num_returns, timeout: (refs[:1], refs[1:]))
    monkeypatch.setattr(ray, "get", get)
    with pytest.raises(RankDied) as raised:
        results({"rank 0 of the trainer": "ref"})
    return raised.value


@pytest.mark.parametrize("error", [OutOfMemoryError("Task was killed due to the node running low on memory."), KILLED])
def test_it_is_two_lines_which_say_who_why_and_how_to_go_on(error, monkeypatch):
    if isinstance(error, str):
        died = ActorDiedError()
        died.error_msg = error
        monkeypatch.setattr(ActorDiedError, "__str__", lambda self: KILLED)
        error = died
    lines = str(_gone(error, monkeypatch)).splitlines()
    assert len(lines) == 2 and lines[0].startswith("rank 0 of the trainer ended: ") and "memory" in lines[0]
    assert "--load" in lines[1]


def test_what_is_done_meanwhile_may_end_the_wait(monkeypatch):
    def stop() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ray, "wait", lambda refs, num_returns, timeout: ([], refs))
    with pytest.raises(KeyboardInterrupt):
        results({"a": "ref"}, stop, 0.01)
