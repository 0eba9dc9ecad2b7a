"""A function that sends, as one that speaks to a vLLM engine."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from .answer import read_answer
from .request import generate_request, is_request

ENDPOINT = "/inference/v1/generate"
_BODIES = ("payload", "json", "body", "data")


def to_vllm(send: Callable[..., Any], tokenizer: Any = None) -> Callable[..., Any]:
    """`send`, with upstream-shaped requests built for vLLM on the way out and its answers read on the way back.

    `send` is called with the arguments that it is given, synchronous or not; nothing is sent by the seam itself. A call
    that carries no generate request passes through untouched.
    """

    @wraps(send)
    def sending(*args: Any, **kwargs: Any) -> Any:
        place = _place_of_body(args, kwargs)
        if place is None:
            return send(*args, **kwargs)
        request = generate_request(args[place] if isinstance(place, int) else kwargs[place], tokenizer)
        if isinstance(place, int):
            args = (*args[:place], request, *args[place + 1 :])
        else:
            kwargs = {**kwargs, place: request}
        answer = send(*args, **kwargs)
        return _read_later(answer, request) if inspect.isawaitable(answer) else read_answer(answer, request)

    return sending


async def _read_later(answer: Any, request: Mapping[str, Any]) -> Any:
    return read_answer(await answer, request)


def _place_of_body(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> int | str | None:
    """Where the generate request stands among the arguments; None when there is none."""
    bodies = [(i, value) for i, value in enumerate(args) if isinstance(value, Mapping)]
    bodies += [(name, kwargs[name]) for name in _BODIES if isinstance(kwargs.get(name), Mapping)]
    to_engine = any(
        isinstance(value, str) and value.split("?")[0].endswith(ENDPOINT) for value in (*args, *kwargs.values())
    )
    for place, body in bodies:
        if to_engine or is_request(body):
            return place
    return None
