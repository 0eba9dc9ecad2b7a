"""How much memory a CPU engine's KV cache gets.

Left to itself, vLLM takes 92 % of the memory that the machine has, or does not start where less is free; a second engine
finds nothing. Here it gets what its requests can fill.
"""

from vime.config.args import Args

_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
_LEAST, _MOST = 256 * 1024**2, 4 * 1024**3
_VLLM_SEQUENCES = 256
"""Requests that vLLM runs at once where it is not told."""


def kv_cache_bytes(args: Args) -> int:
    """Bytes for every request at its longest, twice over for prefixes to stay; within 256 MiB and 4 GiB."""
    layers, heads, width = (getattr(args, name, None) for name in ("num_layers", "num_query_groups", "kv_channels"))
    if not (layers and heads and width):
        return _MOST
    per_token = 2 * layers * heads * width * _BYTES[args.dtype]
    longest = getattr(args, "vllm_max_model_len", None) or args.max_position_embeddings or 0
    at_once = min(getattr(args, "vllm_max_num_seqs", None) or _VLLM_SEQUENCES, args.vllm_server_concurrency)
    return max(_LEAST, min(_MOST, 2 * per_token * longest * at_once))
