"""`sync seam check` and `sync seam snapshot`."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from sync_tools.commands.options import Settings
from sync_tools.errors import SyncError
from sync_tools.plural import counted
from sync_tools.seam.check import Change, Problem, changes, problems, unchecked
from sync_tools.seam.rows import Row, all_rows, asked_names
from sync_tools.seam.snapshot import Snapshot, carried, load, save, take
from sync_tools.terminal import clean, print_json

SGLANG = "SGLang's own side of the rows is not checked: no SGLang is installed or snapshotted"


def run(settings: Settings, engine: str | None, table: Path | None, against: str | None, every: bool) -> int:
    """Check the rows; 1 where one does not hold, in the engine or in the version that it is compared with."""
    if engine is not None and table is not None:
        raise SyncError("one engine is needed", "seam check", "give --engine or --table")
    rows = all_rows()
    one = take(engine, asked_names(rows)) if engine is not None else load(table) if table is not None else carried()
    other = _other(against, rows) if against is not None else None
    found, later = problems(rows, one), problems(rows, other) if other else []
    between = changes(one, other, rows) if other else []
    if settings.json:
        print_json(_as_json(rows, one, other, found, later, between, every))
    else:
        print("\n".join(map(clean, _lines(rows, one, other, found, later, between, every))))
    return 1 if found or later else 0


def _other(against: str, rows: tuple[Row, ...]) -> Snapshot:
    """A snapshot's file, or an interpreter."""
    return load(Path(against)) if against.endswith(".json") else take(against, asked_names(rows))


def _as_json(
    rows: tuple[Row, ...],
    one: Snapshot,
    other: Snapshot | None,
    found: list[Problem],
    later: list[Problem],
    between: list[Change],
    every: bool,
) -> dict[str, Any]:
    value: dict[str, Any] = {
        "engine": {"name": one.engine, "version": one.version, "origin": one.origin, "facts": len(one.facts)},
        "rows": len(rows),
        "unchecked": [{"file": r.file, "rule": r.rule, "row": r.what} for r in unchecked(rows, one)],
        "not_checked": SGLANG,
        "problems": [asdict(p) for p in found],
    }
    if other is not None:
        resting = [c for c in between if c.rows or every]
        value["against"] = {
            "version": other.version,
            "origin": other.origin,
            "problems": [asdict(p) for p in later],
            "counts": {how: sum(c.how == how for c in between) for how in ("added", "gone", "changed")},
            "changes": [asdict(c) | {"rows": [dict(zip(("file", "rule", "row"), r)) for r in c.rows]} for c in resting],
        }
    return value


def _lines(
    rows: tuple[Row, ...],
    one: Snapshot,
    other: Snapshot | None,
    found: list[Problem],
    later: list[Problem],
    between: list[Change],
    every: bool,
) -> list[str]:
    out = [f"{p.file}: {p.rule}: {p.row}: {p.what}; {p.fix}" for p in found]
    skipped = unchecked(rows, one)
    out.append(
        f"{counted(len(rows), 'row')} against {one.engine} {one.version} ({one.origin}): {counted(len(found), 'problem')}"
    )
    if skipped:
        out.append(f"{counted(len(skipped), 'row')} about the router not checked: it is not installed there")
    out.append(SGLANG)
    if other is None:
        return out
    for c in between:
        if c.rows or every:
            out.append(f"{c.how}: {c.fact}{f': {c.before} -> {c.after}' if c.how == 'changed' else ''}")
            out += [f"    rests on it: {file}: {rule}: {what}" for file, rule, what in c.rows]
    out += [f"{p.file}: {p.rule}: {p.row}: {p.what}; {p.fix}" for p in later]
    counts = ", ".join(f"{sum(c.how == how for c in between)} {how}" for how in ("added", "gone", "changed"))
    out.append(
        f"{one.version} to {other.version} ({other.origin}): {counts}; {counted(len(later), 'row')} would not hold"
    )
    return out


def snapshot(settings: Settings, engine: str, out: Path) -> int:
    """Write what an interpreter's engine accepts."""
    taken = take(engine, asked_names(all_rows()))
    save(taken, out)
    if settings.json:
        print_json({"engine": taken.engine, "version": taken.version, "facts": len(taken.facts), "out": str(out)})
    else:
        print(clean(f"{taken.engine} {taken.version}: {counted(len(taken.facts), 'fact')} in {out}"))
    return 0
