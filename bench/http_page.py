#!/usr/bin/env python3
"""How much CPU does a page cost, compared with nginx?

One wheelyard-registry and one nginx, one thread each, serve the same page, of each size. wrk requests it from each in turn, round
after round, so that noise of the machine affects both; also with the page's ETag, which is answered with 304. Prints requests per
second of the server's own CPU time (medians) and the ratio: other work on the machine disturbs these little.

    bench/http_page.py --registry build/release/bin/wheelyard-registry [--rounds 5] [--seconds 2] [--connections 64 1000] [--kb 1 20 56 200 744]

Needs nginx and wrk on PATH. Nothing listens beyond 127.0.0.1.
"""

import argparse
import itertools
import re
import statistics
import subprocess
import tempfile
import urllib.request

import results
from http_pair import Pair, cpu_seconds, raise_descriptor_limit


def load(url, pid, connections, seconds, fields):
    """Requests per second of CPU."""
    before = cpu_seconds(pid)
    out = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", *(f"-H{field}" for field in fields), url],
                         capture_output=True, text=True, check=True).stdout
    used = cpu_seconds(pid) - before
    if "Non-2xx" in out:
        raise SystemExit(out)
    return int(re.search(r"(\d+) requests in", out)[1]) / used


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--registry", required=True)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--seconds", type=int, default=2)
    arguments.add_argument("--connections", type=int, nargs="+", default=[64, 1000])
    arguments.add_argument("--kb", type=int, nargs="+", default=[1, 20, 56, 200, 744], help="sizes of the pages")
    given = results.parse_arguments(arguments)
    rows = []
    raise_descriptor_limit()
    with tempfile.TemporaryDirectory() as folder, Pair(folder, given.registry) as pair:
        for size in given.kb:
            path = pair.write(f"simple/page-{size}/index.html", 1000 * size).removesuffix("index.html")
            urls = {name: f"http://127.0.0.1:{port}{path}" for name, port in pair.ports.items()}
            tags = {}
            for name, url in urls.items():
                with urllib.request.urlopen(url) as answer:
                    tags[name] = answer.headers["ETag"]
            for connections, is_conditional in itertools.product(given.connections, (False, True)):
                per_cpu = {name: [] for name in urls}
                for _ in range(given.rounds):
                    for name, url in urls.items():
                        fields = [f"If-None-Match: {tags[name]}"] if is_conditional else []
                        per_cpu[name].append(load(url, pair.pids[name], connections, given.seconds, fields))
                what = f"{size} KB page, {connections} connections" + ", unchanged" * is_conditional
                row = results.row(what, "requests / CPU s", "higher", per_cpu["wheelyard"], "nginx", per_cpu["nginx"])
                rows.append(row)
                print(f"{what}: " + "  ".join(f"{name} {statistics.median(times):.0f}" for name, times in per_cpu.items()) +
                      f"  ratio {results.ratio_text(row)}", flush=True)
    results.record(given, "http-page", "A project page", rows)


if __name__ == "__main__":
    main()
