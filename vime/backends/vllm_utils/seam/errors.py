"""What the seam refuses: a request that vLLM would reject or silently ignore, an answer that lacks what it must have."""

from vime.errors import travels


@travels
class UnsupportedRequest(ValueError):
    """A field of the request has no counterpart in vLLM. `field` names it."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field = field


class IncompleteAnswer(RuntimeError):
    """The engine left out what was asked for; it needs an option that its server was started without."""


class StreamError(RuntimeError):
    """The engine reported an error inside a stream that it had opened with status 200."""
