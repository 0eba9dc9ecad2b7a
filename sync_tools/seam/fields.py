"""Sites in Python that a word alone does not give away: fields of requests and answers, keys of sampling parameters.

A plain look at the syntax, one dict or one subscript at a time. Nothing is followed through the module: what a dict is, is
told by its keys, by the name that holds it, and by what stands beside it.
"""

import ast
import re
from collections.abc import Iterator, Set

from sync_tools.seam.model import Kind
from sync_tools.seam.names import Names, names
from sync_tools.syntax import parsed

_SAMPLING_NAME = re.compile(r"sampling|(?:^|_)params$|^sp$")
_ANSWER_NAME = re.compile(r"meta|^(?:output|out|response|resp|ret|result|answer|chunk|data|turn)$")

Found = tuple[int, int, Kind, str]
"""Line (1-based), column in bytes (0-based), kind and key."""


def fields(text: str) -> list[Found]:
    """The fields that a module of Python names; none where it does not parse."""
    known = names()
    if not any(word in text for word in (*known.request_marks, *known.sampling, *known.control, known.answer_root)):
        return []
    tree = parsed(text)
    if tree is None:
        return []
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    answers = known.answer_root in text and any(word in text for word in known.answer_marks | known.sampling)
    return sorted(set(_Search(known, parents, answers).run(tree)))


class _Search:
    def __init__(self, known: Names, parents: dict[ast.AST, ast.AST], answers: bool):
        self.known, self.parents, self.answers = known, parents, answers
        self.requests: set[str] = set()

    def run(self, tree: ast.Module) -> Iterator[Found]:
        nodes = list(ast.walk(tree))
        for node in nodes:
            if isinstance(node, ast.Dict):
                yield from self._dict(node)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
                yield from self._keywords(node)
        for node in nodes:
            if (read := _keyed(node)) is not None:
                yield from self._key(*read)

    def _dict(self, node: ast.Dict) -> Iterator[Found]:
        keys = {k.value: (k, v) for k, v in zip(node.keys, node.values) if isinstance(k, ast.Constant)}
        holder = self._holder(node)
        if self._is_request(keys.keys()):
            self.requests |= {holder} if holder else set()
            yield from self._all(keys, "request field", self.known.request)
        elif self.known.control & keys.keys() and self._is_sent(node):
            yield from self._all(keys, "request field", self.known.control)
        if self._is_sampling(keys, holder):
            yield from self._all(keys, "sampling key", self.known.sampling)
        if self.answers and (holder == self.known.answer_root or self.known.answer_root in keys):
            wanted = self.known.distinct | self.known.shared
            yield from self._all(keys, "answer field", wanted)

    def _is_request(self, keys: Set[str]) -> bool:
        return "sampling_params" in keys or bool(self.known.request_marks & keys and self.known.prompts & keys)

    def _all(self, keys: dict, kind: Kind, wanted: frozenset[str]) -> Iterator[Found]:
        for name, (key, _) in keys.items():
            if name in wanted:
                yield key.lineno, key.col_offset, kind, name

    def _is_sampling(self, keys: dict, holder: str) -> bool:
        if any(isinstance(value, ast.Dict) for _, value in keys.values()):
            return False
        return bool(self.known.beside & keys.keys()) or bool(_SAMPLING_NAME.search(holder))

    def _holder(self, node: ast.AST) -> str:
        """The name, attribute, key or keyword that a value is given to."""
        parent = self.parents.get(node)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            return _name(parent.targets[0])
        if isinstance(parent, ast.AnnAssign):
            return _name(parent.target)
        if isinstance(parent, ast.keyword):
            return parent.arg or ""
        if isinstance(parent, ast.Dict) and node in parent.values:
            key = parent.keys[parent.values.index(node)]
            return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
        return ""

    def _is_sent(self, node: ast.AST) -> bool:
        """Whether a dict stands in a call together with a route of the engine's."""
        call = self.parents.get(node)
        call = self.parents.get(call) if isinstance(call, ast.keyword) else call
        if not isinstance(call, ast.Call):
            return False
        said = [c.value for a in call.args for c in ast.walk(a) if isinstance(c, ast.Constant)]
        routes = self.known.endpoints
        return any(isinstance(s, str) and f"/{s.rpartition('/')[2]}" in routes for s in said)

    def _keywords(self, node: ast.Call) -> Iterator[Found]:
        given = {k.arg: (k, k.value) for k in node.keywords if k.arg}
        if self._is_sampling(given, self._holder(node)):
            yield from self._all(given, "sampling key", self.known.sampling)
        if self._is_request(given.keys()):
            yield from self._all(given, "request field", self.known.request)

    def _key(self, base: ast.expr, key: ast.Constant) -> Iterator[Found]:
        name, holder = key.value, _name(base)
        if name in self.known.sampling and _SAMPLING_NAME.search(holder):
            yield key.lineno, key.col_offset, "sampling key", name
        elif name in self.known.request and holder in self.requests and name not in ("text",):
            yield key.lineno, key.col_offset, "request field", name
        elif (self.answers and name in self.known.distinct) or (
            self.answers and name in self.known.shared and _ANSWER_NAME.search(holder)
        ):
            yield key.lineno, key.col_offset, "answer field", name


def _keyed(node: ast.AST) -> tuple[ast.expr, ast.Constant] | None:
    """The container and the constant key of a subscript, a `.get`, `.pop`, or an `in`."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        base, key = node.value, node.slice
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("get", "pop", "setdefault")
    ):
        if not (node.args and isinstance(node.args[0], ast.Constant)):
            return None
        base, key = node.func.value, node.args[0]
    elif (
        isinstance(node, ast.Compare)
        and isinstance(node.ops[0], ast.In | ast.NotIn)
        and isinstance(node.left, ast.Constant)
    ):
        base, key = node.comparators[0], node.left
    else:
        return None
    return (base, key) if isinstance(key.value, str) else None


def _name(node: ast.expr) -> str:
    """The last word of what an expression names: `state.sampling_params` and `body["sampling_params"]` alike."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        first = node.args[0] if node.args else None
        return str(first.value) if isinstance(first, ast.Constant) else _name(node.func.value)
    return ""
