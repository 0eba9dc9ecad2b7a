"""What turns a folder of upstream's files into the fork's: this project's translator, and what one would take instead.

    python -m benchmarks.translate_peers PEER SOURCE TARGET

does so in one process, and prints the seconds from before the peer's library is imported to the last file's text;
reading and writing files do not count. `sed` and `ast_grep` are programs that work on files, and are timed whole.
"""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

NAMES = {"slime": "vime", "Slime": "Vime", "SLIME": "VIME", "sglang": "vllm", "SGLang": "vLLM", "SGLANG": "VLLM"}
IDENTIFIERS = """id: names
language: python
rule:
  pattern: $ID
  kind: identifier
  regex: "[Ss]lime|SLIME|sglang|SGLang|SGLANG"
transform:
  N0: {replace: {source: $ID, replace: slime, by: vime}}
  N1: {replace: {source: $N0, replace: Slime, by: Vime}}
  N2: {replace: {source: $N1, replace: SLIME, by: VIME}}
  N3: {replace: {source: $N2, replace: sglang, by: vllm}}
  N4: {replace: {source: $N3, replace: SGLang, by: VLLM}}
  N5: {replace: {source: $N4, replace: SGLANG, by: VLLM}}
fix: $N5
"""

Files = Mapping[str, bytes]
Peer = Callable[[Files], Files]


def sync(workers: int) -> Peer:
    def run(files: Files) -> Files:
        from sync_tools.translate import Translator

        return {path: done.data for path, done in Translator().files(files.items(), workers).items()}

    return run


def libcst_parse_print(files: Files) -> Files:
    """No change at all: what any tool on LibCST spends before it begins."""
    import libcst

    return {path: libcst.parse_module(data).bytes for path, data in files.items()}


def libcst_rename(files: Files) -> Files:
    """LibCST's own codemod for one name; a file that it fails on stays."""
    from libcst.codemod import CodemodContext, TransformSuccess, transform_module
    from libcst.codemod.commands.rename import RenameCommand

    def renamed(data: bytes) -> bytes:
        command = RenameCommand(CodemodContext(), old_name="slime", new_name="vime")
        done = transform_module(command, data.decode())
        return done.code.encode() if isinstance(done, TransformSuccess) else data

    return {path: renamed(data) for path, data in files.items()}


PEERS: dict[str, Peer] = {
    "sync_1": sync(1),
    "sync_2": sync(2),
    "libcst_parse_print": libcst_parse_print,
    "libcst_rename": libcst_rename,
}
PROGRAMS = ("ast_grep", "sed")
PYTHON_ONLY = ("libcst_parse_print", "libcst_rename", "ast_grep")


def available(name: str) -> bool:
    if name == "ast_grep":
        return program("ast-grep") is not None
    return name != "sed" or program("sed") is not None


def program(name: str) -> str | None:
    """The program, beside this Python or on the path."""
    return shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)


def timed(name: str, source: Path, target: Path) -> float:
    """Let a peer make `target` of `source`; the seconds that it took."""
    shutil.rmtree(target, ignore_errors=True)
    if name not in PROGRAMS:
        command = [sys.executable, "-m", "benchmarks.translate_peers", name, str(source), str(target)]
        here = Path(__file__).resolve().parents[1]
        return float(subprocess.run(command, cwd=here, check=True, capture_output=True, text=True).stdout)
    shutil.copytree(source, target, symlinks=True)
    began = time.perf_counter()
    if name == "ast_grep":
        command = [program("ast-grep") or "", "scan", "--inline-rules", IDENTIFIERS, "--update-all", str(target)]
        subprocess.run(command, capture_output=True, check=False)
    else:
        subprocess.run(["sed", "-i", *_expressions(), *map(str, paths(target))], check=True)
    return time.perf_counter() - began


def _expressions() -> list[str]:
    return [word for old, new in NAMES.items() for word in ("-e", f"s/{old}/{new}/g")]


def paths(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def read(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths(folder)}


def main() -> None:
    name, source, target = sys.argv[1:]
    files = read(Path(source))
    began = time.perf_counter()
    done = PEERS[name](files)
    print(time.perf_counter() - began)
    for path, data in done.items():
        place = Path(target, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


if __name__ == "__main__":
    main()
