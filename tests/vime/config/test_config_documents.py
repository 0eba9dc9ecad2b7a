"""What the documentation says to type and to write works as it stands."""

import re
import shlex

import pytest
from config_world import MEGATRON, ROOT, VLLM, enough, quickstart, vime, write_package

PAGES = (
    "README.md",
    "docs/training.md",
    "docs/reading-a-run.md",
    "docs/training-configuration.md",
    "examples/quickstart_cpu/README.md",
    "examples/fully_async/README.md",
)


def commands() -> list[str]:
    """Those of the pages, but for such as name a file of the reader's, run.yaml."""
    text = "\n".join((ROOT / page).read_text("utf-8") for page in PAGES)
    lines = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL)).replace("\\\n", " ").splitlines()
    typed = {line.split("  #")[0].strip() for line in lines if line.startswith("vime ")}
    return sorted(line for line in typed if "run.yaml" not in line)


@pytest.mark.parametrize("command", commands())
def test_a_command_of_the_documentation_works(command, tmp_path):
    fakes = write_package(tmp_path / "site-packages", VLLM | MEGATRON)
    words = shlex.split(command)[1:]
    if words[0] == "train" and "--dry-run" not in words:  # the run itself is an end-to-end test's
        words.append("--dry-run")
    done = vime(*words, path=fakes, cwd=quickstart(tmp_path))
    assert done.returncode == 0 and done.stdout, done.stderr


def test_the_documentations_file_resolves(tmp_path):
    (text,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/training-configuration.md").read_text("utf-8"), re.DOTALL)
    file = tmp_path / "run.yaml"
    file.write_text(text, "utf-8")
    fakes = write_package(tmp_path / "site-packages", VLLM | MEGATRON)
    done = vime("train", *enough(tmp_path), "--config", str(file), "--dry-run", path=fakes)
    assert done.returncode == 0, done.stderr
