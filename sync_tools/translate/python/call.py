"""A call as it is made."""

import ast
from dataclasses import dataclass, replace

from sync_tools.translate.python.lattice import NOTHING, Value, join


@dataclass(frozen=True)
class Call:
    """A call as it is made: arguments by position and by name, each with the expression it was written as.

    `callee` is the expression of what is called; of a function handed to another (`to_thread(post, ...)`), the argument.
    """

    node: ast.Call
    callee: ast.expr
    args: tuple[Value, ...]
    arg_nodes: tuple[ast.expr | None, ...]
    keywords: dict[str, Value]
    keyword_nodes: dict[str, ast.expr]
    rest: Value = NOTHING
    open: bool = False

    def argument(self, position: int, *names: str) -> tuple[Value, ast.expr | None]:
        for name in names:
            if name in self.keywords:
                return self.keywords[name], self.keyword_nodes.get(name)
        if position < len(self.args):
            return self.args[position], self.arg_nodes[position]
        return (self.rest, None) if self.rest else (NOTHING, None)

    def every(self) -> Value:
        return join(*self.args, *self.keywords.values(), self.rest)

    def handed_on(self, first: int) -> "Call":
        """The call that this one makes of its argument number `first - 1`, with those behind it."""
        return replace(
            self,
            callee=self.arg_nodes[first - 1] or self.callee,
            args=self.args[first:],
            arg_nodes=self.arg_nodes[first:],
        )
