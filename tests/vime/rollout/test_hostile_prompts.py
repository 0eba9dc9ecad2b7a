"""Files of prompts as strangers write them: read where that can be done, else the row is named in one line."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_world import Tokenizer

from vime.utils.data import DataError, Dataset, read_file

ROW = b'{"input": "a", "label": "b"}'
DEEP = b"[" * 100_000


class Refusing(Tokenizer):
    """Its chat template refuses what a user may not say, and fails at what has no content."""

    def apply_chat_template(self, messages, **kwargs):
        if any(one["content"] == "refused" for one in messages):
            raise RuntimeError("roles must alternate\nsecond line")
        return super().apply_chat_template(messages, **kwargs)


def dataset(folder, content, **more):
    file = folder / "p.jsonl"
    file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    given_ = {"prompt_key": "input", "label_key": "label", "tool_key": "tools", "apply_chat_template": False}
    return Dataset(str(file), Refusing(), None, more.pop("max_length", 1000), **(given_ | more))


@pytest.mark.parametrize("content", [
    b"\xef\xbb\xbf" + ROW, ROW + b"\r\n", ROW + b"\r", ROW, b"\n\n" + ROW + b"\n \n",
    b'{"label": "x", "input": "a", "label": "b"}', ROW[:-1] + rb', "x": "\ud83d\ude00"}', ROW[:-1] + rb', "x": "\\ud800"}',
], ids=["byte order mark", "CRLF", "CR", "no end of line", "blank lines", "a key twice", "a pair", "no escape"])  # fmt: skip
def test_what_can_be_read_is_read(tmp_path, content):
    (only,) = dataset(tmp_path, content).samples
    assert (only.prompt, only.label) == ("a", "b")


@pytest.mark.parametrize(("content", "message"), [
    (b"\0" + ROW, ":1: no JSON"),
    (b"PAR1" + bytes(range(128)), ":1: no JSON"),
    ('{"input": "a"}'.encode("utf-16"), ":1: bytes that are no UTF-8"),
    (ROW + b"\n" + DEEP, ":2: nested too deep"),
    (ROW[:-1] + b', "x": ' + DEEP, ":1: nested too deep"),
    (ROW[:-1] + rb', "x": ["\uD800"]}', ":1: half a character"),
    (rb'{"input": "\udfff", "label": ""}', ":1: half a character"),
    (b'{"input": "' + b"x" * 5_000_000, ":1: no JSON"),
    ({"input": "a", "label": 1, "tools": (b"[" * 100_000).decode()}, "row 1: the tools in 'tools' are no list"),
    ({"input": "a", "label": 1, "metadata": "m"}, "row 1: the metadata in 'metadata' is of type str"),
    ({"input": "a", "label": 1, "metadata": [1]}, "row 1: the metadata in 'metadata' is of type list"),
    ({"input": 5, "label": 1}, "row 1: the prompt in 'input' is of type int"),
    ({"input": True, "label": 1}, "row 1: the prompt in 'input' is of type bool"),
    ({"input": {"role": "user"}, "label": 1}, "row 1: the prompt in 'input' is of type dict"),
], ids=str)  # fmt: skip
def test_a_row_that_cannot_be_used_is_named_in_a_line(tmp_path, content, message):
    with pytest.raises(DataError, match=message) as raised:
        dataset(tmp_path, content)
    assert "\n" not in str(raised.value) and len(str(raised.value)) < 600


@pytest.mark.parametrize(("prompt", "message"), [
    ([1], "TypeError"), ([{"content": "x"}], "KeyError: 'role'"), ([None], "TypeError"),
    ([{"role": "user"}], "KeyError: 'content'"),
    ([{"role": "user", "content": "refused"}], "RuntimeError: roles must alternate\\); mend"),
])  # fmt: skip
def test_messages_that_a_template_does_not_take_name_their_row(tmp_path, prompt, message):
    with pytest.raises(DataError, match=f"row 1: .*{message}"):
        dataset(tmp_path, {"input": prompt, "label": 1}, apply_chat_template=True)


def test_images_that_do_not_fit_their_prompt_name_their_row(tmp_path):
    with pytest.raises(DataError, match=r"row 1: .*1 image\(s\) more than there are <image>"):
        dataset(tmp_path, {"input": "x", "label": 1, "i": ["a"]}, multimodal_keys={"image": "i"})


def test_texts_and_messages_may_stand_in_one_file(tmp_path):
    long, message = "x" * 50, [{"role": "user", "content": "m"}]
    lines = [{"input": one, "label": 1} for one in ("a", message, long, "b")]
    data = dataset(tmp_path, "\n".join(map(json.dumps, lines)).encode(), max_length=10)
    assert [sample.prompt for sample in data.samples] == ["a", message, "b"]


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60) | st.text(max_size=30).map(str.encode) | st.builds(lambda a, b: ROW[:a] + b + ROW[a:],
       st.integers(0, len(ROW)), st.binary(max_size=3)), st.booleans())  # fmt: skip
def test_any_bytes_are_prompts_or_a_named_error(tmp_path_factory, content, template):
    try:
        samples = dataset(tmp_path_factory.mktemp("d"), content, apply_chat_template=template).samples
    except DataError as error:
        assert "p.jsonl" in str(error) and error.fix
    else:
        assert all(isinstance(sample.prompt, str | list) for sample in samples)


@pytest.mark.parametrize("part", ["", "@[0:1]", "@[-1:]"])
def test_what_is_no_parquet_says_so(tmp_path, part):
    pytest.importorskip("pyarrow")
    file = tmp_path / "p.parquet"
    for content in (ROW, b"", b"PAR1" + b"\0" * 40 + b"PAR1"):
        file.write_bytes(content)
        with pytest.raises(DataError, match="no Parquet that can be read"):
            list(read_file(f"{file}{part}"))


@pytest.mark.parametrize("part", ["-:", ":-", "--1:", "1"])
def test_a_part_that_is_none_is_taken_for_the_name_of_a_file(tmp_path, part):
    with pytest.raises(DataError, match="there is no such file"):
        read_file(f"{tmp_path / 'p.jsonl'}@[{part}]")
