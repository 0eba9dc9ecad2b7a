"""Tokenizers, processors and images. transformers and Pillow are imported when something is loaded."""

from __future__ import annotations

import base64
import binascii
import importlib
import io
import json
import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

logger = logging.getLogger(__name__)

# What qwen-vl-utils assumes where a processor does not say.
DEFAULT_PATCH_SIZE = 14
_GENERIC_CLASSES = ("PreTrainedTokenizerFast", "TokenizersBackend")
_PROCESSOR_FILES = (
    *("processor_config.json", "preprocessor_config.json", "video_preprocessor_config.json"),
    "feature_extractor_config.json",
)
_MODALITIES = ("audio_kwargs", "images_kwargs", "videos_kwargs")


def load_tokenizer(name_or_path: str, **kwargs: Any) -> Any:
    """The tokenizer of a Hugging Face checkpoint.

    A folder whose tokenizer.json says it all is loaded without transformers' choice of a class, which imports torch.
    """
    transformers = _need("transformers")
    if _is_generic(Path(name_or_path)):
        own = {name: value for name, value in kwargs.items() if name != "trust_remote_code"}
        return transformers.PreTrainedTokenizerFast.from_pretrained(name_or_path, **own)
    return transformers.AutoTokenizer.from_pretrained(name_or_path, **kwargs)


def load_processor(name_or_path: str, **kwargs: Any) -> Any | None:
    """The multimodal processor of a checkpoint; None where it has none, as for a text model."""
    folder = Path(name_or_path)
    if folder.is_dir() and not any((folder / name).exists() for name in _PROCESSOR_FILES):
        return None
    transformers = _need("transformers")
    try:
        processor = transformers.AutoProcessor.from_pretrained(name_or_path, **kwargs)
    except (OSError, ValueError) as error:
        logger.warning("%s has no processor that loads: %s", name_or_path, error)
        return None
    # For a text model transformers answers with its tokenizer.
    return processor if isinstance(processor, transformers.ProcessorMixin) else None


def _is_generic(folder: Path) -> bool:
    """Whether a tokenizer is of no class of its own."""
    try:
        config = json.loads((folder / "tokenizer_config.json").read_bytes())
    except (OSError, ValueError):
        return False
    generic = config.get("tokenizer_class") in _GENERIC_CLASSES and "auto_map" not in config
    return generic and (folder / "tokenizer.json").exists()


def build_processor_kwargs(multimodal_inputs: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Arguments for a processor call that gives token ids as lists and everything else as torch tensors."""
    result = dict(multimodal_inputs or {})
    as_lists = {"return_tensors": None, "return_mm_token_type_ids": False}
    result["text_kwargs"] = {**result.get("text_kwargs", {}), **as_lists}
    for name in _MODALITIES:
        result[name] = {**result.get(name, {}), "return_tensors": "pt"}
    return result


def process_vision_info(prompt: Iterable[Mapping[str, Any]], processor: Any) -> dict[str, Any]:
    """The images and videos in chat messages, by qwen-vl-utils where it is installed, else images alone."""
    try:
        qwen = importlib.import_module("qwen_vl_utils")
    except ImportError:
        return {"images": _images_in(prompt) or None, "videos": None}
    patch_size = getattr(processor.image_processor, "patch_size", DEFAULT_PATCH_SIZE)
    images, videos = qwen.process_vision_info(prompt, image_patch_size=patch_size)
    return {"images": images, "videos": videos}


def encode_image_for_rollout_engine(image: Image) -> str:
    """A Pillow image as a data URL of a PNG in RGB."""
    png = io.BytesIO()
    (image if image.mode == "RGB" else image.convert("RGB")).save(png, format="PNG")
    return "data:image/png;base64," + base64.b64encode(png.getvalue()).decode("ascii")


def _images_in(messages: Iterable[Mapping[str, Any]]) -> list[Image]:
    contents = (message.get("content") for message in messages)
    parts = (part for content in contents if isinstance(content, list) for part in content)
    return [
        _open_image(part["image"])
        for part in parts
        if isinstance(part, Mapping) and part.get("type") == "image" and part.get("image") is not None
    ]


def _open_image(source: Any) -> Image:
    """From an image, a data URL, base64 or a path."""
    pillow = _need("PIL.Image")
    if not isinstance(source, str):
        return source
    encoded = source.partition(",")[2] if source.startswith("data:") else source
    try:
        return pillow.open(io.BytesIO(base64.b64decode(encoded, validate=True)))
    except (binascii.Error, pillow.UnidentifiedImageError):
        return pillow.open(Path(source))


def _need(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{module} is not installed; it comes with the extra: pip install 'vime[rollout]'") from error
