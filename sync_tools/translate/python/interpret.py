"""Run a module abstractly: from where values are made to where they are used, round by round until nothing is news."""

import ast

from sync_tools.translate.python import arrivals, calls, expressions, methods, models, statements
from sync_tools.translate.python.call import Call
from sync_tools.translate.python.classes import Classes
from sync_tools.translate.python.exchange import Exchanges
from sync_tools.translate.python.heap import Heap, KeyUse
from sync_tools.translate.python.lattice import (
    NOTHING,
    UNKNOWN,
    Dict,
    Dumped,
    Named,
    Opaque,
    Thing,
    Value,
    dicts,
    elements,
    join,
    value,
)
from sync_tools.translate.python.rules import Rules
from sync_tools.translate.python.scope import Frame, Scope
from sync_tools.translate.python.source import Source
from sync_tools.translate.python.tokenizers import tokenizer_in_reach

_MOST_ROUNDS = 6
_BROUGHT_BY_STARS = (
    "http_utils.post",
    "http_utils.get",
    "rollout.GenerateState",
    "rollout.get_model_url",
    "processing_utils.load_tokenizer",
)


class Analysis:
    """What is known of a module. After `run`, `exchanges` holds the exchanges with the engine and `heap` the dicts."""

    def __init__(self, source: Source, rules: Rules, seam_module: str) -> None:
        self.source, self.rules, self.seam_module = source, rules, seam_module
        self.heap, self.calls, self.classes, self.exchanges = Heap(), calls.Calls(), Classes(), Exchanges()
        self._scopes: dict[int, Scope] = {}
        self.module_scope = self.scope(source.tree, None)
        self._values: dict[int, Value] = {}
        self.starred: dict[str, None] = {}
        self.text_prompts: dict[int, tuple[str, ast.expr]] = {}

    def run(self) -> None:
        for _ in range(_MOST_ROUNDS):
            before = self.heap.changes
            self._round()
            if self.heap.changes == before:
                return

    def _round(self) -> None:
        self.calls.new_round()
        self.exchanges = Exchanges()
        self.heap.uses.clear()
        for site in self.heap.sites.values():
            site.roles.clear()
        frame = Frame(self.module_scope)
        self.block(self.source.tree.body, frame)
        self.calls.run_entries(self)

    def evaluate(self, node: ast.expr, frame: Frame) -> Value:
        if not frame.live:
            return NOTHING
        found = expressions.evaluate(self, node, frame)
        number = self.source.number(node)
        self._values[number] = join(self._values.get(number, NOTHING), found)
        return found

    def value_of(self, node: ast.expr) -> Value:
        """Everything that the expression was found to be."""
        return self._values.get(self.source.number(node), UNKNOWN)

    def values(self) -> list[tuple[int, Value]]:
        """Every expression's number and what it was found to be, in the order of the text."""
        return sorted(self._values.items())

    def block(self, body: list[ast.stmt], frame: Frame) -> None:
        statements.block(self, body, frame)

    def method(self, receiver: Value, name: str, call: Call, frame: Frame) -> Value:
        return methods.method(self, receiver, name, call, frame)

    def library(self, dotted: str, call: Call, frame: Frame) -> Value:
        return models.function(self, dotted, call, frame)

    def unknown(self, call: Call, frame: Frame) -> Value:
        return models.unknown(self, call, frame)

    def assign(self, target: ast.expr, held: Value, frame: Frame) -> None:
        statements.assign(self, target, held, frame)

    def read_key(self, of: Value, key: str, node: ast.AST, key_node: ast.AST, frame: Frame) -> Value:
        return expressions.read_key(self, of, key, node, key_node, frame)

    def scope(self, node: ast.AST, parent: Scope | None) -> Scope:
        number = self.source.number(node)
        if number not in self._scopes:
            self._scopes[number] = Scope(node, parent)
        return self._scopes[number]

    def bind(self, name: str, held: Value, frame: Frame) -> None:
        if frame.env is None:
            return
        outer = frame.scope.elsewhere.get(name)
        if outer is None:
            frame.env[name] = held
        if (outer or frame.scope).keep(name, held):
            self.heap.changes += 1

    def lookup(self, name: str, frame: Frame) -> Value:
        if frame.env is not None and name in frame.env:
            return frame.env[name]
        if name in frame.scope.elsewhere:
            return frame.scope.elsewhere[name].cells.get(name, UNKNOWN)
        if frame.scope is self.module_scope and name in frame.scope.cells:
            return frame.scope.cells[name]
        found = frame.scope.enclosing(name)
        return value(Named(self._starred_name(name))) if found is None else found

    def _starred_name(self, name: str) -> str:
        """A name that nothing here binds: a builtin, or what a star import is known to bring."""
        brought = (f"{module}.{name}" for module in self.starred)
        return next((dotted for dotted in brought if dotted.endswith(_BROUGHT_BY_STARS)), name)

    def generators(self, parts: list[ast.comprehension], frame: Frame) -> Frame:
        """A frame in which the targets of a comprehension are bound."""
        inner = Frame(frame.scope, dict(frame.env or {}), depth=frame.depth)
        for part in parts:
            iterated = arrivals.iterated(self, part, self.evaluate(part.iter, inner), inner)
            for name, held in self._targets(part.target, elements(iterated), inner):
                inner.env[name] = held
            for test in part.ifs:
                self.evaluate(test, inner)
        return inner

    def _targets(self, target: ast.expr, held: Value, frame: Frame) -> list[tuple[str, Value]]:
        before = set(frame.env or {})
        probe = Frame(Scope(frame.scope.node, frame.scope.parent), dict(frame.env or {}), depth=frame.depth)
        statements.assign(self, target, held, probe)
        assert probe.env is not None
        return [(name, v) for name, v in probe.env.items() if name not in before or v != (frame.env or {}).get(name)]

    def let_go(self, held: Value) -> None:
        """The value goes where we do not see it: what reads it there reads it as it is written."""
        self.heap.let_go(held)
        arrivals.let_go(self, held)
        for atom in held:
            if isinstance(atom, Dumped):
                self.heap.let_go(self.value_of(self.source.nodes[atom.node]))

    def note_prompt(self, key: str | None, key_node: ast.expr, held: ast.expr | None, frame: Frame) -> None:
        """A text prompt is written: with what it could be encoded there."""
        if key == "text" and held is not None:
            tokenizer = tokenizer_in_reach(self, frame)
            if tokenizer is not None:
                self.text_prompts[self.source.number(key_node)] = (tokenizer, held)

    def merge(self, site: int, held: Value, late: bool) -> None:
        """`held` is poured into the dict; `late` when keys may have been written before."""
        for atom in held:
            if isinstance(atom, Dict):
                if late and self.heap.sites[atom.site].outside:
                    self.heap.mark(site, early=True)
                self.heap.copy(atom.site, site)
            elif not (isinstance(atom, Thing) and atom.kind == "none"):
                self.heap.mark(site, outside=True, early=late)

    def source_of_items(self, node: ast.DictComp, frame: Frame) -> Value | None:
        """The dict that `{k: v for k, v in d.items() ...}` filters, when keys come through as they are."""
        if len(node.generators) != 1:
            return None
        part = node.generators[0]
        items = part.iter
        plain = (
            isinstance(items, ast.Call)
            and isinstance(items.func, ast.Attribute)
            and items.func.attr == "items"
            and isinstance(part.target, ast.Tuple)
            and all(isinstance(t, ast.Name) for t in part.target.elts)
            and isinstance(node.key, ast.Name)
            and node.key.id == part.target.elts[0].id
        )
        if not plain or any(isinstance(n, ast.Name) and n.id == node.key.id for t in part.ifs for n in ast.walk(t)):
            return None
        return self.evaluate(items.func.value, frame)

    def spread(self, held: Value, copied: bool) -> dict[str, Value]:
        """What `**held` passes by name; unless it is `copied`, the names are parameters of what is called."""
        found: dict[str, Value] = {}
        for site in dicts(held):
            self.heap.mark(site, dynamic=not copied)
            for key, item in self.heap.sites[site].fields.items():
                found[key] = join(found.get(key, NOTHING), item)
        return found

    def keywords_of(self, node: ast.AST, extra: dict[str, Value], call: Call | None) -> Value:
        """The dict that `**kwargs` of a function is: what this call names, or what something outside passes."""
        site = self.source.number(node.args.kwarg)
        self.heap.site(site)
        written = {} if call is None else {keyword.arg: keyword for keyword in call.node.keywords}
        if call is None or call.open or not extra.keys() <= written.keys():
            self.heap.mark(site, outside=True, dynamic=True)
        for key, item in extra.items():
            self.heap.write(site, key, item)
            if key in written:
                use = KeyUse(key, self.source.number(written[key]), "write", self._calls_one(call.node.func))
                self.heap.use([site], use)
        return value(Dict(site))

    def _calls_one(self, callee: ast.expr) -> bool:
        """Whether a call can only be of one thing, so that its keywords mean one thing."""
        receiver = callee.value if isinstance(callee, ast.Attribute) else callee
        return len(self.value_of(receiver)) == 1

    def seed(self, param: ast.arg) -> Value:
        """A parameter that something outside fills."""
        annotation = ast.unparse(param.annotation) if param.annotation is not None else ""
        if "GenerateState" in annotation or param.arg == "state":
            return value(Thing("state"))
        if param.arg in ("tokenizer", "tok") or "Tokenizer" in annotation:
            return value(Thing("tokenizer"))
        return value(Opaque(param.arg))

    def is_seam(self, dotted: str) -> bool:
        return dotted.startswith(self.seam_module + ".")
