"""A translation in the making: edits, what was applied where, what could not be."""

import ast
from dataclasses import dataclass, field

from sync_tools.translate.python.edits import Edits
from sync_tools.translate.python.source import Source
from sync_tools.translate.reasons import Reason
from sync_tools.translate.result import Application, Site


@dataclass
class Draft:
    """Collects; nothing is changed until it is applied."""

    source: Source
    seam_module: str
    edits: Edits = field(default_factory=Edits)
    applications: set[Application] = field(default_factory=set)
    unresolved: set[Site] = field(default_factory=set)
    seam_names: set[str] = field(default_factory=set)
    taken: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.taken = frozenset(_names(self.source.nodes))

    def seam(self, name: str) -> str:
        """The name that a function of the seam goes by in this module; it will be imported."""
        self.seam_names.add(name)
        return self.local_name(name)

    def local_name(self, name: str) -> str:
        return f"seam_{name}" if name in self.taken else name

    def fresh(self, name: str) -> str:
        """The name, or the first numbered one that the module does not use."""
        candidates = [name, *(f"{name}_{i}" for i in range(2, 100))]
        return next(candidate for candidate in candidates if candidate not in self.taken)

    def applied(self, rule: str, at: int, before: str, after: str) -> None:
        line, column = self.source.position(at)
        self.applications.add(Application(line, column, rule, before, after))

    def has_applied(self, rule: str, at: int, before: str) -> bool:
        line, column = self.source.position(at)
        return any((a.line, a.column, a.rule, a.before) == (line, column, rule, before) for a in self.applications)

    def short(self, node: ast.AST) -> str:
        """The node's text on one line, cut when it is long."""
        text = " ".join(self.source.segment(node).split())
        return text if len(text) <= 80 else text[:77] + "..."

    def insert_before(self, statement: ast.stmt, line: str, rule: str) -> None:
        """A line of its own in front of a statement, once."""
        start = self.source.line_start(statement.lineno)
        indent = self.source.text[start : self.source.span(statement)[0]]
        if Application(*self.source.position(start + len(indent)), rule, "", line) in self.applications:
            return
        self.edits.insert(start, f"{indent}{line}{self.source.newline}")
        self.applied(rule, start + len(indent), "", line)

    def end_of_imports(self) -> int:
        """The line behind the imports that the module begins with."""
        line = 1
        for node in self.source.tree.body:
            docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if not isinstance(node, ast.Import | ast.ImportFrom) and not docstring:
                break
            line = node.end_lineno + 1
        return line

    def site(self, node: ast.AST, what: str, why: str, reason: Reason, statement: bool = True) -> None:
        """Report a place; with `statement` it takes the lines of the statement around it."""
        whole = self.source.statement(node) if statement else node
        line, column = self.source.position(self.source.span(whole)[0])
        end = whole.end_lineno
        if statement and isinstance(getattr(whole, "body", None), list) and whole.body:
            end = max(line, whole.body[0].lineno - 1)
        self.unresolved.add(Site(line, column, end, what, why, reason))


def _names(nodes: list[ast.AST]) -> set[str]:
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            found.add(node.name)
    return found
