#!/usr/bin/env python3
"""What does the governor cost a real build that needs none?

  bench/governor_overhead.py --bin build/release/bin [--count 30] [--pairs 10] [--cores 2] [--opt -O1]

Compiles `count` of this repository's own sources (lib/base, lib/wheel, builder/governor and what they include; nothing to
install but libexpected-dev) under ninja, plain and governed in turns, after one build of each that warms caches and
history. Prints of each pair wall and CPU seconds (user and system of the whole tree: compilers, ninja, launchers, broker),
then medians and the median of the pairs' ratios. One more build looks every 50 ms at the launchers and the broker and prints
the memory of a compile: what is theirs alone (PSS) at the median and at most.
"""

import argparse
import contextlib
import json
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import results

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("lib/base", "lib/wheel", "builder/governor", "builder/governor/memory", "builder/governor/admission", "builder/governor/launch",
           "builder/governor/broker")
NAME = "wheelyard-gover"  # comm(5) has 15 letters


def tree_cpu_s() -> float:
    """Of all that ended below us, those included that others waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def pss_kib(pid: int) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0


def governors(front: int) -> list[int]:
    """Descendants of `front` that are the governor's: the broker, and launchers."""
    found, todo = [], [front]
    while todo:
        one = todo.pop()
        with contextlib.suppress(OSError):
            todo += map(int, Path(f"/proc/{one}/task/{one}/children").read_text().split())
            if one != front and Path(f"/proc/{one}/comm").read_text().strip() == NAME:
                found.append(one)
    return found


class Bench:
    def __init__(self, options: argparse.Namespace, folder: Path):
        self.options, self.folder = options, folder
        self.governor = (options.bin / "wheelyard-governor").resolve()
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("CMAKE_", "CCACHE_"))}
        self.environment |= {"XDG_CACHE_HOME": str(folder / "cache")}
        sources = sorted(file for name in FOLDERS for file in (ROOT / name).glob("*.cpp") if file.name != "main.cpp")
        self.sources = sources[:options.count]
        if len(self.sources) < options.count:
            raise SystemExit(f"there are only {len(self.sources)} sources in {', '.join(FOLDERS)}")

    def write(self, launcher: str) -> None:
        compiler = shutil.which("g++")
        text = (f"rule cc\n  command = {launcher} {compiler} -std=c++20 {self.options.opt} -w -I{ROOT} "
                "-DWHEELYARD_VERSION='\"bench\"' -c $in -o $out\n")
        text += "".join(f"build {number}.o: cc {source}\n" for number, source in enumerate(self.sources))
        (self.folder / "build.ninja").write_text(text)
        for path in [*self.folder.glob("*.o"), *self.folder.glob(".ninja_*")]:
            path.unlink()

    def command(self, way: str) -> list[str]:
        self.write("" if way == "plain" else f"{self.governor} launch --")
        if way == "plain":
            return ["ninja", f"-j{self.options.cores}"]
        return [str(self.governor), "--cores", str(self.options.cores), "--history", "history", "--progress", "0", "--json",
                "summary.json", "--", "ninja"]

    def build(self, way: str) -> dict:
        command = self.command(way)
        begun, before = time.monotonic(), tree_cpu_s()
        subprocess.run(command, cwd=self.folder, env=self.environment, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        row = {"wall_s": round(time.monotonic() - begun, 3), "cpu_s": round(tree_cpu_s() - before, 3)}
        if way == "governed":
            summary = json.loads((self.folder / "summary.json").read_text())
            if summary["compiles"] != len(self.sources) or summary["killed"] + summary["oom_kills"] + summary["stopped"]:
                raise SystemExit(f"this build needed governing: {summary}")
        return row

    def watch_memory(self) -> list[dict]:
        command, shares, brokers, over = self.command("governed"), [], [], threading.Event()
        build = subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        waiter = threading.Thread(target=lambda: (build.wait(), over.set()))
        waiter.start()
        while not over.wait(0.05):
            pids = governors(build.pid)
            sizes = {pid: pss_kib(pid) for pid in pids}
            with contextlib.suppress(OSError, IndexError):
                broker = [pid for pid in pids
                          if int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1]) == build.pid][0]
                brokers.append(sizes.pop(broker))
            shares += [size for size in sizes.values() if size]
        waiter.join()
        if not shares:
            return []
        launcher, broker = statistics.median(shares) / 1024, max(brokers, default=0) / 1024
        print(f"a launcher {launcher:.2f} MiB (at most {max(shares) / 1024:.2f}), the broker {broker:.2f} MiB")
        # The broker's share, too, is of those compiles that it knows.
        return [results.row("memory of a launcher", "MiB", "lower", launcher), results.row("memory of the broker", "MiB", "lower", broker)]

    def run(self) -> list[dict]:
        self.build("plain")
        self.build("governed")  # teaches the history
        pairs = []
        for number in range(self.options.pairs):
            # Whichever is first has colder caches: they take turns.
            ways = ("plain", "governed") if number % 2 == 0 else ("governed", "plain")
            pair = {way: self.build(way) for way in ways}
            pairs.append(pair)
            print(f"plain {pair['plain']['wall_s']:.2f} s, CPU {pair['plain']['cpu_s']:.2f} s; governed "
                  f"{pair['governed']['wall_s']:.2f} s, CPU {pair['governed']['cpu_s']:.2f} s", flush=True)
        rows = [results.row(f"{what} of a build of {len(self.sources)} compiles", "s", "lower", [pair["governed"][kind] for pair in pairs],
                            "without the governor", [pair["plain"][kind] for pair in pairs])
                for kind, what in (("cpu_s", "CPU"), ("wall_s", "wall"))]
        for row in rows:
            print(f"{row['measured']}: plain {row['peer']['value']:.2f}, governed {row['ours']:.2f}; ratio of pairs {results.ratio_text(row)}")
        added = statistics.median(pair["governed"]["cpu_s"] - pair["plain"]["cpu_s"] for pair in pairs)
        print(f"{added / len(self.sources) * 1000:.2f} ms of CPU more a compile")
        return rows + self.watch_memory()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--opt", default="-O1")
    options = results.parse_arguments(parser)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = Path(tempfile.mkdtemp(prefix="governor-bench-"))
    try:
        results.record(options, "governor-overhead", "What the governor adds to a real build", Bench(options, folder).run())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
