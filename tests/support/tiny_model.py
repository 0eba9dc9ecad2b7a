"""A random model so small that a server of it starts as fast as vLLM's imports allow."""

import json
from pathlib import Path

from engine_world import QWEN3


def write_tiny_model(folder: Path, tie: bool = False, seed: int = 0) -> Path:
    """A Hugging Face folder with configuration, weights and a tokenizer of single characters."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(seed)
    shape = {name: value for name, value in QWEN3.items() if name not in ("architectures", "model_type")}
    config = Qwen3Config(**{**shape, "tie_word_embeddings": tie}, bos_token_id=None, eos_token_id=1, pad_token_id=0)
    Qwen3ForCausalLM(config).to(torch.float32).save_pretrained(folder)
    words = ["<pad>", "<eos>", "<unk>", *(f"<{i}>" for i in range(3, 32)), *map(chr, range(32, 127)), "<127>"]
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.decoder = decoders.Fuse()
    special = {"eos_token": "<eos>", "pad_token": "<pad>", "unk_token": "<unk>"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(folder)
    written = json.loads((folder / "config.json").read_text())
    assert written["model_type"] == "qwen3"
    return folder
