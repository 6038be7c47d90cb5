#!/usr/bin/env python3
"""How much CPU does a project page cost beside nginx?

One wheelyard-registry and one nginx, one thread each, serve the same 20 KB page; wrk asks each in turn, round after round, so that
noise of the machine hits both. Printed: requests per second of the server's own CPU time (medians) and the ratio. Requests per
wall-clock second are printed too, but wrk shares the machine, so they say less.

    bench/http_page.py --registry build/release/bin/wheelyard-registry [--rounds 7] [--seconds 3] [--connections 64 1000]

Needs nginx and wrk on PATH. Nothing listens beyond 127.0.0.1.
"""

import argparse
import re
import statistics
import subprocess
import tempfile

import results
from http_pair import INDEX, Pair, cpu_seconds, raise_descriptor_limit

PAGE_BYTES = 20_000


def load(url, pid, connections, seconds):
    before = cpu_seconds(pid)
    out = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", url], capture_output=True, text=True, check=True).stdout
    used = cpu_seconds(pid) - before
    requests, wall = re.search(r"(\d+) requests in ([\d.]+)s", out).groups()
    if "Non-2xx" in out:
        raise SystemExit(out)
    return int(requests) / used, int(requests) / float(wall)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--registry", required=True)
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--seconds", type=int, default=3)
    arguments.add_argument("--connections", type=int, nargs="+", default=[64, 1000])
    given = results.parse_arguments(arguments)
    rows = []
    raise_descriptor_limit()
    with tempfile.TemporaryDirectory() as folder, Pair(folder, given.registry) as pair:
        pair.write("simple/page/index.html", PAGE_BYTES)
        for connections in given.connections:
            per_cpu = {name: [] for name in pair.ports}
            per_wall = {name: [] for name in pair.ports}
            for _ in range(given.rounds):
                for name, port in pair.ports.items():
                    url = f"http://127.0.0.1:{port}/{INDEX}/simple/page/"
                    cpu, wall = load(url, pair.pids[name], connections, given.seconds)
                    per_cpu[name].append(cpu)
                    per_wall[name].append(wall)
            row = results.row(f"20 KB page, {connections} connections", "requests / CPU s", "higher", per_cpu["wheelyard"],
                              "nginx", per_cpu["nginx"])
            rows.append(row)
            for name in pair.ports:
                print(f"{connections:5} connections  {name:10} {statistics.median(per_cpu[name]):9.0f} requests per CPU second"
                      f"  {statistics.median(per_wall[name]):9.0f} per second")
            print(f"{connections:5} connections  ratio {results.ratio_text(row)}")
    results.record(given, "http-page", "A project page", rows)


if __name__ == "__main__":
    main()
