"""The seam: every request to a vLLM engine is built here, every answer is read here. It sends nothing.

Rollout code writes requests and reads answers in the shape that upstream's code has; these functions turn them into
vLLM 0.32's and back. Needs nothing but the standard library, and can be copied into any tree as it stands.
"""

from .accumulate import Delta
from .answer import Answer, read_answer
from .control import (
    GPU_MEMORY_TYPE_CUDA_GRAPH,
    GPU_MEMORY_TYPE_KV_CACHE,
    GPU_MEMORY_TYPE_WEIGHTS,
    abort_body,
    control_call,
    pause_query,
    read_load,
    wake_up_query,
)
from .errors import IncompleteAnswer, StreamError, UnsupportedRequest
from .request import GenerateRequest, generate_request
from .sampling import sampling_params
from .send import to_vllm
from .stream import AnswerStream

__all__ = [
    "GPU_MEMORY_TYPE_CUDA_GRAPH",
    "GPU_MEMORY_TYPE_KV_CACHE",
    "GPU_MEMORY_TYPE_WEIGHTS",
    "Answer",
    "AnswerStream",
    "Delta",
    "GenerateRequest",
    "IncompleteAnswer",
    "StreamError",
    "UnsupportedRequest",
    "abort_body",
    "control_call",
    "generate_request",
    "pause_query",
    "read_answer",
    "read_load",
    "sampling_params",
    "to_vllm",
    "wake_up_query",
]
