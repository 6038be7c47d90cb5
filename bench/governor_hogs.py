#!/usr/bin/env python3
"""How near the bound does a governed build come, beside the ways people build today?

  bench/governor_hogs.py --bin build/release/bin [--count 240] [--cores 16] [--memory-mib 1024] [--json FILE]

Builds `count` made-up compiles (tests/system/support/hog.c: each grows to its memory in half of its time and sleeps, so
16 "cores" need no 16 cores), giants late in the list, under ninja, as root in a memory cgroup of that size where one can
be made. Prints wall time over the bound max(Σ time / cores, Σ time × peak / limit) for: the governor's first build, its
second (with history), one with half of that history, and fixed -j of several widths (dead or alive). A busy machine makes
compiles longer than they were asked to be, so the governor's rows also say the ratio to the bound of the times and peaks
as they ran.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "system"))
from support.governed import kernel_kills, memory_group  # the same cgroups as the tests make

MIB = 1 << 20


def draw(count: int, memory_mib: int, seed: int) -> list[tuple[int, int]]:
    """(MiB, ms) of each: many middling ones, 4 % giants among the last tenth; shapes as of PyTorch's C++."""
    rng = random.Random(seed)
    unit = memory_mib / 1000
    rows = [(max(1, int(rng.uniform(25, 75) * unit)), int(rng.uniform(250, 900))) for _ in range(count)]
    for _ in range(count // 25):
        rows[rng.randrange(count - count // 10, count)] = (int(rng.uniform(150, 330) * unit), int(rng.uniform(1800, 4500)))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--count", type=int, default=240)
    parser.add_argument("--cores", type=int, default=16)
    parser.add_argument("--memory-mib", type=int, default=1024)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    governor = (options.bin / "wheelyard-governor").resolve()
    limit = options.memory_mib * MIB
    rows = draw(options.count, options.memory_mib, options.seed)
    work = sum(ms for _, ms in rows) / 1000 / options.cores
    area = sum(mib * ms for mib, ms in rows) / 1000 / options.memory_mib
    bound = max(work, area)
    folder = Path(tempfile.mkdtemp(prefix="governor-bench-"))
    results = []
    environment = os.environ | {"XDG_CACHE_HOME": str(folder / "cache")}
    try:
        hog = folder / "hog"
        subprocess.run(["cc", "-O2", "-static", "-o", hog, ROOT / "tests/system/support/hog.c"], check=True)
        for number, (mib, ms) in enumerate(rows):
            (folder / f"s{number}.c").write_text(f"{mib} {ms} 0")

        def build(name: str, launcher: str, command: list) -> None:
            text = f"rule cc\n  command = {launcher} {hog} -c $in -o $out\n"
            (folder / "build.ninja").write_text(text + "".join(f"build s{n}.o: cc s{n}.c\n" for n in range(len(rows))))
            for path in [*folder.glob("*.o"), *folder.glob(".ninja_*"), *folder.glob("summary.json")]:
                path.unlink()
            with memory_group(limit) as group:
                enter = f"echo $$ > {group}/cgroup.procs && " if group else ""
                begun, kills = time.monotonic(), kernel_kills()
                done = subprocess.run(["sh", "-c", f'{enter}exec "$@"', "sh", *map(str, command)], cwd=folder,
                                      env=environment, capture_output=True, text=True)
                wall = time.monotonic() - begun
                row = {"way": name, "wall_s": round(wall, 2), "ratio": round(wall / bound, 3),
                       "survived": done.returncode == 0, "kernel_oom_kills": kernel_kills() - kills}
            with contextlib.suppress(OSError):
                summary = json.loads((folder / "summary.json").read_text())
                row |= {name: summary[name] for name in ("killed", "oom_kills", "stopped", "failed",
                                                         "prediction_error_median")}
                trace = json.loads((folder / "trace.json").read_text())["traceEvents"]
                tries = [(one["dur"] / 1e6, one["args"]["peak_mib"]) for one in trace if one.get("cat") == "ok"]
                as_ran = max(sum(s for s, _ in tries) / options.cores,
                             sum(s * mib for s, mib in tries) / options.memory_mib)
                row["ratio_to_bound_as_ran"] = round(wall / as_ran, 3)
                row["high_water_part"] = round(summary["high_water_bytes"] / limit, 3)
            results.append(row)
            print(json.dumps(row), flush=True)

        def governed(name: str) -> None:
            memory = [] if os.geteuid() == 0 else ["--memory", str(limit)]
            build(name, f"{governor} launch --",
                  [governor, *memory, "--cores", options.cores, "--history", "history", "--progress", "0", "--quiet",
                   "--json", "summary.json", "--trace", "trace.json", "--", "ninja"])

        print(f"{len(rows)} compiles, {options.cores} cores, {options.memory_mib} MiB: bound {bound:.2f} s "
              f"(cores {work:.2f}, memory {area:.2f})", flush=True)
        governed("governor, first build")
        governed("governor, with history")
        history = (folder / "history").read_text().splitlines(keepends=True)
        (folder / "history").write_text("".join(history[:1] + history[1::2]))
        governed("governor, half the history")
        for jobs in (options.cores, options.cores // 2, options.cores // 4):
            build(f"ninja -j{jobs}", "", ["ninja", f"-j{jobs}"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if options.json:
        options.json.write_text(json.dumps({"bound_s": bound, "rows": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
