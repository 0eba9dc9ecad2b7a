"""The kinds of files that the report of an import counts."""

from pathlib import PurePosixPath

from sync_tools.modes import GITLINK, SYMLINK

_SUFFIXES = {
    ".py": "Python",
    ".pyi": "Python",
    ".md": "Markdown",
    ".rst": "reStructuredText",
    ".sh": "shell",
    ".bash": "shell",
    ".yml": "YAML",
    ".yaml": "YAML",
    ".j2": "template",
    ".toml": "TOML",
    ".cfg": "INI",
    ".ini": "INI",
    ".json": "JSON",
    ".jsonl": "JSON",
    ".ipynb": "notebook",
    ".patch": "patch",
    ".diff": "patch",
    ".cu": "CUDA, C++",
    ".cuh": "CUDA, C++",
    ".h": "CUDA, C++",
    ".cpp": "CUDA, C++",
    ".css": "web",
    ".js": "web",
    ".html": "web",
}
_NAMES = {"Dockerfile": "Dockerfile", "Makefile": "Makefile", "justfile": "Makefile", "requirements": "requirements"}


def kind_of(path: str, data: bytes, mode: int) -> str:
    """By mode first, then by name; what is neither and holds a zero byte is binary."""
    if mode == SYMLINK:
        return "link"
    if mode == GITLINK:
        return "submodule"
    pure = PurePosixPath(path)
    by_name = next((kind for name, kind in _NAMES.items() if pure.name.startswith(name) and pure.suffix != ".py"), None)
    return by_name or _SUFFIXES.get(pure.suffix) or ("binary" if b"\0" in data[:8192] else "other text")
