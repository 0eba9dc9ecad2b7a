"""`sync seam sites`."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from sync_tools.commands.options import Settings
from sync_tools.errors import SyncError
from sync_tools.plural import counted
from sync_tools.seam.model import Judged, Kind, Seen, Verdict
from sync_tools.seam.survey import of_folder, of_revision, survey
from sync_tools.terminal import clean, print_json, watched
from sync_tools.translate.reasons import SENTENCES
from sync_tools.upstream.mirror import cache_dir


def run(settings: Settings, folder: Path | None, at: str | None, every: bool) -> int:
    """List the sites; 1 where one was missed."""
    if (folder is None) == (at is None):
        raise SyncError("one tree is needed", "seam sites", "name a revision with --at, or a folder")
    sources = of_folder(folder) if folder is not None else of_revision(settings.upstream, str(at))
    with watched(settings.json, "looking for sites"):
        seen = survey(sources, settings.config, cache=cache_dir() / "translations")
    if settings.json:
        print_json(as_json(seen, every))
    else:
        print("\n".join(map(clean, lines(seen, every))))
    return 1 if any(j.verdict == "missed" for j in seen.judged) else 0


def as_json(seen: Seen, every: bool) -> dict[str, Any]:
    """The object of `--json`. What is kept is counted apart; `share_with_kept` counts what of it speaks SGLang as not translated."""
    count = Counter(j.verdict for j in seen.judged)
    total = len(seen.judged) - count["kept"]
    speaking = sum(j.speaks for j in seen.judged if j.verdict == "kept")
    by = {v: [j for j in seen.judged if j.verdict == v] for v in get_args(Verdict)}
    value: dict[str, Any] = {
        "files": seen.files,
        "sites": total,
        "translated": count["translated"],
        "unresolved_count": count["unresolved"],
        "missed_count": count["missed"],
        "kept_count": count["kept"],
        "kept_speaking": speaking,
        "share": _share(count["translated"], total),
        "share_with_kept": _share(count["translated"], total + speaking),
        "kinds": {kind: _counts([j for j in seen.judged if j.site.kind == kind]) for kind in get_args(Kind)},
        "how": dict(sorted(Counter(j.how for j in by["translated"]).items())),
        "reasons": {r.value: sum(j.reason == r.value for j in by["unresolved"]) for r in SENTENCES},
        "kept": dict(Counter(j.why for j in by["kept"]).most_common()),
        "unresolved": [_site(j) | {"reason": j.reason, "why": j.why} for j in by["unresolved"]],
        "missed": [_site(j) for j in by["missed"]],
        "unseen": [{"path": s.path, "line": s.line, "column": s.column, "what": s.what} for s in seen.unseen],
    }
    if every:
        value["all"] = [_site(j) | {"verdict": j.verdict, "how": j.how, "why": j.why} for j in seen.judged]
    return value


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 1.0


def _counts(judged: list[Judged]) -> dict[str, int]:
    count = Counter(j.verdict for j in judged)
    return {"sites": len(judged) - count["kept"], **{v: count[v] for v in get_args(Verdict)}}


def _site(judged: Judged) -> dict[str, Any]:
    s = judged.site
    return {"path": s.path, "line": s.line, "column": s.column, "kind": s.kind, "what": s.what}


def lines(seen: Seen, every: bool) -> list[str]:
    """The same for people."""
    value = as_json(seen, every)
    out = [f"{'kind':16} {'sites':>6} {'translated':>11} {'unresolved':>11} {'missed':>7} {'kept':>6}"]
    for kind, n in value["kinds"].items():
        out.append(f"{kind:16} {n['sites']:6} {n['translated']:11} {n['unresolved']:11} {n['missed']:7} {n['kept']:6}")
    out.append(
        f"{'all':16} {value['sites']:6} {value['translated']:11} {value['unresolved_count']:11} "
        f"{value['missed_count']:7} {value['kept_count']:6}"
    )
    out.append(f"{value['share']:.1%} of {value['sites']} sites in {value['files']} files are translated")
    if value["kept_speaking"]:
        out.append(
            f"{value['share_with_kept']:.1%} counting {counted(value['kept_speaking'], 'place')} kept as upstream has them, which speak SGLang"
        )
    out += [f"{n} kept: {why}" for why, n in value["kept"].items()]
    if not every:
        out += _unresolved([j for j in seen.judged if j.verdict == "unresolved"])
    for j in seen.judged:
        if j.verdict == "missed" or every:
            out.append(f"{_place(j)}: {j.verdict}{f' ({j.how or j.why})' if j.how or j.why else ''}")
    return out


def _unresolved(judged: list[Judged]) -> Iterator[str]:
    """By why, the most frequent first: one decision may settle all places of a kind."""
    for (reason, why), n in Counter((j.reason, j.why) for j in judged).most_common():
        yield f"{n} unresolved ({reason}): {why}"
        yield from (f"    {_place(j)}" for j in judged if (j.reason, j.why) == (reason, why))


def _place(judged: Judged) -> str:
    s = judged.site
    return f"{s.path}:{s.line}:{s.column}: {s.kind}: {s.what}"
