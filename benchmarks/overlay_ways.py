"""What a fork does to a place of a file: the ways in which people edit, each as a function of (file, line, mark).

A way gives the pieces of its edit, or None where it doesn't fit that place. The mark is a word that stands nowhere else; it
is in every line that an edit writes, so that the line can be told from all others. Only a deletion writes none.
"""

import ast
import re
from collections.abc import Callable, Mapping

from benchmarks.overlay_file import File, Piece, first_line

Pieces = tuple[Piece, ...]
Way = Callable[[File, int, str], Pieces | None]


def insert_statement(f: File, at: int, mark: str) -> Pieces | None:
    return _before_statement(f, at, f"{mark} = 1")


def insert_comment(f: File, at: int, mark: str) -> Pieces | None:
    return _before_statement(f, at, f"# {mark}")


def _before_statement(f: File, at: int, text: str) -> Pieces | None:
    found = _statement(f, at)
    if found is None or _is_text(found[1]) or getattr(found[1], "module", "") == "__future__":
        return None
    line, node, _ = found
    return (Piece(line, line, (" " * node.col_offset + text,)),)


def delete_statement(f: File, at: int, mark: str) -> Pieces | None:
    found = _statement(f, at)
    if found is None or not isinstance(found[1], ast.Assign | ast.Expr | ast.AugAssign) or _is_text(found[1]):
        return None
    line, node, others = found
    return (Piece(line, node.end_lineno or 0, ()),) if others else None


def change_statement(f: File, at: int, mark: str) -> Pieces | None:
    """One literal, or the called name's arguments, of a statement on one line."""
    found = _statement(f, at)
    if (
        found is None
        or found[1].end_lineno != found[1].lineno
        or not isinstance(found[1], ast.Assign | ast.Expr | ast.Return)
    ):
        return None
    line, node, _ = found
    value = next((n for n in ast.walk(node) if isinstance(n, ast.Constant) and type(n.value) in (int, str)), None)
    if value is None or _is_text(node) or value.lineno != value.end_lineno or not f.lines[line].isascii():
        return None
    if any(isinstance(n, ast.JoinedStr) for n in ast.walk(node)):
        return None
    text = f.lines[line]
    return (Piece(line, line + 1, (f"{text[: value.col_offset]}{mark}{text[value.end_col_offset :]}",)),)


def wrap_statement(f: File, at: int, mark: str) -> Pieces | None:
    """A block under a condition, which moves its lines to the right."""
    found = _statement(f, at)
    if (
        found is None
        or _is_text(found[1])
        or isinstance(found[1], ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)
    ):
        return None
    line, node, _ = found
    lines = f.lines[line : node.end_lineno]
    if not 1 <= len(lines) <= 12 or any('"""' in x or "'''" in x for x in lines):
        return None
    inside = tuple(f"    {x}" if x.strip() else x for x in lines)
    return (Piece(line, node.end_lineno or 0, (" " * node.col_offset + f"if {mark}:", *inside)),)


def edit_import(f: File, at: int, mark: str) -> Pieces | None:
    for line in range(max(at - 4, 0), min(at + 12, len(f.lines))):
        node = f.statements.get(line, (None,))[0]
        if not isinstance(node, ast.ImportFrom) or node.module == "__future__" or node.lineno != node.end_lineno:
            continue
        if not f.lines[line].rstrip().endswith(("*", ")")) and "#" not in f.lines[line]:
            return (Piece(line, line + 1, (f"{f.lines[line].rstrip()}, {mark}",)),)
    return None


def add_decorator(f: File, at: int, mark: str) -> Pieces | None:
    name = f.symbol(at)
    if not name:
        return None
    line = f.functions[name].start
    indent = f.lines[line][: len(f.lines[line]) - len(f.lines[line].lstrip())]
    return (Piece(line, line, (f"{indent}@{mark}",)),)


def edit_docstring(f: File, at: int, mark: str) -> Pieces | None:
    for node in ast.walk(f.tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        first = node.body[0]
        if (
            _is_text(first)
            and node.lineno - 8 <= at + 1 <= (node.end_lineno or 0)
            and first.end_lineno > first.lineno + 1
        ):
            line = first.lineno  # the second line of the text
            return (Piece(line, line + 1, (f"{f.lines[line]} {mark}",)),) if f.lines[line].strip() else None
    return None


def rename_local(f: File, at: int, mark: str) -> Pieces | None:
    """A variable of a function under another name, wherever the function names it."""
    for node in ast.walk(f.tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or at not in range(
            first_line(node), node.end_lineno
        ):
            continue
        names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
        written = sorted({n.id for n in names if isinstance(n.ctx, ast.Store)} - _declared(node))
        for name in written:
            uses = [n for n in names if n.id == name]
            if 2 <= len(uses) <= 8:
                return _respelled(f, uses, name, mark)
    return None


def rename_function(f: File, at: int, mark: str) -> Pieces | None:
    """A function of the module under another name, wherever its file calls it."""
    name = f.symbol(at)
    node = next(
        (n for n in f.tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and n.name == name), None
    )
    if node is None:
        return None
    head = node.lineno - 1
    text = re.sub(rf"\b{re.escape(name)}\b", mark, f.lines[head], count=1)
    uses = [n for n in ast.walk(f.tree) if isinstance(n, ast.Name) and n.id == name]
    rest = _respelled(f, uses, name, mark) if uses else ()
    if rest is None or any(p.start == head for p in rest):
        return None
    return tuple(sorted((Piece(head, head + 1, (text,)), *rest), key=lambda p: p.start))


def insert_line(f: File, at: int, mark: str) -> Pieces | None:
    """A comment of a file that is not Python."""
    if f.kind == ".j2" or not _free(f, at):
        return None
    indent = re.match(r"[ \t]*", f.lines[at])[0]
    return (Piece(at, at, (f"{indent}<!-- {mark} -->" if f.kind in (".md", ".rst") else f"{indent}# {mark}",)),)


def delete_line(f: File, at: int, mark: str) -> Pieces | None:
    line = _telling(f, at)
    return None if line is None or f.kind == ".j2" else (Piece(line, line + 1, ()),)


def change_line(f: File, at: int, mark: str) -> Pieces | None:
    """A word of a line: the value of a flag or a key, a word of a sentence or of a table's cell."""
    line = _telling(f, at)
    if line is None or (f.kind == ".j2" and "'test_file'" not in f.lines[line]):
        return None
    text = f.lines[line]
    words = list(re.finditer(r"[A-Za-z0-9_.]{2,}", text))
    word = words[-1]
    return (Piece(line, line + 1, (f"{text[: word.start()]}{mark}{text[word.end() :]}",)),)


def add_row(f: File, at: int, mark: str) -> Pieces | None:
    """Another one of its kind below a line: a flag of a command, a row of a table, a key, a cell of the matrix."""
    shapes = {
        ".sh": (r"\s+--[\w-]+ .*\\$", f"   --{mark} 1 \\"),
        ".md": (r"\|.*\|$", f"| {mark} | {mark} |"),
        ".yml": (r"\s+[\w-]+: \S", f"{mark}: 1"),
        ".yaml": (r"\s*[\w-]+: \S", f"{mark}: 1"),
        ".j2": (r"\s+\{'test_file': .*\},$", "    {'test_file': '" + mark + ".py', 'num_gpus': 8},"),
        "Dockerfile": (r"(RUN|ENV|ARG|COPY) [^\\]*$", f"ENV {mark}=1"),
    }
    if f.kind not in shapes:
        return None
    pattern, row = shapes[f.kind]
    for line in range(max(at - 3, 0), min(at + 4, len(f.lines))):
        if re.match(pattern, f.lines[line]) and not re.match(r"\|[ :|-]*\|$", f.lines[line]):
            indent = re.match(r"\s*", f.lines[line])[0] if f.kind in (".yml", ".yaml") else ""
            return (Piece(line + 1, line + 1, (indent + row,)),)
    return None


PYTHON: Mapping[str, Way] = {
    "insert": insert_statement,
    "comment": insert_comment,
    "delete": delete_statement,
    "change": change_statement,
    "wrap": wrap_statement,
    "import": edit_import,
    "decorator": add_decorator,
    "docstring": edit_docstring,
    "rename local": rename_local,
}
TEXT: Mapping[str, Way] = {"comment": insert_line, "delete": delete_line, "change": change_line, "row": add_row}


def ways(f: File) -> Mapping[str, Way]:
    return PYTHON if f.kind == ".py" else TEXT


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _statement(f: File, at: int) -> tuple[int, ast.stmt, bool] | None:
    line = next((n for n in range(at, min(at + 4, len(f.lines))) if n in f.statements), None)
    return None if line is None else (line, *f.statements[line])


def _declared(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Names that are not the function's alone: parameters, and what it declares global or a nested function may mean."""
    found = {
        a.arg for n in ast.walk(node) if isinstance(n, ast.arguments) for a in (*n.args, *n.kwonlyargs, *n.posonlyargs)
    }
    return found | {x for n in ast.walk(node) if isinstance(n, ast.Global | ast.Nonlocal) for x in n.names}


def _respelled(f: File, uses: list[ast.Name], name: str, mark: str) -> Pieces | None:
    lines = sorted({n.lineno - 1 for n in uses})
    if not all(f.lines[n].isascii() for n in lines):
        return None
    found = []
    for line in lines:
        text = f.lines[line]
        for col in sorted({n.col_offset for n in uses if n.lineno - 1 == line}, reverse=True):
            if text[col : col + len(name)] != name:
                return None
            text = text[:col] + mark + text[col + len(name) :]
        found.append(Piece(line, line + 1, (text,)))
    return tuple(found)


def _free(f: File, at: int) -> bool:
    """Whether a line may stand before this one: no command goes on over the two."""
    return 0 < at < len(f.lines) and not f.lines[at - 1].rstrip().endswith("\\")


def _telling(f: File, at: int) -> int | None:
    """A line at or below `at` that stands once in its file and says something."""
    for line in range(at, min(at + 4, len(f.lines))):
        text = f.lines[line]
        if f.lines.count(text) == 1 and len(re.findall(r"[A-Za-z0-9_.]{2,}", text)) > 1 and "```" not in text:
            return line
    return None
