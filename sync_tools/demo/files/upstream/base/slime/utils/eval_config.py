from dataclasses import dataclass, field
from typing import Any


@dataclass
class EvalDatasetConfig:
    """One dataset to evaluate on; what is left None is taken from the rollout's own options."""

    name: str
    path: str
    temperature: float | None = None
    top_p: float | None = None
    max_response_len: int | None = None
    n_samples_per_eval_prompt: int = 1
    metadata: dict[str, Any] = field(default_factory=dict)

    def sampling_params(self, base: dict[str, Any]) -> dict[str, Any]:
        ours = {"temperature": self.temperature, "top_p": self.top_p, "max_new_tokens": self.max_response_len}
        return {**base, **{key: value for key, value in ours.items() if value is not None}}
