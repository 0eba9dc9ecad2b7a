"""Cut a byte stream into lines of text."""


class LineSplitter:
    """Lines end with LF, CRLF or CR and nothing else; a character cut by two reads arrives whole.

    Work is linear in the bytes fed, also for a line that spans many reads.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._after_cr = False

    def feed(self, data: bytes) -> list[str]:
        """The lines that `data` completes."""
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
            self._after_cr = False
        if not data:
            return []
        self._after_cr = data.endswith(b"\r")
        pieces = data.splitlines(keepends=True)
        rest = b"" if pieces[-1].endswith((b"\n", b"\r")) else pieces.pop()
        lines = []
        for piece in pieces:
            self._parts.append(piece)
            lines.append(self._take())
        if rest:
            self._parts.append(rest)
        return lines

    def close(self) -> list[str]:
        """The last line, where the stream ended without a line end."""
        return [self._take()] if self._parts else []

    def _take(self) -> str:
        line = b"".join(self._parts).rstrip(b"\r\n")
        self._parts.clear()
        return line.decode("utf-8", "replace")
