"""What of a window of upstream's history the fork has, by content."""

from dataclasses import dataclass

from sync_tools.adopt.content import Judge, needed
from sync_tools.adopt.fork import ForkFiles
from sync_tools.adopt.images import Images
from sync_tools.adopt.places import ForkPlaces
from sync_tools.adopt.steps import Step, steps
from sync_tools.adopt.trace import Trace, trace
from sync_tools.adopt.verdict import Verdict
from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.ledger.lines import split
from sync_tools.translate import Translator
from sync_tools.tree import Tree
from sync_tools.upstream.window import Window


@dataclass(frozen=True)
class Survey:
    """`verdicts[n]` is that of `steps[n]`."""

    window: Window
    steps: tuple[Step, ...]
    trace: Trace
    verdicts: tuple[Verdict, ...]
    places: ForkPlaces


def survey(upstream: Repo, window: Window, tree: Tree, config: Config, translator: Translator) -> Survey:
    """Judge every landing of the window against a tree of the fork."""
    images = Images(upstream, translator)
    done = steps(upstream, window)
    changed = {side for step in done for change in step.changes for side in (change.before, change.after) if side}
    texts = images.read(sorted(changed))
    traced = trace(done, lambda side: split(texts[side]))
    known = {side.path for side in changed} | upstream.tree(window.cutoff).paths()
    files = ForkFiles(tree, frozenset(translator.path(path) for path in known))
    places = ForkPlaces(traced, files, config, translator, {})
    wanted = [t for step in traced.steps for t in step if not places.excuse(t)]
    places.rendered |= images.rendered(needed(traced, wanted))
    judge = Judge(traced, places.rendered, places)
    places.rendered |= images.rendered(judge.replaced_images() - places.rendered.keys())
    return Survey(window, done, traced, judge.verdicts(), places)
