"""Ports of loopback that are known before their servers listen, and stay theirs while they are down."""

import atexit
import random
import socket

PORTS = range(21_000, 32_000)  # the kernel gives these out to nobody; those below 21,000 have owners in other tests


def free_port() -> int:
    """Of this process until it ends: others that ask here see that the name is taken."""
    while True:
        port, name = random.SystemRandom().choice(PORTS), socket.socket(socket.AF_UNIX)
        with socket.socket() as probe:
            try:
                name.bind(f"\0wheelyard-port-{port}")
                probe.bind(("127.0.0.1", port))
            except OSError:
                name.close()
                continue
        atexit.register(name.close)
        return port
