"""An import without counterpart inside a function and a try: it stays, and is listed."""

from slime.utils.types import Sample


def parser_for(name):
    try:
        from sglang.srt.function_call.function_call_parser import FunctionCallParser
    except ImportError:
        return None
    return FunctionCallParser([], name)


async def generate(args, sample: Sample, sampling_params):
    sample.metadata["parser"] = parser_for("qwen25") is None
    return sample
