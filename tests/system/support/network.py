"""A network of the test's own: each party in a namespace with an address, all on one bridge; any two can be cut off from each other.

    enter_network()                  # first of all: starts this program again where it may make namespaces
    with Network("a", "b", "database") as network:
        Popen([*network.wrapper("a"), …])
        network.cut("a", "database")

A cut is silent, as of a cable: packets go to an Ethernet address that nobody has. The test reaches all parties, always.
"""

from __future__ import annotations  # for Python 3.9

import os
import subprocess
import sys

from support.daemons import which

HUB = "10.77.0.1"  # the test itself
NOBODY = "02:00:00:00:00:fe"
INSIDE = "WHEELYARD_NETWORK"
UNSHARED = ("unshare", "--net", "--mount", "--propagation", "private")


def why_none() -> str:
    """Why no namespaces can be made here; empty: they can."""
    if os.geteuid() != 0:
        return "network namespaces with names need root"
    if not which("ip"):
        return "ip is not installed (package iproute2)"
    tried = subprocess.run([*UNSHARED, which("ip"), "link", "add", "wy0", "type", "veth", "peer", "name", "wy1"], capture_output=True, text=True)
    return "" if tried.returncode == 0 else f"no network namespaces here: {tried.stderr.strip()}"


def enter_network() -> None:
    if os.environ.get(INSIDE) or why_none():
        return
    os.environ[INSIDE] = "1"
    os.execvp("unshare", [*UNSHARED, "/bin/sh", "-c", 'mkdir -p /run/netns && mount -t tmpfs names /run/netns && "$1" link set lo up && shift && exec "$@"',
                          "sh", which("ip"), sys.executable, "-B", *sys.argv])


class Network:
    def __init__(self, *parties: str):
        self.hosts = {party: f"10.77.0.{number}" for number, party in enumerate(parties, 11)}
        self.cuts: set[tuple[str, str]] = set()

    def __enter__(self) -> "Network":
        _ip("link add hub type bridge")
        _ip(f"addr add {HUB}/24 dev hub")
        _ip("link set hub up")
        for party, host in self.hosts.items():
            _ip(f"netns add {party}")
            _ip(f"link add {party}-out type veth peer name eth0 netns {party}")
            _ip(f"link set {party}-out master hub up")
            for words in ("link set lo up", f"addr add {host}/24 dev eth0", "link set eth0 up"):
                _ip(f"-n {party} {words}")
        return self

    def __exit__(self, *_) -> None:
        for party in self.hosts:
            _ip(f"netns del {party}")
        _ip("link del hub")

    def wrapper(self, party: str) -> tuple[str, ...]:
        """A command that becomes the one after it."""
        return ("nsenter", f"--net=/run/netns/{party}", "--")

    def cut(self, one: str, other: str) -> None:
        self.cuts.add((one, other))
        for here, there in ((one, other), (other, one)):
            _ip(f"-n {here} neigh replace {self.hosts[there]} lladdr {NOBODY} nud permanent dev eth0")

    def heal(self) -> None:
        for one, other in self.cuts:
            for here, there in ((one, other), (other, one)):
                _ip(f"-n {here} neigh del {self.hosts[there]} dev eth0")
        self.cuts.clear()


def _ip(words: str) -> None:
    done = subprocess.run([which("ip"), *words.split()], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"ip {words}: {done.stderr}")
