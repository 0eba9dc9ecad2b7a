"""`sync plan`: what porting a change, or a window, will take. It writes nothing."""

from collections.abc import Iterable
from functools import cache

from sync_tools.commands.options import Settings
from sync_tools.errors import SyncError
from sync_tools.formatters import format_bytes
from sync_tools.plan.brief import Reader
from sync_tools.plan.build import Ground, plan
from sync_tools.plan.report import Line, as_object, lines
from sync_tools.plan.side import side
from sync_tools.plan.standing import standing
from sync_tools.plan.table import window_lines, window_object
from sync_tools.plan.window import plan_window, window_reader
from sync_tools.port.file import Setting
from sync_tools.port.fork import Fork
from sync_tools.port.style import seam_style
from sync_tools.terminal import clean, console, is_plain, print_json, watched
from sync_tools.translate import Translator
from sync_tools.upstream.collect import collect
from sync_tools.upstream.history import messages
from sync_tools.upstream.mirror import cache_dir
from sync_tools.upstream.resolve import bare_commit, landing, landing_on, newest
from sync_tools.upstream.window import window


def run(
    settings: Settings,
    prs: tuple[int, ...],
    commits: tuple[str, ...],
    base: str | None,
    cutoff: str | None,
    tip: str | None,
) -> int:
    """The plan of one change, or of a window; 0 when it is made: a plan asks nothing of anybody."""
    if cutoff is not None and not prs and not commits:
        return _window(settings, base, cutoff, tip)
    if cutoff is not None or len(prs) + len(commits) != 1:
        raise SyncError("plan takes one change, or a window", "vime-sync plan", "vime-sync plan 1921, or --cutoff REV")
    upstream, config = settings.upstream, settings.config
    line = messages(upstream, _tip(settings, tip))
    found = landing_on(line, prs[0]) if prs and not tip else None
    landed = found or (landing(upstream, prs[0]) if prs else bare_commit(upstream, commits[0]))
    ground = _ground(settings, base)
    reader = Reader(upstream, config, standing(ground.fork.repo, ground.base, config, upstream, line))
    with watched(settings.json, "following upstream's lines"):
        made = plan(collect(upstream, landed), reader, ground)
    if settings.json:
        print_json(as_object(made))
    else:
        ref = f"{config.upstream.repo}#{landed.pr}" if landed.pr is not None else landed.commit[:12]
        show(lines(made, ref))
    return 0


def _window(settings: Settings, base: str | None, cutoff: str, tip: str | None) -> int:
    upstream, config, fork = settings.upstream, settings.config, Fork(settings.repo)
    asked = window(upstream, cutoff, newest(upstream, tip))
    commit = fork.base(base)
    where = standing(fork.repo, commit, config, upstream, messages(upstream, asked.tip))
    with watched(settings.json, "following upstream's lines"):
        reader = window_reader(upstream, config, where, asked.cutoff, asked.tip)
        made = plan_window(asked.cutoff, asked.tip, reader, side(fork.repo, commit, config))
    if settings.json:
        print_json(window_object(made))
    else:
        show(window_lines(made))
    return 0


def _tip(settings: Settings, tip: str | None) -> str:
    return bare_commit(settings.upstream, newest(settings.upstream, tip)).commit


def _ground(settings: Settings, base: str | None) -> Ground:
    """The fork as a port would find it."""
    config, fork = settings.config, Fork(settings.repo)
    commit = fork.base(base)
    tree = fork.repo.tree(commit)
    setting = Setting(
        tree=tree,
        config=config,
        translator=Translator(config, seam_style(tree, config), cache_dir() / "translations"),
        format=lambda path, data: format_bytes(path, data, config.formatting),
        removed_by=cache(lambda path: fork.removed_by(path, commit)),
    )
    return Ground(fork, commit, setting)


def show(told: Iterable[Line]) -> None:
    """Print lines; what upstream says is text, never markup or a terminal's command."""
    if is_plain():
        for _, line in told:
            print(clean(line).expandtabs())
        return
    from rich.text import Text

    out = console()
    for style, line in told:
        out.print(Text(clean(line), style=style))
