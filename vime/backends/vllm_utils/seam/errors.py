"""What the seam refuses, in one place: a request that vLLM would reject or silently ignore, and an error in a stream."""


class UnsupportedRequest(ValueError):
    """A field of the request has no counterpart in vLLM. `field` names it."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field = field


class StreamError(RuntimeError):
    """The engine reported an error inside a stream that it had opened with status 200."""
