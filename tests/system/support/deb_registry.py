"""A registry that was installed from its Debian package, as a newcomer sets it up, in a booted root."""

import time
import urllib.error
import urllib.request
from pathlib import Path

from support.booted_root import BootedRoot
from support.farm import START_TIMEOUT_S
from support.packages import made

UNIT = "wheelyard-registry.service"
PORT = 8080
URL = f"http://127.0.0.1:{PORT}"
# What the page on installing says, typed as root.
SET_UP = """wheelyard-registry init /etc/wheelyard
systemctl enable --now wheelyard-registry"""
TOKEN = "cd /root; wheelyard-registry token create --name me --index main --to me.token >&2; cat me.token"


def package(name: str) -> Path | None:
    return made(f"{name}_*.deb")


def install(node: BootedRoot, *packages: Path) -> None:
    node.say("dpkg", "--install", *map(node.give, packages))


def fetched(path: str) -> bytes | None:
    """None: nothing listens."""
    try:
        with urllib.request.urlopen(URL + path) as answer:
            return answer.read()
    except urllib.error.URLError as error:
        if isinstance(error.reason, ConnectionRefusedError):
            return None
        raise


def is_ready() -> bool:
    try:
        return fetched("/readyz") is not None
    except OSError:  # it stops, or starts: 503, or a connection that ends
        return False


def wait_until_ready(node: BootedRoot) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while not is_ready():
        if time.monotonic() > deadline:
            raise AssertionError(node.run("journalctl", "--no-pager", "--unit", UNIT).stdout)
        time.sleep(0.1)  # until an outside process has done something: nothing announces it


def set_up(node: BootedRoot) -> str:
    """The token that may upload to the index main."""
    node.shell(SET_UP)
    wait_until_ready(node)
    return node.shell(TOKEN)
