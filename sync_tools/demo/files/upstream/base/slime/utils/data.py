import json
import random
from pathlib import Path

from slime.utils.types import Sample


class Dataset:
    """Prompts from a JSON lines file, shuffled anew for each epoch by the seed and the epoch's number."""

    def __init__(self, path, tokenizer, *, prompt_key, label_key=None, apply_chat_template=False, seed=42):
        rows = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines() if line.strip()]
        self.origin = [self._sample(row, tokenizer, prompt_key, label_key, apply_chat_template) for row in rows]
        self.samples = list(self.origin)
        self.seed = seed

    @staticmethod
    def _sample(row, tokenizer, prompt_key, label_key, apply_chat_template) -> Sample:
        prompt = row[prompt_key]
        if apply_chat_template:
            messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
            prompt = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        return Sample(prompt=prompt, label=row.get(label_key), metadata=row.get("metadata") or {})

    def shuffle(self, epoch_id: int) -> None:
        order = list(range(len(self.origin)))
        random.Random(f"{self.seed}-{epoch_id}").shuffle(order)
        self.samples = [self.origin[i] for i in order]

    def __len__(self) -> int:
        return len(self.samples)
