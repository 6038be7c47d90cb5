"""What programs print on a terminal."""

import contextlib
import os


def read_all(reader: int) -> bytes:
    """Until nobody has the other end open; one read may bring a part of it."""
    shown = b""
    with contextlib.suppress(OSError):  # the other end is closed, and nothing is left
        while piece := os.read(reader, 1 << 16):
            shown += piece
    return shown
