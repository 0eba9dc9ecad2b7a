"""What an import did, counted: by kind of file, what waits for a person, what was left out, and which old names still stand."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from sync_tools.config import Config
from sync_tools.importer.dangling import dangling
from sync_tools.importer.kinds import kind_of
from sync_tools.importer.tree import FAILED, Dropped, Tree, Unresolved
from sync_tools.modes import GITLINK, SYMLINK
from sync_tools.translate import rules
from sync_tools.translate.kinds import profile
from sync_tools.translate.names import naming
from sync_tools.translate.result import Translation
from sync_tools.translate.standing import standing


@dataclass(frozen=True)
class Kind:
    """The files of one kind."""

    kind: str
    files: int
    translated: int
    identical: int


@dataclass(frozen=True)
class Group:
    """The unresolved sites that wait for the same reason."""

    why: str
    sites: int


@dataclass(frozen=True)
class Kept:
    """The old names that stand for one reason: the code of the rule that protects them, or `unresolved`."""

    reason: str
    title: str
    names: int
    files: int


@dataclass(frozen=True)
class Unjustified:
    """An old name that nothing keeps, at its line in the fork's text of upstream's file."""

    path: str
    line: int
    name: str


@dataclass(frozen=True)
class Imported:
    """What an import did. `files` of upstream's were written: translated, identical or (as they were) failed.

    `commit` is None where the files were written into a repository that was there. `unused_rules` are the codes of the
    rules that applied nowhere.
    """

    upstream_commit: str
    files: int
    translated: int
    identical: int
    dropped: int
    failed: int
    unresolved: tuple[Unresolved, ...]
    kinds: tuple[Kind, ...]
    unresolved_groups: tuple[Group, ...]
    unused_rules: tuple[str, ...]
    dropped_paths: tuple[Dropped, ...]
    standing: tuple[Kept, ...]
    unjustified: tuple[Unjustified, ...]
    seconds: float = 0.0
    commit: str | None = None


def account(tree: Tree, config: Config) -> Imported:
    """The report on a translated tree, before it is written anywhere."""
    failed = {path for path, t in tree.translations.items() if any(s.what == FAILED for s in t.unresolved)}
    changed = {p for p, t in tree.translations.items() if t.data != tree.sources[p]}
    sites = [Unresolved(p, s.line, s.what, s.why) for p, t in sorted(tree.translations.items()) for s in t.unresolved]
    unresolved = (*sites, *dangling(tree.sources, tree.dropped), *tree.unrendered, *tree.collisions)
    kept, unjustified = _standing(tree, config)
    return Imported(
        upstream_commit=tree.commit,
        files=len(tree.translations),
        translated=len(changed),
        identical=len(tree.translations) - len(changed) - len(failed),
        dropped=len(tree.dropped),
        failed=len(failed) + len(tree.collisions),
        unresolved=unresolved,
        kinds=_kinds(tree, changed),
        unresolved_groups=tuple(Group(why, n) for why, n in Counter(u.why for u in unresolved).most_common()),
        unused_rules=unused_rules(tree.translations.values(), config),
        dropped_paths=tree.dropped,
        standing=kept,
        unjustified=unjustified,
    )


def _kinds(tree: Tree, changed: set[str]) -> tuple[Kind, ...]:
    of = {path: kind_of(path, tree.sources[path], tree.modes[path]) for path in tree.translations}
    files, translated = Counter(of.values()), Counter(of[path] for path in changed)
    return tuple(Kind(k, n, translated[k], n - translated[k]) for k, n in sorted(files.items(), key=lambda i: -i[1]))


def _standing(tree: Tree, config: Config) -> tuple[tuple[Kept, ...], tuple[Unjustified, ...]]:
    names, engine = naming(config), config.engine != "same"
    count: Counter[str] = Counter()
    files: defaultdict[str, set[str]] = defaultdict(set)
    unjustified = []
    for path, translation in sorted(tree.translations.items()):
        if tree.modes[path] in (SYMLINK, GITLINK) or b"\0" in translation.data[:8192]:
            continue
        text, where = translation.data.decode("utf-8", "replace"), profile(path, engine=engine)
        for left in standing(text, translation.unresolved, names, where):
            if left.reason is None:
                unjustified.append(Unjustified(path, left.line, left.name))
                continue
            count[left.reason] += 1
            files[left.reason].add(path)
    titles = {rule.code: rule.title for rule in rules.table("protected")}
    kept = tuple(
        Kept(why, titles.get(why, "Reported as unresolved"), n, len(files[why])) for why, n in count.most_common()
    )
    return kept, tuple(unjustified)


def unused_rules(translations: Iterable[Translation], config: Config) -> tuple[str, ...]:
    """The rules with examples that applied nowhere; those of another engine or of absent configuration don't count."""
    used = {a.rule for t in translations for a in t.applications}
    engine = config.engine != "same"
    return tuple(
        r.code for r in rules.all_rules() if r.examples and r.code not in used and (engine or r.code == "SY201")
    )
