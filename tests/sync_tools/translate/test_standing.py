"""What a translation leaves standing is told apart: kept by which rule, reported, or by nothing."""

from sync_tools.config import Config, Rename
from sync_tools.translate import Translator
from sync_tools.translate.kinds import profile
from sync_tools.translate.names import naming
from sync_tools.translate.standing import standing

FORK = Config()


def reasons(path: str, upstream: str, config: Config = FORK) -> list[tuple[str, str | None]]:
    done = Translator(config).file(path, upstream.encode())
    found = standing(done.data.decode(), done.unresolved, naming(config), profile(path, engine=config.engine != "same"))
    return [(left.name, left.reason) for left in found]


def test_a_translated_text_leaves_nothing() -> None:
    assert reasons("a.py", "import slime\nfrom slime.sglang import SGLangEngine\n") == []


def test_each_protection_is_named_by_its_rule() -> None:
    assert reasons("a.md", "https://github.com/sgl-project/sglang\n")[0][1] == "SY291"
    assert reasons("a.md", "docker pull slimerl/slime:latest\n") == [("slimerl", "SY293"), ("slime:latest", "SY293")]
    assert reasons("a.py", "# Adapted from SGLang\n") == [("SGLang", "SY294")]
    assert reasons("a.py", "from sgl_kernel import f\n") == [("sgl_kernel", "SY295")]
    assert reasons("docker/Dockerfile", "RUN pip install sglang\n") == [("sglang", "SY297")]


def test_a_citation_keeps_its_names_and_the_text_around_it_does_not() -> None:
    text = "slime is cited:\n```bibtex\n@misc{slime_github}\n```\n"
    assert reasons("README.md", text) == [("slime_github", "SY290")]
    assert Translator().file("README.md", text.encode()).data.startswith(b"vime is cited")


def test_what_is_reported_is_unresolved() -> None:
    assert ("SGLANG_ENABLE_X", "unresolved") in reasons("a.py", "on = os.environ['SGLANG_ENABLE_X']\n")


def test_a_name_that_no_rule_reaches_has_no_reason() -> None:
    assert reasons("a.txt", "a slimes\n") == [("slimes", None)]


def test_lines_and_columns_are_those_of_the_text() -> None:
    found = standing("\n  xslime\n", (), naming(Config()), profile("a.txt", engine=True))
    assert [(left.line, left.column) for left in found] == [(2, 4)]


def test_a_fork_on_the_same_engine_keeps_the_engines_name() -> None:
    same = Config(engine="same", names=(Rename(old="slime", new="kelp"),))
    assert reasons("a.py", "import sglang, slime\n", same) == []
