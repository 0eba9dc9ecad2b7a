"""What the demonstrations on a CPU share: the command over seeds, and folders that are filled at once."""

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
DEMOS = ("quickstart_cpu/demo.py", "retool/cpu/demo.py")
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(str(EXAMPLES))
    import demo_runs
    import prepared


@dataclass(frozen=True)
class Came:
    learned: bool
    words: str


def _loaded(name):
    spec = importlib.util.spec_from_file_location("a_demonstration", EXAMPLES / name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("learned", "status"), [([True, True], 0), ([True, False], 1)])
def test_each_seed_is_run_and_all_must_learn(learned, status, capsys, tmp_path):
    asked = []

    def one(seed, runs, options):
        asked.append((seed, runs, options))
        return Came(learned[len(asked) - 1], f"seed {seed} came out")

    demo = demo_runs.Demo("a demonstration", one, "what it means")
    words = ["--seeds", "3", "5", "--runs", str(tmp_path), "--", "--lr", "1"]
    assert demo_runs.main(demo, words) == status
    assert asked == [(seed, tmp_path, ["--lr", "1"]) for seed in (3, 5)]
    assert capsys.readouterr().out == "seed 3 came out\nseed 5 came out\nwhat it means\n"


def test_a_program_that_fails_ends_it(tmp_path):
    (tmp_path / "of_the_example.py").write_text("")
    assert demo_runs.timed("-c", "import of_the_example", modules=tmp_path) > 0
    with pytest.raises(SystemExit) as raised:
        demo_runs.timed("-c", "raise SystemExit(7)")
    assert raised.value.code == 7


@pytest.mark.parametrize("name", DEMOS)
def test_a_seed_has_data_and_runs_of_its_own(name, monkeypatch, tmp_path):
    demo, ran = _loaded(name), []
    monkeypatch.setattr(demo, "timed", lambda *words, **_: ran.append([*map(str, words)]) or 1.0)
    log = {kind: SimpleNamespace(steps=(0, 9), values=(0.1, 0.96)) for kind in ("eval/rev3", "eval/products")}
    log |= {f"rollout/{kind}": SimpleNamespace(values=(0.5,)) for kind in ("raw_reward", "tool_calls/mean")}
    monkeypatch.setattr(demo, "read_run", lambda _: SimpleNamespace(series=log))
    outcome = demo.one(2, tmp_path, ["--lr", "1"])
    assert outcome.learned and "seed 2" in outcome.words and "0.960" in outcome.words
    prepare, *trainings, report = ran
    assert prepare[0].endswith("prepare.py") and "out-seed2" in prepare[2]
    for words in trainings:
        assert words[:3] == ["-m", "vime.cli", "train"] and words[words.index("--seed") :][:2] == ["--seed", "1236"]
        assert any("out-seed2" in word for word in words)
    assert trainings[-1][-2:] == ["--lr", "1"] and report[2] == "report" and Path(report[3]).parent == tmp_path


def test_a_folder_of_something_else_stays(tmp_path, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("years of work")
    for path in (tmp_path / "mine", tmp_path / "mine/thesis.txt"):
        with pytest.raises(SystemExit, match="2"), prepared.filled(path):
            raise AssertionError("nothing is done then")
        assert f"error: {path} holds something else" in capsys.readouterr().err
    assert (tmp_path / "mine/thesis.txt").read_text() == "years of work"


def test_a_folder_is_replaced_at_once_and_only_by_a_whole_one(tmp_path):
    out = tmp_path / "deep/out"
    for text in ("first", "second"):
        with prepared.filled(out) as folder:
            (folder / prepared.STAMP).write_text(text)
            assert not out.exists() or (out / prepared.STAMP).read_text() == "first"
    with pytest.raises(SystemExit, match="1"), prepared.filled(out) as folder:
        (folder / prepared.STAMP).write_text("third")
        raise SystemExit(1)
    assert (out / prepared.STAMP).read_text() == "second"
    assert [path.name for path in out.parent.iterdir()] == ["out"]
