"""Names: what a function binds, what its closures see, and the state of its locals while it is followed."""

import ast
from dataclasses import dataclass, field

from sync_tools.translate.python.lattice import NOTHING, Value, join

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_OPENS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@dataclass
class Scope:
    """A function, a class body or the module.

    `cells` join everything that a name was ever bound to, for closures; `elsewhere` are global and nonlocal names.
    """

    node: ast.AST
    parent: "Scope | None"
    cells: dict[str, Value] = field(default_factory=dict)
    elsewhere: dict[str, "Scope"] = field(default_factory=dict)

    def keep(self, name: str, value: Value) -> bool:
        """Joins a binding; whether that is news."""
        grown = join(self.cells.get(name, NOTHING), value)
        news = grown != self.cells.get(name)
        self.cells[name] = grown
        return news

    def enclosing(self, name: str) -> Value | None:
        """What a free name sees in the scopes around; class bodies are not seen from inside."""
        scope = self.parent
        while scope is not None:
            if name in scope.cells and not isinstance(scope.node, ast.ClassDef):
                return scope.cells[name]
            scope = scope.parent
        return None

    def declare(self, name: str, module: bool) -> None:
        """`global name`, or `nonlocal name`: it is bound outside."""
        scope = self.parent
        while scope is not None and scope.parent is not None and (module or name not in scope.cells):
            scope = scope.parent
        if scope is not None:
            self.elsewhere[name] = scope

    def within(self, other: "Scope") -> bool:
        """Whether this is `other`, or lies inside it."""
        scope: Scope | None = self
        while scope is not None:
            if scope is other:
                return True
            scope = scope.parent
        return False


@dataclass
class Frame:
    """One pass through a function: its locals now (None behind a return), and what it has given back."""

    scope: Scope
    env: dict[str, Value] | None = field(default_factory=dict)
    returned: Value = NOTHING
    yielded: Value = NOTHING
    generator: bool = False
    depth: int = 0
    continued: list[dict[str, Value]] = field(default_factory=list)
    broken: list[dict[str, Value]] = field(default_factory=list)

    @property
    def live(self) -> bool:
        return self.env is not None


def joined(*envs: dict[str, Value] | None) -> dict[str, Value] | None:
    """The locals where paths meet; None when no path arrives."""
    alive = [env for env in envs if env is not None]
    if not alive:
        return None
    if len(alive) == 1:
        return dict(alive[0])
    names = dict.fromkeys(name for env in alive for name in env)
    return {name: join(*(env[name] for env in alive if name in env)) for name in names}


def is_generator(node: FunctionNode) -> bool:
    """Whether the function itself yields, not one inside it."""
    todo: list[ast.AST] = list(node.body) if isinstance(node.body, list) else [node.body]
    while todo:
        inner = todo.pop()
        if isinstance(inner, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(inner, _OPENS):
            todo.extend(ast.iter_child_nodes(inner))
    return False
