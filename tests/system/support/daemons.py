"""Other people's daemons that run as long as a test does: each with its log, ended in turn, and by the kernel when the test itself is killed."""

import os
import shutil
import subprocess
from pathlib import Path

STOP_TIMEOUT_S = 60


def which(name: str) -> str | None:
    """Also where only root's PATH would find it."""
    return shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")


class Daemons:
    def __init__(self):
        self.running: dict[str, subprocess.Popen] = {}  # in the order of their starts

    def __contains__(self, name: str) -> bool:
        return name in self.running

    def start(self, name: str, argv: list[str], log: Path, environment: dict[str, str], wrapper: tuple[str, ...] = ()) -> None:
        """`wrapper`: a command that becomes the one after it."""
        with open(log, "ab") as words:
            self.running[name] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", *wrapper, which(argv[0]), *argv[1:]], stdin=subprocess.DEVNULL, stdout=words,
                stderr=words, env=os.environ | environment)

    def stop(self, name: str) -> None:
        process = self.running.pop(name, None)
        if process is None:
            return
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def stop_all(self) -> None:
        """The last started first."""
        for name in reversed(list(self.running)):
            self.stop(name)
