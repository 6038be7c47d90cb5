#!/usr/bin/env python3
"""How much CPU does a project page cost a node over PostgreSQL and S3, compared with the embedded default?

Two wheelyard-registry with one I/O thread each: one keeps its catalog and wheels in its folder, the other is a node (it checks
its lease at each request) over a PostgreSQL and an S3 store (Swift). The same wheels are uploaded to both, then wrk asks each in
turn for the page of their project, round after round. Prints requests per second of the server's own CPU time, and the ratio.

    WHEELYARD_BIN=build/release/bin bench/stores_page.py [--rounds 7] [--seconds 3] [--connections 64]

Needs wrk, PostgreSQL's server, Swift (scripts/install-deps). Nothing listens beyond 127.0.0.1.
"""

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "system"))
from support.clients import RawUpload  # noqa: E402
from support.farm import INDEX, Farm  # noqa: E402
from support.node_farm import Nodes  # noqa: E402
from support.s3_store import S3Store  # noqa: E402
from support.wheels import Wheel  # noqa: E402

import results  # noqa: E402
from http_pair import cpu_seconds, raise_descriptor_limit  # noqa: E402

ONE_THREAD = "io_threads = 1"
LEASE_S = 6
FILES = 60  # a page of some 20 KB


def load(farm, connections, seconds):
    before = cpu_seconds(farm.process.pid)
    url = f"{farm.url}/{INDEX}/simple/page/"
    out = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", url], capture_output=True, text=True, check=True).stdout
    used = cpu_seconds(farm.process.pid) - before
    if "Non-2xx" in out:
        raise SystemExit(out)
    return int(re.search(r"(\d+) requests in", out)[1]) / used


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--seconds", type=int, default=3)
    arguments.add_argument("--connections", type=int, nargs="+", default=[64])
    given = results.parse_arguments(arguments)
    raise_descriptor_limit()
    rows = []
    nodes = Nodes("a", lease_s=LEASE_S)
    try:
        with tempfile.TemporaryDirectory(prefix="wheelyard-stores-") as folder, \
                S3Store(Path(folder) / "store") as store, Farm((INDEX,), settings=ONE_THREAD) as embedded:
            node = nodes["a"]
            (node.data / "blobs").unlink()
            node.settings = ONE_THREAD
            node.stores += "\n" + store.settings("/bench")
            node.write_config(node.port)
            for farm in (embedded, node):
                token = farm.create_token()
                farm.start()
                for number in range(FILES):
                    status, problem = RawUpload(farm, token, Wheel("page", f"1.{number}").write(Path(folder))).send()
                    if status != 200:
                        raise SystemExit(f"{status} {problem}")
            size = len(node.get(f"/{INDEX}/simple/page/")[2])
            for connections in given.connections:
                found = {"embedded": [], "node": []}
                for _ in range(given.rounds):
                    for name, farm in (("embedded", embedded), ("node", node)):
                        found[name].append(load(farm, connections, given.seconds))
                row = results.row(f"{size / 1000:.0f} KB page, {connections} connections", "requests / CPU s", "higher", found["node"],
                                  "embedded default", found["embedded"])
                rows.append(row)
                for name, values in found.items():
                    print(f"{connections:5} connections  {name:10} {statistics.median(values):9.0f} requests per CPU second")
                print(f"{connections:5} connections  ratio {results.ratio_text(row)}")
    finally:
        nodes.remove()
    results.record(given, "stores-page", "A project page of a node over PostgreSQL and S3", rows)


if __name__ == "__main__":
    main()
