"""The parts of an answer, by the keys that upstream reads them under."""

from sync_tools.translate.python.lattice import UNKNOWN, Value, Wire, value

PARTS = {
    ("answer", "meta_info"): "meta",
    ("meta", "output_token_logprobs"): "pairs",
    ("meta", "input_token_logprobs"): "prompt_pairs",
}

ANSWER_KEYS = ("meta_info", "text", "output_ids")


def part(of: Wire, key: str) -> Value:
    """What stands under the key."""
    name = PARTS.get((of.kind, key))
    return UNKNOWN if name is None else value(Wire(name, of.sink))


def element(of: Wire) -> Value:
    """What a subscript that is no key gives."""
    if of.kind in ("pairs", "prompt_pairs"):
        return value(Wire(of.kind[:-1], of.sink))
    return value(of) if of.kind in ("line", "body") else UNKNOWN
