"""Prompts from files: parts, malformed lines, templates, lengths, order."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_world import Tokenizer

from vime.utils.data import DataError, Dataset, _parse_generalized_path, filter_long_prompt, read_file
from vime.utils.types import Sample

BOUNDS = st.none() | st.integers(-12, 12)


def write(path, *lines):
    path.write_bytes(b"".join(line if isinstance(line, bytes) else line.encode() + b"\n" for line in lines))
    return str(path)


@settings(max_examples=60, deadline=None)
@given(BOUNDS, BOUNDS)
def test_a_part_of_a_file_is_what_python_makes_of_the_slice(tmp_path_factory, start, stop):
    path = tmp_path_factory.mktemp("d") / "p.jsonl"
    path.write_text("\n\n".join(json.dumps({"n": n}) for n in range(7)))
    bounds = ":".join("" if bound is None else str(bound) for bound in (start, stop))
    assert [row["n"] for row in read_file(f"{path}@[{bounds}]")] == list(range(7))[start:stop]


def test_paths_with_parts():
    assert _parse_generalized_path("a/b.jsonl") == ("a/b.jsonl", None)
    assert _parse_generalized_path("a@[1:2]b.jsonl@[-3:]") == ("a@[1:2]b.jsonl", slice(-3, None))


def test_a_file_is_read_as_it_is_needed(tmp_path):
    rows = read_file(write(tmp_path / "p.jsonl", '{"n": 1}', "broken"))
    assert next(rows) == {"n": 1}
    with pytest.raises(DataError):
        next(rows)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"n": 1', r"p.jsonl:2: no JSON: .*; mend or delete the line, which begins '\{\"n\": 1'"),
        ("[1, 2]", r"p.jsonl:2: a list where an object is needed"),
        (b'{"n": "\xff"}\n', r"p.jsonl:2: bytes that are no UTF-8; write the file in UTF-8"),
    ],
)
def test_a_malformed_line_is_named(tmp_path, line, message):
    with pytest.raises(DataError, match=message):
        list(read_file(write(tmp_path / "p.jsonl", '{"n": 0}', line, '{"n": 2}')))


def test_files_that_are_not_there_or_of_another_kind(tmp_path):
    with pytest.raises(DataError, match=r"there is no such file; .*--prompt-data"):
        read_file(str(tmp_path / "none.jsonl"))
    with pytest.raises(DataError, match=r"use \.jsonl or \.parquet"):
        read_file(write(tmp_path / "p.csv", "a,b"))


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"n": list(range(5))}), tmp_path / "p.parquet")
    assert [row["n"] for row in read_file(f"{tmp_path / 'p.parquet'}@[-2:]")] == [3, 4]


class Template(Tokenizer):
    rendered = 0

    def apply_chat_template(self, messages, **kwargs):
        self.rendered += 1
        return super().apply_chat_template(messages, **kwargs)


def dataset(path, **more):
    given = {"prompt_key": "input", "label_key": "label", "tool_key": "tools", "apply_chat_template": True}
    tokenizer = Template()
    return Dataset(path, tokenizer, None, more.pop("max_length", None), **(given | more)), tokenizer


def test_prompts_are_rendered_once_and_tools_belong_to_them(tmp_path):
    lines = [{"input": "a", "label": "b", "tools": '[{"name": "t"}]'}, {"input": [{"role": "user", "content": "c"}], "label": 1}]  # fmt: skip
    data, tokenizer = dataset(write(tmp_path / "p.jsonl", *map(json.dumps, lines)))
    data.shuffle(0), data.shuffle(1)
    assert tokenizer.rendered == 2
    assert sorted(sample.prompt for sample in data.samples) == ["<user>a<assistant>", "<user>c<assistant>"]
    assert data.origin_samples[0].metadata == {"tools": [{"name": "t"}]}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"label": "b"}, "row 1: no field 'input'; it has label: name one with --input-key"),
        ({"input": "a"}, "no field 'label'.*--label-key"),
        ({"input": "a", "label": "b", "tools": "nonsense"}, "the tools in 'tools' are no list"),
    ],
)
def test_a_row_that_lacks_a_field_is_named(tmp_path, row, message):
    with pytest.raises(DataError, match=message):
        dataset(write(tmp_path / "p.jsonl", json.dumps(row)))


def test_long_prompts_are_left_out_in_their_order(tmp_path):
    rows = [json.dumps({"input": "x" * length, "label": str(length)}) for length in (3, 9, 2, 5)]
    data, _ = dataset(write(tmp_path / "p.jsonl", *rows), apply_chat_template=False, max_length=5)
    assert [sample.label for sample in data.samples] == ["3", "2", "5"]
    messages = [Sample(prompt=[{"role": "user", "content": "x" * 99}])]
    assert filter_long_prompt(messages, Tokenizer(), None, 5) == messages
    assert filter_long_prompt([], Tokenizer(), None, 5) == []


def test_an_epochs_order_depends_on_seed_and_epoch_alone(tmp_path):
    path = write(tmp_path / "p.jsonl", *[json.dumps({"input": f"{n}", "label": f"{n}"}) for n in range(20)])

    def order(epochs, seed=1):
        data, _ = dataset(path, seed=seed)
        for epoch in epochs:
            data.shuffle(epoch)
        return [sample.label for sample in data.samples]

    assert order([0, 1, 2]) == order([2]) == order([2, 2])
    assert order([0]) != order([1]) != order([1], seed=2)
    assert sorted(order([5])) == sorted(order([]))
