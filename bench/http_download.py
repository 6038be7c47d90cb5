#!/usr/bin/env python3
"""How fast is a large file beside nginx, and at how much CPU?

The same file of --mib from wheelyard-registry and from nginx, in turn, round after round. The client reads into one buffer and
throws it away, so that it costs as little as a client can. Printed: MB/s and the server's CPU seconds per GB, medians, and the ratios.

    bench/http_download.py --registry build/release/bin/wheelyard-registry [--rounds 7] [--mib 1024]

Needs nginx on PATH. Nothing listens beyond 127.0.0.1.
"""

import argparse
import socket
import statistics
import tempfile
import time

import results
from http_pair import Pair, cpu_seconds


def download(port, target, size):
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(f"GET {target} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n".encode())
        buffer = bytearray(1 << 20)
        got = 0
        began = time.monotonic()
        while count := client.recv_into(buffer):
            got += count
        if got < size:
            raise SystemExit(f"{got} bytes of {size}")
        return size / 1e6 / (time.monotonic() - began)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--registry", required=True)
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--mib", type=int, default=1024)
    given = results.parse_arguments(arguments)
    size = given.mib << 20
    with tempfile.TemporaryDirectory() as folder, Pair(folder, given.registry) as pair:
        sha256 = "ab" + "0" * 62
        target = pair.write(f"files/ab/{sha256}/large-1.0-py3-none-any.whl", size)
        speed = {name: [] for name in pair.ports}
        cpu = {name: [] for name in pair.ports}
        for _ in range(given.rounds):
            for name, port in pair.ports.items():
                before = cpu_seconds(pair.pids[name])
                speed[name].append(download(port, target, size))
                cpu[name].append((cpu_seconds(pair.pids[name]) - before) / (size / 1e9))
        for name in pair.ports:
            print(f"{name:10} {statistics.median(speed[name]):7.0f} MB/s  {statistics.median(cpu[name]):6.3f} CPU s/GB")
        rows = [results.row("speed", "MB/s", "higher", speed["wheelyard"], "nginx", speed["nginx"]),
                results.row("CPU", "seconds per GB", "lower", cpu["wheelyard"], "nginx", cpu["nginx"])]
        for row in rows:
            print(f"ratio of {row['measured']:5} {results.ratio_text(row)}")
        results.record(given, "http-download", f"Download of a file of {given.mib} MiB", rows)


if __name__ == "__main__":
    main()
