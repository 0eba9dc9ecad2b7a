"""What a call prints, as far as there is room for it."""


class Output:
    """Two streams, standard output and standard error, that share `room` bytes."""

    def __init__(self, room: int) -> None:
        self._limit = self._room = room
        self._streams = (bytearray(), bytearray())
        self._cut: int | None = None

    def add(self, stream: int, data: bytes) -> bool:
        """Take what fits, and drop the rest and all that follows; True for the first that doesn't fit."""
        if self._cut is not None:
            return False
        self._streams[stream].extend(data[: self._room])
        if len(data) > self._room:
            self._cut = stream
            return True
        self._room -= len(data)
        return False

    def text(self, stream: int) -> str:
        """The stream, with a note where it was cut. What isn't UTF-8 becomes replacement characters."""
        text = self._streams[stream].decode("utf-8", "replace")
        return f"{text}\n[output cut at {self._limit} bytes]" if self._cut == stream else text
