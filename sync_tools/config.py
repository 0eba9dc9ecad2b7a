"""sync.toml: what differs from the built-in slime-to-vime configuration.

Every field has the built-in value as its default, so a fork without a sync.toml, or with a partial one, is complete.
"""

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from sync_tools.configfields import Day, Glob, InTree, Section
from sync_tools.configread import parse_as
from sync_tools.errors import SyncError


class Upstream(Section):
    """`repo` is owner/name as the forge knows it; `name` is the word in branch and ledger names; `cutoff` the commit that
    the fork holds all of (`sync init --cutoff` writes it), None: that of the import at the root of its history."""

    repo: str = Field("THUDM/slime", pattern=r"^[\w.-]+/[\w.-]+$")
    name: str = Field("slime", pattern=r"^[\w][\w.-]*$")
    cutoff: str | None = Field(None, pattern=r"^[0-9a-f]{7,40}$")


class Rename(Section):
    """A word of upstream's and ours, in lower case; the other casings follow from `rules/names.toml`."""

    old: str = Field(pattern=r"^[A-Za-z][\w.-]*$")
    new: str = Field(pattern=r"^[A-Za-z][\w.-]*$")


class Repository(Section):
    """A repository or image of upstream's and ours, as owner/name."""

    old: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    new: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")


class Move(Section):
    """A file or folder of upstream's that lives under another path of ours than its name says."""

    old: InTree
    new: InTree


class PathPolicy(Section):
    """What becomes of upstream's paths that match a glob (`**` crosses folders).

    skip: not wanted, every swallowed line is listed as dropped; owned: ours alone, upstream's change becomes a
    worksheet; into: upstream's file lives in another file of ours (`into`).
    """

    match: Glob
    action: Literal["skip", "owned", "into"]
    reason: str = Field(min_length=3)
    into: InTree | None = None

    @model_validator(mode="after")
    def _into_has_a_target(self) -> "PathPolicy":
        if (self.action == "into") != (self.into is not None):
            raise ValueError('`into` goes with action = "into", and only with it')
        return self


class Seam(Section):
    """Where translated code finds the seam; `style` None means: module if the tree has it, else vendor."""

    style: Literal["module", "vendor", "inline"] | None = None
    module: str = Field("vime.backends.vllm_utils.seam", pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")


class Formatter(Section):
    """A formatter called by name on a file's text, never through hooks of a tree."""

    name: Literal["black", "isort", "ruff", "ruff-format"]
    args: tuple[str, ...] = ()
    match: Glob = "**/*.py"


class Place(Section):
    """A CI row that stands elsewhere in the fork: upstream's `test_file` row of `job` goes to `to`."""

    test_file: str
    job: str
    to: str
    why: str = ""


class Exempt(Section):
    """Tests that CI leaves out, by glob, and why."""

    match: Glob
    reason: str = Field(min_length=3)


class CI(Section):
    """`template` None: `ci_templates/pr-test.yml.j2`, else `.github/workflows/pr-test.yml.j2`, whichever stands."""

    template: InTree | None = None
    workflow: InTree = ".github/workflows/pr-test.yml"
    tests: InTree = "tests"
    places: tuple[Place, ...] = ()
    exempt: tuple[Exempt, ...] = ()
    banner: str | None = None


class Overlay(Section):
    """A deliberate difference of the fork from translated upstream. `path` may be a glob."""

    path: Glob
    why: str = Field(min_length=3)
    who: str = ""
    until: Day | None = None


SKIP_ENGINE_PATCHES = "patches to SGLang's own sources; they have no meaning for vLLM"
SKIP_ALIGNMENT = "makes Megatron's numbers those of SGLang's kernels, bit for bit; vLLM's are others"


def builtin_policies() -> tuple[PathPolicy, ...]:
    """The built-in policies, each with the reason that the ledger prints for every line that it swallows."""
    return (
        PathPolicy(match="docker/**/megatron-sglang*.patch", action="skip", reason=SKIP_ALIGNMENT),
        PathPolicy(match="docker/**/*sglang*.patch", action="skip", reason=SKIP_ENGINE_PATCHES),
        PathPolicy(match="docker/patch/**/*sgl*kernel*", action="skip", reason=SKIP_ENGINE_PATCHES),
        PathPolicy(
            match="examples/strands_sglang/**",
            action="skip",
            reason="built on the third-party package strands-sglang, which has no vLLM counterpart",
        ),
    )


class Config(Section):
    """The whole configuration; `policies` of a sync.toml replace the built-in ones (`sync init` writes them out)."""

    schema_: Literal[1] = Field(1, alias="schema")
    upstream: Upstream = Upstream()
    fork: str = Field("vime", pattern=r"^[\w][\w.-]*$")
    engine: Literal["sglang-to-vllm", "same"] = "sglang-to-vllm"
    names: tuple[Rename, ...] = (Rename(old="slime", new="vime"), Rename(old="sglang", new="vllm"))
    repositories: tuple[Repository, ...] = ()
    paths: tuple[Move, ...] = ()
    policies: tuple[PathPolicy, ...] = Field(default_factory=builtin_policies)
    overlays: tuple[Overlay, ...] = ()
    seam: Seam = Seam()
    formatters: tuple[Formatter, ...] = ()
    ci: CI = CI()
    title: str = "[{upstream}-sync] {subject} ({ref})"
    ledgers: InTree = "ledgers"
    residue: InTree = "residue.toml"
    size_limit: int = Field(5_000_000, ge=1)

    @property
    def formatting(self) -> tuple[Formatter, ...]:
        """The formatters as they are called. They see single files, so isort is told which package is the fork's own."""
        return tuple(
            f.model_copy(update={"args": (*f.args, "-p", self.fork)})
            if f.name == "isort" and not {"-p", "--project"} & set(f.args)
            else f
            for f in self.formatters
        )


def parse(content: str, where: str) -> Config:
    """The configuration in a sync.toml's text. Raises SyncError that names line and key."""
    return parse_as(Config, content, where, "see docs/configuration.md")


def load(path: Path) -> Config:
    """The configuration in a file. Raises SyncError when it cannot be read or is not valid."""
    try:
        return parse(path.read_text("utf-8"), path.name)
    except (OSError, UnicodeDecodeError) as e:
        raise SyncError("cannot read the configuration", str(path), "name a readable TOML file") from e
