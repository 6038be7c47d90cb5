#!/usr/bin/env python3
"""What does a quiet client cost, and do pages still come?

Opens --connections keep-alive connections, asks each for one page, and leaves them. Then --trickling more send the head of a
request, a byte at a time, all through the measurement. Printed: memory per idle connection beside nginx, and how long one more
page takes (median and worst of 100): beside the idle ones, and beside both.

    bench/http_idle.py --registry build/release/bin/wheelyard-registry [--connections 10000] [--trickling 1000]

Needs nginx on PATH, and a limit of open files of three times the connections (root gets it by itself). Nothing listens beyond 127.0.0.1.
"""

import argparse
import socket
import statistics
import tempfile
import time

from http_pair import Pair, raise_descriptor_limit, resident_kib

PAGE_BYTES = 2_000
REQUEST = b"GET /bench/simple/page/ HTTP/1.1\r\nHost: bench\r\n\r\n"


def ask(client):
    client.sendall(REQUEST)
    got = b""
    while got.count(b"x") < PAGE_BYTES:
        piece = client.recv(65536)
        if not piece:
            raise SystemExit(f"closed: {got[:200]}")
        got += piece


def time_pages(port, trickle=lambda: None):
    """Milliseconds of 100 pages, each on a connection of its own."""
    waits = []
    for _ in range(100):
        trickle()
        began = time.monotonic()
        with socket.create_connection(("127.0.0.1", port)) as one_more:
            ask(one_more)
        waits.append((time.monotonic() - began) * 1000)
    return f"one more page in {statistics.median(waits):.1f} ms (worst {max(waits):.1f})"


class Trickling:
    """Clients that send a byte of a request's head whenever they are asked to; the server may end them."""

    def __init__(self, port, number):
        self.clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(number)]
        self.bytes = iter(b"GET /bench/simple/page/ HTTP/1.1\r\nX-Long: " + b"x" * 100_000)

    def __call__(self):
        byte = bytes([next(self.bytes)])
        for client in self.clients:
            try:
                client.send(byte)
            except OSError:
                pass

    def alive(self):
        return sum(is_open(client) for client in self.clients)


def is_open(client):
    try:
        return client.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def measure(name, port, pid, given):
    with socket.create_connection(("127.0.0.1", port)) as first:
        ask(first)
    before = resident_kib(pid)
    clients = []
    for _ in range(given.connections):
        client = socket.create_connection(("127.0.0.1", port))
        ask(client)
        clients.append(client)
    per_connection = (resident_kib(pid) - before) / given.connections
    print(f"{name:10} {len(clients)} idle: {per_connection:.1f} KiB each; {time_pages(port)}", flush=True)
    trickling = Trickling(port, given.trickling)
    spoken = time_pages(port, trickling)
    print(f"{name:10} and {given.trickling} trickling, {trickling.alive()} of them to the end: {spoken}; "
          f"{sum(map(is_open, clients))} idle ones are still there", flush=True)
    for client in clients + trickling.clients:
        client.close()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--registry", required=True)
    arguments.add_argument("--connections", type=int, default=10_000)
    arguments.add_argument("--trickling", type=int, default=1_000)
    given = arguments.parse_args()
    raise_descriptor_limit()
    with tempfile.TemporaryDirectory() as folder, Pair(folder, given.registry) as pair:
        pair.write("simple/page/index.html", PAGE_BYTES)
        for name, port in pair.ports.items():
            measure(name, port, pair.pids[name], given)


if __name__ == "__main__":
    main()
