"""What a call prints, as far as there is room for it."""


class Output:
    """Two streams, standard output and standard error, of `room` bytes each."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._streams = (bytearray(), bytearray())
        self._cut: set[int] = set()

    def add(self, stream: int, data: bytes) -> bool:
        """Take what fits, and drop the rest and all that follows; True once, where something doesn't fit."""
        if stream in self._cut:
            return False
        kept = self._streams[stream]
        kept.extend(data[: self._room - len(kept) + 1])
        if len(kept) > self._room:
            del kept[self._room :]
            self._cut.add(stream)
            return True
        return False

    def text(self, stream: int) -> str:
        """The stream, with a note where it was cut. What isn't UTF-8 becomes replacement characters."""
        text = self._streams[stream].decode("utf-8", "replace")
        return f"{text}\n[output cut at {self._room} bytes]" if stream in self._cut else text
