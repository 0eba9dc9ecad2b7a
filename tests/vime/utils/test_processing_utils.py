"""Processors and images; what is missing is named with the extra that brings it."""

import base64
import io
import sys
from types import SimpleNamespace

import pytest

from vime.utils import processing_utils
from vime.utils.processing_utils import (
    build_processor_kwargs,
    encode_image_for_rollout_engine,
    load_processor,
    load_tokenizer,
    process_vision_info,
)


@pytest.mark.parametrize("load", [load_tokenizer, load_processor])
def test_without_transformers_the_extra_is_named(monkeypatch, load):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ImportError, match=r"vime\[rollout\]"):
        load("tiny")


class Mixin:
    pass


@pytest.mark.parametrize(
    ("answer", "kept"),
    [(Mixin(), True), (object(), False), (OSError("no file"), False), (ValueError("no type"), False)],
)
def test_only_a_processor_is_one(monkeypatch, answer, kept):
    def from_pretrained(name, **kwargs):
        assert (name, kwargs) == ("tiny", {"trust_remote_code": True})
        if isinstance(answer, Exception):
            raise answer
        return answer

    fake = SimpleNamespace(AutoProcessor=SimpleNamespace(from_pretrained=from_pretrained), ProcessorMixin=Mixin)
    monkeypatch.setitem(sys.modules, "transformers", fake)
    assert load_processor("tiny", trust_remote_code=True) is (answer if kept else None)


def test_processor_arguments():
    given = {"images": ["i"], "text_kwargs": {"padding": True}, "images_kwargs": {"do_resize": False}}
    made = build_processor_kwargs(given)
    assert made["images"] == ["i"]
    assert made["text_kwargs"] == {"padding": True, "return_tensors": None, "return_mm_token_type_ids": False}
    assert made["images_kwargs"] == {"do_resize": False, "return_tensors": "pt"}
    assert made["audio_kwargs"] == made["videos_kwargs"] == {"return_tensors": "pt"}
    assert given["text_kwargs"] == {"padding": True}
    assert "images" not in build_processor_kwargs()


def test_images_go_to_the_engine_as_data_urls_and_come_out_of_messages(monkeypatch, tmp_path):
    image_module = pytest.importorskip("PIL.Image")
    monkeypatch.setitem(sys.modules, "qwen_vl_utils", None)
    red = image_module.new("RGBA", (2, 3), (255, 0, 0, 10))
    url = encode_image_for_rollout_engine(red)
    decoded = image_module.open(io.BytesIO(base64.b64decode(url.removeprefix("data:image/png;base64,"))))
    assert (decoded.mode, decoded.size, decoded.getpixel((0, 0))) == ("RGB", (2, 3), (255, 0, 0))
    path = tmp_path / "red.png"
    red.save(path)
    parts = [{"type": "image", "image": source} for source in (red, url, url.partition(",")[2], str(path), None)]
    found = process_vision_info([{"content": [{"type": "text", "text": "?"}, *parts]}, {"content": "plain"}], None)
    assert [image.size for image in found["images"]] == [(2, 3)] * 4
    assert process_vision_info([{"content": "plain"}], None) == {"images": None, "videos": None}


def test_a_library_that_is_there_is_used(monkeypatch):
    fake = SimpleNamespace(process_vision_info=lambda prompt, image_patch_size: ([image_patch_size], None))
    monkeypatch.setitem(sys.modules, "qwen_vl_utils", fake)
    processor = SimpleNamespace(image_processor=SimpleNamespace(patch_size=16))
    assert process_vision_info([], processor)["images"] == [16]
    processor = SimpleNamespace(image_processor=SimpleNamespace())
    assert process_vision_info([], processor)["images"] == [processing_utils.DEFAULT_PATCH_SIZE]
