"""What is raised where a tracker that was asked for cannot be used."""


class TrackingUnavailable(RuntimeError):
    """A tracker's package is missing, or it is not told where to write; the message says what to do."""
