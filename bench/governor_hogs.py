#!/usr/bin/env python3
"""How near the bound does a governed build come, beside the ways people build today?

  bench/governor_hogs.py --bin build/release/bin [--count 240] [--cores 16] [--memory-mib 1024] [--drawn-mib N]
                         [--slower X] [--j1]

Builds `count` made-up compiles (tests/system/support/hog.c: each grows to its memory in half of its time and sleeps, so
16 "cores" need no 16 cores), giants late in the list, under ninja, as root in a memory cgroup of that size where one can
be made. Sizes are drawn as for a machine of --drawn-mib (default: all its memory), times are --slower times as long.

Prints wall time over the bound max(Σ time / cores, Σ time × peak / limit) for: the oracle (the governor with the peaks of a
build that had memory enough), the governor's first build, its second (with history), one with half of that history, and
fixed -j of several widths (dead or alive). What a person does after a death, -j1 for the rest, is computed from the times
asked for; --j1 runs -j1 as a whole. A busy machine makes compiles longer than they were asked to be, so the governor's rows
also say the ratio to the bound of the times and peaks as they ran.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "system"))
import results
from support.governed import MIB, entering, kernel_kills, memory_group  # the same cgroups as the tests make

SUMMARY = ("killed", "oom_kills", "stopped", "failed", "prediction_error_median", "max_running")
WITH_HISTORY = "governor, with history"


def draw(count: int, drawn_mib: int, slower: float, seed: int) -> list[tuple[int, int]]:
    """(MiB, ms) of each: many middling ones, 4 % giants among the last tenth; shapes as of PyTorch's C++."""
    rng = random.Random(seed)
    unit = drawn_mib / 1000
    rows = [(max(1, int(rng.uniform(25, 75) * unit)), int(rng.uniform(250, 900) * slower)) for _ in range(count)]
    for _ in range(count // 25):
        rows[rng.randrange(count - count // 10, count)] = (int(rng.uniform(150, 330) * unit),
                                                           int(rng.uniform(1800, 4500) * slower))
    return rows


class Bench:
    def __init__(self, options: argparse.Namespace, folder: Path):
        self.options, self.folder = options, folder
        self.governor = (options.bin / "wheelyard-governor").resolve()
        self.limit = options.memory_mib * MIB
        self.rows = draw(options.count, options.drawn_mib or options.memory_mib, options.slower, options.seed)
        self.environment = os.environ | {"XDG_CACHE_HOME": str(folder / "cache")}
        self.hog = folder / "hog"
        subprocess.run(["cc", "-O2", "-static", "-o", self.hog, ROOT / "tests/system/support/hog.c"], check=True)
        for number, (mib, ms) in enumerate(self.rows):
            (folder / f"s{number}.c").write_text(f"{mib} {ms} 0")
        self.bound = self.bound_of([(ms / 1000, mib) for mib, ms in self.rows])
        self.results = []

    def bound_of(self, compiles: list[tuple[float, float]]) -> float:
        """Of (seconds, MiB)."""
        return max(sum(s for s, _ in compiles) / self.options.cores,
                   sum(s * mib for s, mib in compiles) / self.options.memory_mib)

    def build(self, way: str, launcher: str, command: list, limit: int) -> dict:
        text = f"rule cc\n  command = {launcher} {self.hog} -c $in -o $out\n"
        (self.folder / "build.ninja").write_text(
            text + "".join(f"build s{n}.o: cc s{n}.c\n" for n in range(len(self.rows))))
        for path in [*self.folder.glob("*.o"), *self.folder.glob(".ninja_*"), *self.folder.glob("summary.json")]:
            path.unlink()
        with memory_group(limit) as group:
            begun, kills = time.monotonic(), kernel_kills()
            done = subprocess.run(entering(group, command), cwd=self.folder, env=self.environment, capture_output=True, text=True)
            wall = time.monotonic() - begun
            row = {"way": way, "wall_s": round(wall, 2), "ratio": round(wall / self.bound, 3),
                   "survived": done.returncode == 0, "kernel_oom_kills": kernel_kills() - kills}
        with contextlib.suppress(OSError):
            self.read_summary(row, wall)
        left = [ms / 1000 for n, (_, ms) in enumerate(self.rows) if not (self.folder / f"s{n}.o").exists()]
        if left:
            row["then_j1_ratio_computed"] = round((wall + sum(left)) / self.bound, 2)
        self.results.append(row)
        print(json.dumps(row), flush=True)
        return row

    def read_summary(self, row: dict, wall: float) -> None:
        summary = json.loads((self.folder / "summary.json").read_text())
        row |= {name: summary[name] for name in SUMMARY}
        trace = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
        tries = [(one["dur"] / 1e6, one["args"]["peak_mib"]) for one in trace if one.get("cat") == "ok"]
        row["ratio_to_bound_as_ran"] = round(wall / self.bound_of(tries), 3)
        row["high_water_part"] = round(summary["high_water_bytes"] / self.limit, 3)

    def governed(self, way: str, history: str, limit: int | None = None) -> None:
        limit = limit or self.limit
        memory = [] if os.geteuid() == 0 else ["--memory", str(limit)]
        self.build(way, f"{self.governor} launch --",
                   [self.governor, *memory, "--cores", self.options.cores, "--history", history, "--progress", "0",
                    "--quiet", "--json", "summary.json", "--trace", "trace.json", "--", "ninja"], limit)

    def run(self) -> None:
        print(f"{len(self.rows)} compiles, {self.options.cores} cores, {self.options.memory_mib} MiB: bound "
              f"{self.bound:.2f} s", flush=True)
        self.governed("governor with twice the memory, to learn true peaks", "true", 2 * self.limit)
        self.governed("oracle", "true")
        self.governed("governor, first build", "history")
        history = (self.folder / "history").read_text().splitlines(keepends=True)
        self.governed(WITH_HISTORY, "history")
        (self.folder / "history").write_text("".join(history[:1] + history[1::2]))
        self.governed("governor, half the history", "history")
        cores = self.options.cores
        for jobs in (cores, cores // 2, cores // 4, *([1] if self.options.j1 else [])):
            self.build(f"ninja -j{jobs}", "", ["ninja", f"-j{jobs}"], self.limit)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--count", type=int, default=240)
    parser.add_argument("--cores", type=int, default=16)
    parser.add_argument("--memory-mib", type=int, default=1024)
    parser.add_argument("--drawn-mib", type=int)
    parser.add_argument("--slower", type=float, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--j1", action="store_true")
    options = results.parse_arguments(parser)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # cgroups and processes are removed whatever ends us
    folder = Path(tempfile.mkdtemp(prefix="governor-bench-"))
    try:
        bench = Bench(options, folder)
        bench.run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    governed = [row for row in bench.results[1:] if not row["way"].startswith("ninja")]
    rows = [results.row(row["way"], "s of wall", "lower", row["wall_s"], "bound", bench.bound) for row in governed]
    known = next(row for row in governed if row["way"] == WITH_HISTORY)
    for fixed in bench.results[1 + len(governed):]:
        died = "" if fixed["survived"] else ", then -j1 (computed)"
        wall = fixed.get("then_j1_ratio_computed", fixed["ratio"]) * bench.bound
        rows.append(results.row(known["way"], "s of wall", "lower", known["wall_s"], fixed["way"] + died, wall))
    results.record(options, "governor-hogs", f"{options.count:,} made-up compiles, {options.cores} at once, {options.memory_mib} MiB", rows)


if __name__ == "__main__":
    main()
