#!/usr/bin/env python3
"""What does the governor cost a build that needs none?

  bench/governor_tiny.py --bin build/release/bin [--count 10000] [--ms 10] [--pairs 1] [--jobs N]

Builds `count` compiles of `ms` milliseconds and 1 MiB under ninja, `pairs` times in turn: plain, governed, and as the bound
with launch_bound.c before each, which starts what it is given and nothing else. Prints wall and CPU seconds of each, and the
medians of what the governor and what the bound adds, a compile and in per cent.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import results

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--ms", type=int, default=10)
    parser.add_argument("--pairs", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = results.parse_arguments(parser)
    governor = (options.bin / "wheelyard-governor").resolve()
    folder = Path(tempfile.mkdtemp(prefix="governor-bench-"))
    try:
        hog = folder / "hog"
        subprocess.run(["cc", "-O2", "-static", "-o", hog, ROOT / "tests/system/support/hog.c"], check=True)
        bound = folder / "bound"
        subprocess.run(["cc", "-O2", "-static", "-o", bound, ROOT / "bench/launch_bound.c"], check=True)
        (folder / "t.c").write_text(f"1 {options.ms} 0")
        edges = "".join(f"build t{number}: t\n" for number in range(options.count))

        def build(launcher: str, command: list) -> tuple[float, float]:
            (folder / "build.ninja").write_text(f"rule t\n  command = {launcher} {hog} -c t.c\n" + edges)
            for log in folder.glob(".ninja_*"):
                log.unlink()
            begun, before = time.monotonic(), os.times()
            subprocess.run(list(map(str, command)), cwd=folder, check=True, stdout=subprocess.DEVNULL)
            now = os.times()
            cpu = now.children_user + now.children_system - before.children_user - before.children_system
            return time.monotonic() - begun, cpu

        def plain() -> tuple[float, float]:
            return build("", ["ninja", f"-j{options.jobs}"])

        def governed() -> tuple[float, float]:
            return build(f"{governor} launch --", [governor, "--quiet", "--cores", options.jobs, "--history", "history",
                                                   "--", "ninja"])

        def bounded() -> tuple[float, float]:
            return build(str(bound), ["ninja", f"-j{options.jobs}"])

        ways = {"plain": plain, "governed": governed, "bound": bounded}
        rows = []
        for number in range(options.pairs):
            # Whichever is first has colder caches: they take turns.
            order = [*ways][number % 3:] + [*ways][:number % 3]
            done = {name: ways[name]() for name in order}
            rows.append([done[name] for name in ways])
            print("; ".join(f"{name} {wall:.2f} s, CPU {cpu:.2f} s" for name, (wall, cpu) in
                            zip(ways, rows[-1])), flush=True)
        for column, name in ((1, "governed"), (2, "bound")):
            wall, cpu = (statistics.median(row[column][kind] - row[0][kind] for row in rows) for kind in (0, 1))
            part = statistics.median(row[column][1] / row[0][1] - 1 for row in rows)
            print(f"{name} added, median of {options.pairs}: wall {wall / options.count * 1000:.2f} ms, CPU "
                  f"{cpu / options.count * 1000:.2f} ms a compile, CPU {100 * part:.1f} %")
        per_compile = 1000 / options.count
        added = [results.row(f"{what} added to a compile of {options.ms} ms", "ms", "lower",
                             [(row[1][kind] - row[0][kind]) * per_compile for row in rows], "launch_bound",
                             [(row[2][kind] - row[0][kind]) * per_compile for row in rows])
                 for kind, what in ((1, "CPU"), (0, "wall"))]
        results.record(options, "governor-tiny", "What the governor adds to tiny compiles", added)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
