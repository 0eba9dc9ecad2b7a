import base64
import io

from transformers import AutoProcessor, AutoTokenizer


def load_tokenizer(name_or_path: str, **kwargs):
    return AutoTokenizer.from_pretrained(name_or_path, **kwargs)


def load_processor(name_or_path: str, **kwargs):
    """The model's image processor, or None for a model that reads text alone."""
    try:
        return AutoProcessor.from_pretrained(name_or_path, **kwargs)
    except (OSError, ValueError):
        return None


def encode_image_for_rollout_engine(image) -> str:
    """A PIL image as the data URL of a PNG."""
    png = io.BytesIO()
    image.convert("RGB").save(png, format="PNG")
    return "data:image/png;base64," + base64.b64encode(png.getvalue()).decode("ascii")
