#!/usr/bin/env python3
"""Compares the full check of a wheel with `auditwheel show`, with a Python script that tests the zip and hashes RECORD
(inspect_python.py), and with the lower bound (inspect_bound.cpp); also checks a tiny wheel, as a whole process.

  cmake --build --preset release --target wheelyard-registry inspect_bound
  tests/real_wheels/fetch.py --all
  bench/inspect_speed.py [--rounds 5] [--build build/release] [--wheel FILE.whl]

All take turns within each round. Prints medians of wall and CPU seconds, the peak memory, the ratio of each to the check,
and the check's share of the bound. Wall times are meaningful only on an idle machine; the load is printed with them.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import results

ROOT = pathlib.Path(__file__).resolve().parents[1]
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "wheelyard" / "real-wheels"
TORCH = "torch-2.6.0-cp312-cp312-manylinux1_x86_64.whl"
TINY_RUNS = 100


def run(command):
    """Wall seconds, CPU seconds, peak memory in MiB, standard output."""
    with tempfile.TemporaryFile() as out:
        begun = time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):
            raise SystemExit(f"{command[0]} ended with {process.returncode}")
        out.seek(0)
        return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out.read()


def measure_large(given):
    check = [given.build / "bin" / "wheelyard-registry", "check", "--json", given.wheel]
    others = {"auditwheel show": [given.cache / "tools" / "bin" / "auditwheel", "show", "--json", given.wheel],
              "zip test and RECORD in Python": [sys.executable, ROOT / "bench" / "inspect_python.py", given.wheel]}
    runs = {name: [] for name in ("check", *others)}
    bounds = []
    for number in range(given.rounds):
        bound = json.loads(run([given.build / "bin" / "inspect_bound", given.wheel])[3])
        bounds.append((max(bound["all_s"] / bound["cores"], bound["max_member_s"]), bound["all_s"]))
        for name, command in (("check", check), *others.items()):
            runs[name].append(run(command)[:3])
        print(f"round {number + 1}: load {os.getloadavg()[0]:.1f}, check {runs['check'][-1][0]:.2f} s, bound {bounds[-1][0]:.2f} s", flush=True)
    print(f"{given.wheel.name}: {given.wheel.stat().st_size / 1e6:.0f} MB, {bound['unpacked_bytes'] / 1e6:.0f} MB unpacked, "
          f"{bound['members']} members, {bound['cores']} cores, {given.rounds} rounds")
    rows = []
    for name, taken in runs.items():
        wall, cpu, memory = (statistics.median(column) for column in zip(*taken))
        times = [statistics.median(theirs[i] / ours[i] for theirs, ours in zip(taken, runs["check"])) for i in (0, 1)]
        print(f"{name:30} {wall:7.2f} s wall {cpu:7.2f} s CPU {memory:6.0f} MiB   {times[0]:5.1f} x wall {times[1]:5.1f} x CPU")
        if name != "check":
            rows += beside(name, [one[:2] for one in runs["check"]], [one[:2] for one in taken], "s", 1)
    print(f"{'bound':30} {statistics.median(wall for wall, _ in bounds):7.2f} s wall {statistics.median(cpu for _, cpu in bounds):7.2f} s CPU")
    print("the check reaches "
          f"{statistics.median(bound[0] / ours[0] for bound, ours in zip(bounds, runs['check'])):.2f} of the bound in wall time, "
          f"{statistics.median(bound[1] / ours[1] for bound, ours in zip(bounds, runs['check'])):.2f} in CPU time")
    rows += beside("bound: unpack and hash alone", [one[:2] for one in runs["check"]], bounds, "s", 1)
    rows.append(results.row("peak memory", "MiB", "lower", [memory for _, _, memory in runs["check"]]))
    results.record(given, "inspect-large", f"The check of {given.wheel.name}", rows)


def beside(peer, ours, theirs, unit, factor):
    """Rows of (wall, CPU) seconds times `factor`."""
    return [results.row(what, unit, "lower", [one[at] * factor for one in ours], peer, [one[at] * factor for one in theirs])
            for at, what in enumerate(("wall", "CPU"))]


def spawn(command, null):
    """As run(), but cheaper: posix_spawn copies nothing of this interpreter."""
    begun = time.monotonic()
    pid = os.posix_spawn(command[0], [str(word) for word in command], os.environ,
                         file_actions=[(os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)])
    _, status, usage = os.wait4(pid, 0)
    wall = time.monotonic() - begun
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"{command[0]} ended with {os.waitstatus_to_exitcode(status)}")
    return wall, usage.ru_utime + usage.ru_stime


def measure_tiny(given):
    """A process that does nothing: the cost of the kernel and of this measurement."""
    wheel = given.cache / "six-1.17.0-py2.py3-none-any.whl"
    commands = {"check": [given.build / "bin" / "wheelyard-registry", "check", "--json", wheel], "/bin/true": ["/bin/true"]}
    taken = {name: [] for name in commands}
    null = os.open(os.devnull, os.O_WRONLY)
    for _ in range(TINY_RUNS):
        for name, command in commands.items():
            taken[name].append(spawn(command, null))
    for name, rows in taken.items():
        wall, cpu = (statistics.median(column) for column in zip(*rows))
        print(f"{wheel.name}: {wheel.stat().st_size} bytes: {name}: {wall * 1000:.2f} ms wall, {cpu * 1000:.2f} ms CPU "
              f"(median of {TINY_RUNS} processes, fastest {min(row[0] for row in rows) * 1000:.2f} ms)")
    results.record(given, "inspect-tiny", f"The check of {wheel.name}", beside("/bin/true", taken["check"], taken["/bin/true"], "ms", 1000))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--cache", type=pathlib.Path, default=CACHE)
    parser.add_argument("--wheel", type=pathlib.Path)
    given = results.parse_arguments(parser)
    given.wheel = given.wheel or given.cache / TORCH
    with open(given.wheel, "rb") as file:  # warms the page cache for all of them
        while file.read(1 << 24):
            pass
    measure_large(given)
    measure_tiny(given)


if __name__ == "__main__":
    main()
