"""What the documentation says to type and to write works as it stands."""

import re
import shlex

import pytest
from config_world import MEGATRON, ROOT, VLLM, enough, quickstart, vime, write_package

PAGES = ("README.md", "docs/reading-a-run.md", "docs/training-configuration.md", "examples/quickstart_cpu/README.md")


def commands() -> list[str]:
    blocks = [
        block for page in PAGES for block in re.findall(r"```sh\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)
    ]
    return sorted(
        {line.split("  #")[0].strip() for block in blocks for line in block.splitlines() if line.startswith("vime ")}
    )


@pytest.mark.parametrize("command", commands())
def test_a_command_of_the_documentation_works(command, tmp_path):
    fakes = write_package(tmp_path / "site-packages", VLLM | MEGATRON)
    done = vime(*shlex.split(command)[1:], path=fakes, cwd=quickstart(tmp_path))
    assert done.returncode == 0 and done.stdout, done.stderr


def test_the_documentations_file_resolves(tmp_path):
    (text,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/training-configuration.md").read_text("utf-8"), re.DOTALL)
    file = tmp_path / "run.yaml"
    file.write_text(text, "utf-8")
    fakes = write_package(tmp_path / "site-packages", VLLM | MEGATRON)
    done = vime("train", *enough(tmp_path), "--config", str(file), "--dry-run", path=fakes)
    assert done.returncode == 0, done.stderr
