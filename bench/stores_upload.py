#!/usr/bin/env python3
"""What does an upload cost more over PostgreSQL, with one node and with three, than with the embedded default?

Uploads small wheels in turn to: a registry with its catalog in its folder; a single server over PostgreSQL; one node and three
nodes over PostgreSQL, where the answer waits until every node shows the wheel. PostgreSQL has fsync on; the time of a commit of
one row is measured in the same rounds. Wheels are in folders. Prints medians in milliseconds.

    WHEELYARD_BIN=build/release/bin bench/stores_upload.py [--uploads 60]

Needs PostgreSQL's server (scripts/install-deps). Nothing listens beyond 127.0.0.1.
"""

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "system"))
from support.clients import RawUpload  # noqa: E402
from support.farm import INDEX, Farm  # noqa: E402
from support.node_farm import Nodes  # noqa: E402
from support.wheels import Wheel  # noqa: E402

import results  # noqa: E402

LEASE_S = 6
PATIENCE_S = 60
COMMITS = 200


def start(stack, names):
    nodes = Nodes(*names, lease_s=LEASE_S)
    stack.callback(nodes.remove)
    nodes.server.stop()
    nodes.server.start("fsync=on", "synchronous_commit=on", "full_page_writes=on")
    return nodes


def commit_ms(server):
    """The median time of a commit of one row, by pgbench over a Unix socket."""
    script = server.parent / "insert.sql"
    script.write_text("INSERT INTO bench_commit VALUES (1);\n")
    server.sql("CREATE TABLE IF NOT EXISTS bench_commit (n INT)")
    done = subprocess.run(["pgbench", "-n", "-c1", "-t", str(COMMITS), "-f", script, "-h", server.folder, "-p", str(server.port),
                           "-U", "wheelyard", "postgres"], capture_output=True, text=True, check=True)
    return float(re.search(r"latency average = ([\d.]+) ms", done.stdout)[1])


def upload_ms(farm, token, wheel):
    upload = RawUpload(farm, token, wheel)
    began = time.monotonic()
    status, problem = upload.send()
    if status != 200:
        raise SystemExit(f"{status} {problem}")
    return (time.monotonic() - began) * 1000


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--uploads", type=int, default=60)
    given = results.parse_arguments(arguments)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wheelyard-uploads-")))
        single, one, three = (start(stack, names) for names in (("s",), ("a",), ("a", "b", "c")))
        alone = single["s"]
        alone.config.write_text(alone.config.read_text().replace(f'address = "http://127.0.0.1:{alone.port}"\n', ""))
        farms = {"embedded": stack.enter_context(Farm((INDEX,))), "one server": alone, "one node": one["a"], "three nodes": three["a"]}
        tokens = {}
        for name, farm in farms.items():
            tokens[name] = farm.create_token()
            farm.start()
        for other in ("b", "c"):
            three[other].start()
            three[other].wait(three[other].may_answer, PATIENCE_S, "serving")
        for node in (one["a"], three["a"]):
            node.wait(node.is_writer, PATIENCE_S, "writer")
        found = {name: [] for name in farms}
        for number in range(given.uploads):
            wheel = Wheel(f"bench-{number % 10}", f"1.{number}").write(folder)
            for name, farm in farms.items():
                found[name].append(upload_ms(farm, tokens[name], wheel))
        commits = [commit_ms(single.server) for _ in range(5)]
        refused = sum(node.metric("node_lapses_total") for node in (one["a"], *(three[name] for name in "abc")))
        print(f"commit of one row {statistics.median(commits):.1f} ms; {refused:.0f} leases lapsed")
        rows = [results.row("commit of one row, PostgreSQL with fsync", "ms", "lower", commits)]
        for name, values in found.items():
            ordered = sorted(values)
            print(f"{name:12} median {statistics.median(values):6.1f} ms, p90 {ordered[len(ordered) * 9 // 10]:6.1f}, worst {ordered[-1]:6.0f}")
            if name != "embedded":
                rows.append(results.row(f"upload, {name} over PostgreSQL", "ms", "lower", values, "embedded default", found["embedded"]))
        rows.append(results.row("upload, three nodes, 90th percentile", "ms", "lower",
                                sorted(found["three nodes"])[given.uploads * 9 // 10], "embedded default",
                                sorted(found["embedded"])[given.uploads * 9 // 10]))
    results.record(given, "stores-upload", "An upload over PostgreSQL, with one node and with three", rows)


if __name__ == "__main__":
    main()
