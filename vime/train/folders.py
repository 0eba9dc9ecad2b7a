"""The folder of a run's checkpoints, where it writes over some that are there."""

from pathlib import Path

from vime.utils.atomic_file import write_atomic
from vime.utils.checkpoint_names import MARKER, iteration_folder


def go_back_to(save: str, iteration: int, saving: int) -> None:
    """Call before the checkpoint `saving` is written, by a run that went on from `iteration`.

    A checkpoint is several files, and one that another run left is no longer whole while it is written over: the marker
    must not name it then, nor one after it. It names again what this run went on from.
    """
    marker = Path(save) / MARKER
    if not iteration_folder(Path(save), iteration).is_dir() or not marker.is_file():
        return
    text = marker.read_text("utf-8").strip()
    if text.isdecimal() and int(text) >= saving:
        write_atomic(marker, str(iteration).encode())
