"""What a user asks `sync port` for."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Request:
    """`changes`, pull requests' numbers and commits, are ported in the order given, as one stack when there are several;
    `cutoff` and `tip` are the ends of a window that is ported at once."""

    changes: tuple[int | str, ...] = ()
    cutoff: str | None = None
    tip: str | None = None
    name: str | None = None
    base: str | None = None
    bring: tuple[str, ...] = ()
    dry_run: bool = False
    run_tests: bool = False
    upstream: str | None = None
    repo: Path = Path()
    config: Path | None = None
