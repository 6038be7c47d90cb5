#!/usr/bin/env python3
"""What do waiting compiles cost?  bench/governor_waiting.py --bin build/release/bin [--count 2000]

As root, in a memory cgroup of version 1: one compile runs, `count` wait behind it under ninja, `sh -c` included. Prints the
group's memory without page cache, a waiting compile, beside the same build with none waiting.
"""

import argparse
import os
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
from support.governed import MIB, MemoryGroup, entering, memory_group


def used(group: MemoryGroup) -> int:
    stat = dict(line.split() for line in (group.folder / "memory.stat").read_text().splitlines())
    usage = int((group.folder / "memory.usage_in_bytes").read_text())
    return usage - int(stat["total_inactive_file"]) - int(stat["total_active_file"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--count", type=int, default=2000)
    options = results.parse_arguments(parser)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # cgroups and processes are removed whatever ends us
    governor = (options.bin / "wheelyard-governor").resolve()
    folder = Path(tempfile.mkdtemp(prefix="governor-bench-"))
    try:
        hog = folder / "hog"
        subprocess.run(["cc", "-O2", "-static", "-o", hog, ROOT / "tests/system/support/hog.c"], check=True)
        (folder / "s.c").write_text("1 600000 0")
        figures = []
        for jobs in (1, options.count + 1):
            (folder / "build.ninja").write_text(
                f"rule cc\n  command = {governor} launch -- {hog} -c s.c -o $out\n" +
                "".join(f"build s{n}.o: cc s.c\n" for n in range(options.count + 1)))
            with memory_group(8 << 30) as group:
                if group is None or group.version != 1:
                    raise SystemExit("no memory cgroup of version 1 can be made here")
                build = subprocess.Popen(
                    entering(group, [governor, "--no-history", "--quiet", "--cores", "1", "--", "ninja", f"-j{jobs}"]), cwd=folder, start_new_session=True,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                count, still = -1, 0
                while still < 10:  # until no more processes come
                    time.sleep(0.2)
                    now = len((group.build / "cgroup.procs").read_text().split())
                    still, count = (still + 1 if now == count and now > 3 else 0), now
                figures.append(used(group))
                print(f"-j{jobs}: {count} processes, {figures[-1] / MIB:.1f} MiB", flush=True)
                os.killpg(build.pid, signal.SIGKILL)
                for pid in (group.build / "cgroup.procs").read_text().split():
                    os.kill(int(pid), signal.SIGKILL)
                build.wait()
        each = (figures[1] - figures[0]) / options.count / MIB
        print(f"{each:.3f} MiB for each of {options.count} waiting compiles")
        results.record(options, "governor-waiting", "The memory of compiles that wait",
                       [results.row(f"one of {options.count:,} waiting compiles, with its sh -c", "MiB", "lower", each)])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
