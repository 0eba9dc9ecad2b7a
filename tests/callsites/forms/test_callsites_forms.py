"""The forms in which other authors write the same exchanges: each does on vLLM, translated, what it did on SGLang's."""

import ast
import importlib.util
import logging
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
import harness  # noqa: E402

from sync_tools.translate import Translator  # noqa: E402

FOLDERS = (HERE / "cases", HERE.parent / "shapes")
CASES = {name: (folder, case) for folder in FOLDERS for name, case in harness.load_cases(folder).items()}
STYLES = ("module", "inline")
# A stream that ends inside a character: without a tokenizer the server's text is all there is.
NOT_INLINE = {"s24_stream_tail"}


@pytest.fixture(autouse=True)
def quiet():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture(scope="module")
def translators():
    return {style: Translator(style=style) for style in (*STYLES, "vendor")}


def source(name):
    return (CASES[name][0] / f"{name}.py").read_bytes()


def problems(name, text):
    found = []
    for scenario in ({**CASES[name][1], **one} for one in CASES[name][1]["scenarios"]):
        upstream = harness.run(source(name), "slime", "sglang", scenario)
        assert upstream["outcome"] == scenario.get("raises", "returned") and not upstream["violations"]
        found += harness.compare(upstream, harness.run(text, "vime", "vllm", scenario, ROOT), scenario)
    return found


@pytest.mark.parametrize("name", CASES)
def test_with_the_seam_the_case_does_the_same(name, translators):
    translation = translators["module"].file(f"examples/{name}.py", source(name))
    text = translation.data.decode()
    left = [word for word in CASES[name][1]["must_not"] if word in text]
    assert not left and not problems(name, text), text


@pytest.mark.parametrize("name", sorted(CASES.keys() - NOT_INLINE))
def test_inline_the_case_does_the_same_or_lists_its_site(name, translators):
    translation = translators["inline"].file(f"examples/{name}.py", source(name))
    text = translation.data.decode()
    assert translation.unresolved or not problems(name, text), text


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", CASES)
def test_a_translation_is_stable_and_complete(name, style, translators):
    """Translated again it stays as it is; what it imports exists; a name that it brings in replaces no other."""
    translation = translators[style].file(f"examples/{name}.py", source(name))
    assert translators[style].file(f"examples/{name}.py", translation.data).data == translation.data
    assert_imports_exist(translation.data, style)
    assert_nothing_is_shadowed(source(name), translation.data)


@pytest.mark.parametrize("name", CASES)
def test_vendored_the_translation_differs_in_the_module_of_the_seam_alone(name, translators):
    texts = [translators[style].file(f"examples/{name}.py", source(name)).data for style in ("module", "vendor")]
    assert len({b"\n".join(line for line in text.splitlines() if b"import" not in line) for text in texts}) == 1


def assert_imports_exist(data, style):
    for node in ast.walk(ast.parse(data)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("vime"):
            assert style != "inline" or ".seam" not in node.module
            names = {alias.name for alias in node.names} - {"*"}
            assert names <= defined_in(node.module), (node.module, names - defined_in(node.module))


def defined_in(module):
    spec = importlib.util.find_spec(module)
    if spec is None:
        return set()
    tree = ast.parse(Path(spec.origin).read_text("utf-8"))
    found = {path.stem for path in Path(spec.origin).parent.iterdir()} if spec.submodule_search_locations else set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


def assert_nothing_is_shadowed(before, after):
    """A name that the translation binds and the source did not is one that the source does not read either."""
    old = ast.parse(before)
    new = bound(ast.parse(after)) - bound(old)
    assert not new & {node.id for node in ast.walk(old) if isinstance(node, ast.Name)}


def bound(tree):
    """The names that a module binds, but inside private helpers."""
    found, todo = set(), [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
            if node.name.startswith(("_vllm", "_Vllm")):
                continue
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            found.add(node.name)
        todo.extend(ast.iter_child_nodes(node))
    return found


@pytest.mark.parametrize("style", (*STYLES, "vendor"))
def test_what_holds_nothing_of_the_engine_comes_back_byte_for_byte(style, translators):
    """Our own code, which speaks of neither engine: also with CRLF, a BOM, no final newline."""
    for path in sorted((ROOT / "sync_tools" / "merge").glob("*.py")):
        data = path.read_bytes()
        for form in (data, data.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + data, data.rstrip(b"\n")):
            translation = translators[style].file(f"examples/{path.name}", form)
            assert translation.data == form and not translation.applications and not translation.unresolved
