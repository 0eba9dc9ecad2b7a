"""Import the seam, in the place where isort would have it."""

import ast

from sync_tools.translate.python.draft import Draft

_RULE = "SY140"
_UPSTREAM = "slime"


def add(draft: Draft) -> None:
    """One import of every seam name that the module now uses."""
    if not draft.seam_names:
        return
    names = ", ".join(
        name if draft.local_name(name) == name else f"{name} as {draft.local_name(name)}"
        for name in sorted(draft.seam_names, key=_order_of_name)
    )
    line = f"from {draft.seam_module} import {names}"
    at, before, after = _place(draft)
    newline = draft.source.newline
    draft.edits.insert(at, f"{newline if before else ''}{line}{newline}{newline if after else ''}")
    draft.applied(_RULE, at, "", line)


def _order_of_name(name: str) -> tuple[int, str]:
    """Constants, classes, functions."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name.lower()


def _place(draft: Draft) -> tuple[int, bool, bool]:
    """Offset of a line start, and whether a blank line is needed before and after."""
    source = draft.source
    ours = _first_run([node for node in source.tree.body if _is_first_party(node, draft)], source.tree.body)
    for node in ours:
        if isinstance(node, ast.ImportFrom) and _key(node.module or "", draft) > _key(draft.seam_module, draft):
            return _above(draft, node), False, False
    if ours:
        return source.line_start(ours[-1].end_lineno + 1), False, False
    head = [node for node in _head(source.tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    local = [node for node in head if isinstance(node, ast.ImportFrom) and node.level]
    if local:
        return _above(draft, local[0]), False, True
    if head:
        return source.line_start(head[-1].end_lineno + 1), True, False
    body = source.tree.body
    if body and ast.get_docstring(source.tree, clean=False) is not None:
        return source.line_start(body[0].end_lineno + 1), True, False
    return source.line_start(body[0].lineno if body else 1), False, bool(body)


def _first_run(imports: list[ast.stmt], body: list[ast.stmt]) -> list[ast.stmt]:
    """The imports that stand one behind the other, from the first on."""
    run = imports[:1]
    for node in imports[1:]:
        if body.index(node) != body.index(run[-1]) + 1:
            break
        run.append(node)
    return run


def _above(draft: Draft, node: ast.stmt) -> int:
    """The line of the statement, or of the comments that stand directly above it."""
    line = node.lineno
    while line > 1 and draft.source.line(line - 1).lstrip().startswith("#"):
        line -= 1
    return draft.source.line_start(line)


def _head(tree: ast.Module) -> list[ast.stmt]:
    """The statements up to the first that is no import and no docstring."""
    found: list[ast.stmt] = []
    for node in tree.body:
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not isinstance(node, ast.Import | ast.ImportFrom) and not docstring:
            break
        found.append(node)
    return found


def _is_first_party(node: ast.stmt, draft: Draft) -> bool:
    roots = (_UPSTREAM, draft.seam_module.partition(".")[0])
    if isinstance(node, ast.ImportFrom):
        return node.level == 0 and (node.module or "").partition(".")[0] in roots
    return isinstance(node, ast.Import) and node.names[0].name.partition(".")[0] in roots


def _key(module: str, draft: Draft) -> str:
    """How the module will sort once its name is the fork's."""
    return module.replace(_UPSTREAM, draft.seam_module.partition(".")[0]).replace("sglang", "vllm").lower()
