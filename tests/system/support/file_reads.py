"""Waits until another process has read a file (inotify), for programs that poll it and print nothing."""

import ctypes
import os
import select
from pathlib import Path

IN_ACCESS = 0x1


class FileReads:
    """Reads of `path` from now on, also after the file has got another name."""

    def __init__(self, path: Path):
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(os.O_CLOEXEC)
        if self.fd < 0 or libc.inotify_add_watch(self.fd, bytes(path), IN_ACCESS) < 0:
            raise OSError(ctypes.get_errno(), "inotify", str(path))

    def __enter__(self) -> "FileReads":
        return self

    def __exit__(self, *_) -> None:
        os.close(self.fd)

    def wait(self, limit_s: float) -> None:
        if not select.select([self.fd], [], [], limit_s)[0]:
            raise TimeoutError("no process has read the file")
