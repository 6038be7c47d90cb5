#!/usr/bin/env python3
"""What do pages and uploads cost with this build of the registry, compared with another one, such as that of an older commit?

One registry of each build, one I/O thread each, with the same 60 wheels. In turn, pair after pair, wrk asks each for the page of
their project, and then a batch of small wheels is uploaded to each. Prints requests and uploads per second of the server's own
CPU time, and the median ratio of the pairs.

    bench/http_builds.py --bin build/release/bin --peer OTHER/bin [--pairs 10] [--seconds 3] [--connections 64] [--uploads 40]

Needs wrk on PATH. Nothing listens beyond 127.0.0.1.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "system"))
from support import farm as farms  # noqa: E402
from support.clients import RawUpload  # noqa: E402
from support.wheels import Wheel  # noqa: E402

import results  # noqa: E402
from http_pair import cpu_seconds, raise_descriptor_limit  # noqa: E402

FILES = 60  # a page of some 20 KB
OURS, PEER = "ours", "the other build"


class Build:
    def __init__(self, folder, bin_folder):
        farms.BIN = bin_folder  # of the programs that this farm starts
        self.farm = farms.Farm((farms.INDEX,), settings="io_threads = 1")
        self.token = self.farm.create_token()
        self.farm.start()
        self.folder = folder
        self.uploaded = 0
        self.upload("page", FILES)

    def upload(self, project, count):
        """Uploads per CPU second."""
        wheels = [Wheel(project, f"1.{self.uploaded + number}").write(self.folder) for number in range(count)]
        self.uploaded += count
        before = cpu_seconds(self.farm.process.pid)
        for wheel in wheels:
            status, problem = RawUpload(self.farm, self.token, wheel).send()
            if status != 200:
                raise SystemExit(f"{status} {problem}")
        return count / (cpu_seconds(self.farm.process.pid) - before)

    def ask(self, connections, seconds):
        """Pages per CPU second."""
        before = cpu_seconds(self.farm.process.pid)
        url = f"{self.farm.url}/{farms.INDEX}/simple/page/"
        out = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", url], capture_output=True, text=True, check=True).stdout
        used = cpu_seconds(self.farm.process.pid) - before
        if "Non-2xx" in out:
            raise SystemExit(out)
        return int(re.search(r"(\d+) requests in", out)[1]) / used


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", required=True, type=Path)
    arguments.add_argument("--peer", required=True, type=Path, help="the other build's bin folder")
    arguments.add_argument("--pairs", type=int, default=10)
    arguments.add_argument("--seconds", type=int, default=3)
    arguments.add_argument("--connections", type=int, default=64)
    arguments.add_argument("--uploads", type=int, default=40)
    given = results.parse_arguments(arguments)
    raise_descriptor_limit()
    print(f"load {os.getloadavg()[0]:.1f}", flush=True)
    pages, uploads = {OURS: [], PEER: []}, {OURS: [], PEER: []}
    with tempfile.TemporaryDirectory(prefix="wheelyard-builds-") as folder:
        builds = {}
        try:
            for name, bin_folder in ((OURS, given.bin), (PEER, given.peer)):
                (Path(folder) / name).mkdir()
                builds[name] = Build(Path(folder) / name, bin_folder.absolute())
            for pair in range(given.pairs):
                for name in (OURS, PEER) if pair % 2 == 0 else (PEER, OURS):
                    pages[name].append(builds[name].ask(given.connections, given.seconds))
                for name in (OURS, PEER) if pair % 2 == 0 else (PEER, OURS):
                    uploads[name].append(builds[name].upload("more", given.uploads))
        finally:
            for build in builds.values():
                build.farm.__exit__()
    rows = []
    for what, unit, found in ((f"a project page, {given.connections} connections", "requests / CPU s", pages),
                              ("an upload of a small wheel", "uploads / CPU s", uploads)):
        row = results.row(what, unit, "higher", found[OURS], PEER, found[PEER])
        rows.append(row)
        print(f"{what}: {statistics.median(found[OURS]):.0f} {unit}, {PEER} {statistics.median(found[PEER]):.0f}, "
              f"ratio {results.ratio_text(row)}")
    results.record(given, "http-builds", "Pages and uploads, compared with an older build", rows)


if __name__ == "__main__":
    main()
