"""What becomes of the response of a control route in the function that asked."""

import ast

from sync_tools.translate.python.draft import Draft

_OUTSIDE = {"status", "status_code", "ok", "raise_for_status", "close"}
"""What a response has whatever it holds."""


def only_status(draft: Draft, call: ast.Call) -> bool:
    """Whether nothing of the answer is read: only that it came."""
    uses = _uses(draft, call)
    return bool(uses) and all(use.attr in _OUTSIDE for use in uses)


def read_success(draft: Draft, call: ast.Call, rule: str) -> bool:
    """Make the tests of a response's status ask for `success`, too; whether there are any."""
    compared = [(use, draft.source.parent(use)) for use in _uses(draft, call) if use.attr == "status_code"]
    tests = [(use, test) for use, test in compared if isinstance(test, ast.Compare) and _is_ok(test)]
    for use, test in tests:
        start, end = draft.source.span(test)
        asked = f' and {ast.unparse(use.value)}.json()["success"]'
        whole = isinstance(draft.source.parent(test), ast.If | ast.While | ast.Assign | ast.Return)
        before, after = ("", asked) if whole else ("(", f"{asked})")
        draft.edits.wrap((start, end), before, after)
        said = draft.source.segment(test)
        draft.applied(rule, start, said, f"{before}{said}{after}")
    return bool(tests)


def _is_ok(test: ast.Compare) -> bool:
    return isinstance(test.ops[0], ast.Eq) and ast.unparse(test.comparators[0]) == "200"


def _uses(draft: Draft, call: ast.Call) -> list[ast.Attribute]:
    """The attributes that are read of the variable that a response goes to; none where it is used in another way."""
    statement = draft.source.statement(call)
    if not (isinstance(statement, ast.Assign) and statement.value is call):
        return []
    target, scope = statement.targets[0], statement
    while not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
        scope = draft.source.parent(scope)
    named = [n for n in ast.walk(scope) if isinstance(n, ast.Name) and n.id == getattr(target, "id", None)]
    parents = [draft.source.parent(n) for n in named if isinstance(n.ctx, ast.Load)]
    whole = len(parents) == len(named) - 1 and all(isinstance(p, ast.Attribute) for p in parents)
    return parents if whole else []
