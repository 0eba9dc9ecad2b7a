"""What went wrong in a sync, engine by engine, and how to go on."""

from collections.abc import Mapping
from enum import StrEnum

from vime.errors import travels


class Holds(StrEnum):
    """What an engine holds after a sync that failed."""

    OLD = "the old weights, and serves"
    OLD_PAUSED = "the weights it had, paused"
    NEW = "the new weights, and serves"
    NEW_PAUSED = "the new weights, paused"
    PARTIAL = "a part of the new weights, paused"
    NOTHING_KNOWN = "nothing: it does not answer"


_NEXT = {
    Holds.OLD: "sync again",
    Holds.OLD_PAUSED: "sync again: it was paused before, and stays so until then",
    Holds.NEW: "nothing to do",
    Holds.NEW_PAUSED: "sync again: it stays paused until then",
    Holds.PARTIAL: "sync again with all weights: it stays paused until then; or restart it and sync",
    Holds.NOTHING_KNOWN: "restart it, then connect and sync again",
}
"""How to go on with such an engine."""


@travels
class WeightSyncFailed(RuntimeError):
    """Not every engine confirmed version `version`. `holds` and `causes` say what each engine has, and what failed there."""

    def __init__(self, version: str, holds: Mapping[str, Holds], causes: Mapping[str, BaseException]) -> None:
        lines = [f"weight version {version} was not confirmed by every engine:"]
        for url, what in holds.items():
            cause = f" ({_first_line(causes[url])})" if url in causes else ""
            lines.append(f"  {url} holds {what}{cause}; {_NEXT[what]}")
        lines += [f"  the trainer: {_first_line(error)}" for url, error in causes.items() if url not in holds]
        super().__init__("\n".join(lines))
        self.version = version
        self.holds = dict(holds)
        self.causes = dict(causes)


class WrongVersion(RuntimeError):
    """An engine finished its update under another version than it was given."""


@travels
class WrongWeights(RuntimeError):
    """An engine does not compute with what the trainer sent; `names` are the tensors that differ."""

    def __init__(self, names: list[str]) -> None:
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        super().__init__(f"{len(names)} tensors differ from the trainer's: {shown}")
        self.names = names


def _first_line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else ''}"[:300]
