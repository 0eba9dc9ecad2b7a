"""What generating as the framework does cannot do: rules for its own functions, and for such of the user's as ask engines alike."""

from collections.abc import Iterator

from vime.config.problems import Problem
from vime.config.rules.check import Check


def no_images(c: Check) -> Iterator[Problem]:
    """The token route of vLLM takes no images, and they must not be ignored."""
    if c.multimodal_keys:
        yield c.problem(
            "multimodal_keys",
            "requests to the engines carry no images",
            "leave it out, or generate with a function of your own that sends their features",
        )


def as_generate_does(c: Check) -> Iterator[Problem]:
    """Of a rollout function, which leaves generating to another where one is given."""
    if c.custom_generate_function_path is None:
        yield from no_images(c)
