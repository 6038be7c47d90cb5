#!/usr/bin/env python3
"""What does a quiet client cost, and do pages still come?

Opens --connections keep-alive connections, asks each for one page, and leaves them (the registry takes half as many as it may open
files). Printed: memory per connection beside nginx, and how long one more page takes then (median of 100).

    bench/http_idle.py --registry build/release/bin/wheelyard-registry [--connections 10000]

Needs nginx on PATH, and a limit of open files above the number of connections. Nothing listens beyond 127.0.0.1.
"""

import argparse
import resource
import socket
import statistics
import tempfile
import time

from http_pair import Pair, resident_kib

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


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--registry", required=True)
    arguments.add_argument("--connections", type=int, default=10_000)
    given = arguments.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory() as folder, Pair(folder, given.registry) as pair:
        pair.write("simple/page/index.html", PAGE_BYTES)
        for name, port in pair.ports.items():
            with socket.create_connection(("127.0.0.1", port)) as first:
                ask(first)
            before = resident_kib(pair.pids[name])
            clients = []
            for _ in range(given.connections):
                client = socket.create_connection(("127.0.0.1", port))
                ask(client)
                clients.append(client)
            per_connection = (resident_kib(pair.pids[name]) - before) / given.connections
            waits = []
            for _ in range(100):
                began = time.monotonic()
                with socket.create_connection(("127.0.0.1", port)) as one_more:
                    ask(one_more)
                waits.append((time.monotonic() - began) * 1000)
            print(f"{name:10} {len(clients)} idle: {per_connection:.1f} KiB each; one more page in {statistics.median(waits):.1f} ms")
            for client in clients:
                client.close()


if __name__ == "__main__":
    main()
