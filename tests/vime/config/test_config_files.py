"""What a run reads is there, and what it writes has a place, before anything starts."""

import os

import pytest
from config_world import enough, made, problems, refused


def test_data_that_is_not_there_stops_a_run_and_is_a_warning_of_a_dry_one(tmp_path):
    words = [*enough(tmp_path), "--prompt-data", str(tmp_path / "none.jsonl@[:5]")]
    (line,) = refused(words)
    assert line.startswith(f"--prompt-data: {tmp_path}/none.jsonl: there is no such file; write it")
    assert refused(words, dry=True) == []
    assert [warning.where for warning in made(words).warnings] == ["--prompt-data"]


@pytest.mark.parametrize("way", ["flag", "file"])
def test_so_does_an_evaluation_set_that_will_be_asked(tmp_path, way):
    (tmp_path / "eval.yaml").write_text("eval: {datasets: {a: {path: none.jsonl}}}")
    flag, *values = (
        ["--eval-prompt-data", "a", "none.jsonl"] if way == "flag" else ["--eval-config", str(tmp_path / "eval.yaml")]
    )
    words = [*enough(tmp_path), flag, *values]
    (line,) = refused([*words, "--eval-interval", "2"])
    assert line.startswith(f"{flag}: none.jsonl: there is no such file")
    for unasked in (
        [],
        ["--eval-interval", "2", "--debug-train-only"],
        ["--eval-interval", "2", "--eval-function-path", "json.dumps"],
    ):
        assert not any("no such file" in line for line in refused([*words, *unasked]))


def test_a_kind_of_file_that_is_not_read_is_told(tmp_path):
    (tmp_path / "p.csv").write_text("a,b\n")
    (line,) = refused([*enough(tmp_path), "--prompt-data", str(tmp_path / "p.csv")])
    assert "files ending in '.csv' are not read; use .jsonl or .parquet" in line


def test_a_source_of_ones_own_names_its_data_as_it_likes(tmp_path):
    words = ["--data-source-path", "collections.UserDict", "--prompt-data", "a/data/set"]
    assert not any("no such file" in line for line in refused([*enough(tmp_path), *words]))


@pytest.mark.parametrize("option", ["--save", "--save-hf", "--run-dir", "--dump-details"])
def test_a_place_that_cannot_be_written_to_is_told_before_there_is_anything_to_write(tmp_path, monkeypatch, option):
    (tmp_path / "file").write_text("")
    (line,) = problems([*enough(tmp_path), option, str(tmp_path / "file/below/{rollout_id}")])
    assert line.startswith(f"{option}: {tmp_path}/file is no folder")
    assert problems([*enough(tmp_path), option, str(tmp_path / "new/{rollout_id}")]) == []
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode == os.F_OK and allowed(path, mode))
    (line,) = problems([*enough(tmp_path), option, str(tmp_path / "new")])
    assert line.startswith(f"{option}: {tmp_path} cannot be written to")


def test_another_runs_checkpoints_are_not_written_over(tmp_path):
    used = tmp_path / "used"
    used.mkdir()
    (used / "latest_checkpointed_iteration.txt").write_text("9")
    (line,) = problems([*enough(tmp_path), "--save", str(used)])
    assert line.startswith(f"--save: {used} holds checkpoints of another run; go on from them with --load {used}, or")
    for load in (used, used / "iter_0000003"):
        load.mkdir(exist_ok=True)
        assert problems([*enough(tmp_path), "--save", str(used), "--load", str(load)]) == []
    assert problems([*enough(tmp_path), "--save", str(tmp_path / "new")]) == []
