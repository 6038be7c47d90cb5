#!/usr/bin/env python3
"""What does the governor cost a build that needs none?

  bench/governor_tiny.py --bin build/release/bin [--count 10000] [--ms 10] [--pairs 1] [--jobs N]

Builds `count` compiles of `ms` milliseconds and 1 MiB under ninja, plain and governed in turn, `pairs` times. Prints wall
and CPU seconds of each, and the medians of what the governor adds, a compile and in per cent.
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

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--ms", type=int, default=10)
    parser.add_argument("--pairs", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    governor = (options.bin / "wheelyard-governor").resolve()
    folder = Path(tempfile.mkdtemp(prefix="governor-bench-"))
    try:
        hog = folder / "hog"
        subprocess.run(["cc", "-O2", "-static", "-o", hog, ROOT / "tests/system/support/hog.c"], check=True)
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

        added = []
        for pair in range(options.pairs):
            # Whichever is first has colder caches: they take turns.
            first, second = (plain, governed) if pair % 2 == 0 else (governed, plain)
            one, two = first(), second()
            without, with_it = (one, two) if first is plain else (two, one)
            added.append([b - a for a, b in zip(without, with_it)] + [with_it[1] / without[1] - 1])
            print(f"plain {without[0]:.2f} s, CPU {without[1]:.2f} s; governed {with_it[0]:.2f} s, CPU {with_it[1]:.2f} s",
                  flush=True)
        wall, cpu, part = (statistics.median(column) for column in zip(*added))
        print(f"added, median of {options.pairs}: wall {wall / options.count * 1000:.2f} ms, CPU "
              f"{cpu / options.count * 1000:.2f} ms a compile, CPU {100 * part:.1f} %")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
