"""Objects that hold asyncio primitives, one for each event loop."""

import asyncio
from typing import Any


class PerLoopMeta(type):
    """Calling the class with the same `args` object in the same event loop gives the same instance.

    Two loops never share one, since a semaphore or a task belongs to the loop in which it was first used. Outside of any
    loop there is one instance more. Instances of a loop that was closed are forgotten at the next call.
    """

    def __init__(cls, *definition: Any) -> None:
        super().__init__(*definition)
        cls._instances: dict[asyncio.AbstractEventLoop | None, list[Any]] = {}

    def __call__(cls, args: Any) -> Any:
        for loop in [loop for loop in cls._instances if loop is not None and loop.is_closed()]:
            del cls._instances[loop]
        here = cls._instances.setdefault(_running_loop(), [])
        for instance in here:
            if instance.args is args:
                return instance
        here.append(super().__call__(args))
        return here[-1]

    def clear_instances(cls) -> None:
        """Forget them all, for tests."""
        cls._instances.clear()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
