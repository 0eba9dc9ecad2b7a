"""Rows against facts: a row that rests on nothing is found, and so is a version in which one would."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sync_tools.seam.check import changes, problems, unchecked
from sync_tools.seam.rows import Row, all_rows, asked_names
from sync_tools.seam.snapshot import Snapshot, carried, load, save
from sync_tools.translate.rules import table
from sync_tools.verify import engine


def without(*facts: str) -> Snapshot:
    return replace(carried(), version="0.99", facts={k: v for k, v in carried().facts.items() if k not in facts})


def test_every_row_holds_on_the_carried_snapshot() -> None:
    assert problems(all_rows(), carried()) == [] == unchecked(all_rows(), carried())
    assert set(asked_names(all_rows())) == carried().asked


@pytest.mark.parametrize(
    "name", ["endpoints", "request", "sampling", "headers", "mentions", "imports", "metrics", "arguments", "flags"]
)
def test_every_table_has_rows_that_are_checked(name: str) -> None:
    assert any(row.file.endswith(f"/{name}.toml") for row in all_rows())


def test_no_row_of_the_flags_is_passed_over() -> None:
    told = {row.what for row in all_rows() if row.file.endswith("/flags.toml")}
    for rule in table("flags"):
        if rule.data["action"] in ("rename", "map", "switch", "fixed", "json", "own"):
            assert {f"{old} -> {new}" for old, new in rule.rows().items()} <= told, rule.code


@pytest.mark.parametrize(
    "row",
    [
        Row("rules/endpoints.toml", "SY102", "sabotaged", (("route /reset_prefix_cash",),)),
        Row("rules/sampling.toml", "SY121", "sabotaged", (("sampling max_tokenz",),)),
        Row("rules/flags.toml", "SY302", "sabotaged", (("flag attention-backend = FLASH_ATTN9",),)),
        Row("rules/imports.toml", "SY401", "sabotaged", (("name vllm.nowhere.at_all",),)),
        Row("vllm.toml", "imports.absent", "sabotaged", gone=("flag seed",)),
    ],
    ids=lambda row: row.rule,
)
def test_a_sabotaged_row_is_found_with_its_file_and_a_fix(row: Row) -> None:
    (problem,) = problems((*all_rows(), row), carried())
    assert (problem.file, problem.rule, problem.row) == (row.file, row.rule, "sabotaged") and problem.fix


def test_a_near_name_is_offered() -> None:
    row = Row("f", "SY121", "x", (("sampling max_token",),))
    assert "`sampling max_tokens`" in problems([row], carried())[0].fix


def test_a_choice_that_goes_is_told_with_the_rules_that_write_it() -> None:
    later = without("flag all2all-backend = deepep_low_latency")
    (change,) = changes(carried(), later, all_rows())
    assert (change.how, change.fact) == ("gone", "flag all2all-backend = deepep_low_latency")
    assert "SY308" in {rule for _, rule, _ in change.rows}
    assert {p.rule for p in problems(all_rows(), later)} == {"SY308"}


def test_a_choice_that_comes_is_told_to_those_who_use_the_flag_and_breaks_nothing() -> None:
    earlier = without("flag attention-backend = FLASHINFER_MLA")
    (change,) = changes(earlier, carried(), all_rows())
    assert change.how == "added" and "SY302" in {rule for _, rule, _ in change.rows}
    assert problems(all_rows(), earlier) == []


def test_a_changed_type_is_told() -> None:
    later = replace(carried(), facts=carried().facts | {"sampling max_tokens": "str"})
    (change,) = changes(carried(), later, all_rows())
    assert (change.how, change.before, change.after) == ("changed", "int | None", "str")
    assert {"SY121", "code"} <= {rule for _, rule, _ in change.rows}


def test_an_interpreter_without_the_router_leaves_its_rows_unchecked() -> None:
    alone = replace(carried(), facts={k: v for k, v in carried().facts.items() if not k.startswith("router ")})
    assert problems(all_rows(), alone) == []
    assert {"SY131", "SY132", "SY402"} <= {row.rule for row in unchecked(all_rows(), alone)}
    assert changes(carried(), alone, all_rows()) == []


def test_a_snapshot_survives_its_file(tmp_path: Path) -> None:
    save(carried(), tmp_path / "s.json")
    again = load(tmp_path / "s.json")
    assert (again.facts, again.asked, again.version) == (carried().facts, carried().asked, carried().version)


def test_the_checks_of_ports_read_the_same_snapshot() -> None:
    facts = engine.load()
    assert {"token_ids", "sampling_params", "output_mode"} <= facts.request_fields
    assert "max_tokens" in facts.sampling_fields and "max_new_tokens" not in facts.sampling_fields
    assert {"gpu-memory-utilization", "enable-scale-out", "router-ip"} <= facts.flags


def test_the_seam_sends_no_sampling_parameter_that_the_engine_has_not() -> None:
    from vime.backends.vllm_utils.seam import sampling

    sent = {*sampling._SAME, *sampling._RENAMED.values()}
    assert sent <= carried().of("sampling")


def test_the_command_on_the_carried_snapshot(sync: Callable[..., object]) -> None:
    said = sync("seam", "check", "--json")
    value = json.loads(said.out)
    assert said.code == 0 and value["problems"] == [] and value["rows"] > 150
    assert value["engine"]["version"] == carried().version and "SGLang" in value["not_checked"]


def test_the_command_against_a_version_that_lacks_something(sync: Callable[..., object], tmp_path: Path) -> None:
    later = tmp_path / "later.json"
    save(without("route /pause ?mode", "route /pause", "flag max-num-seqs"), later)
    said = sync("seam", "check", against=later)
    assert said.code == 1
    assert "gone: route /pause ?mode" in said.out and "SY102: /pause_generation -> /pause" in said.out
    value = json.loads(sync("seam", "check", "--json", against=later).out)
    assert {p["rule"] for p in value["against"]["problems"]} >= {"SY102", "SY301"} and not value["problems"]
    assert sync("seam", "check", table=later).code == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"engine": "vllm", "version": "1", "facts": 3, "asked": []}'])
def test_what_is_no_snapshot_is_refused(text: str, sync: Callable[..., object], tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    said = sync("seam", "check", table=tmp_path / "x.json")
    assert said.code == 2 and "snapshot" in said.err


def test_an_interpreter_without_an_engine_is_refused(sync: Callable[..., object], tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')  # without what is installed beside it
    bare.chmod(0o755)
    said = sync("seam", "snapshot", engine=bare, out=tmp_path / "s.json")
    assert said.code == 2 and "vllm" in said.err and not (tmp_path / "s.json").exists()
    assert sync("seam", "check", engine=tmp_path / "python").code == 2
