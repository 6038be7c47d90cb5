#!/usr/bin/env python3
"""What does it cost to sign an index, when one new wheel is published?

Publishes two trees of one store, with and without --sign-key. Then, in turns, commits one wheel after another to an existing
project and publishes both trees, each with a new process, the one that comes first by turns. Prints the medians, the median
ratio of the pairs, and names written and fsyncs of one run (from strace, outside of the timing).

    bench/index_signed.py --bin build/release/bin [--projects 2000 50000] [--rounds 15] [--folder /dev/shm]

--folder as for index_publish.py; two files in each project.
"""

import argparse
import pathlib
import statistics
import subprocess
import tempfile

import index_store
import results
from index_publish import count_calls, measure


class Pair:
    def __init__(self, folder, bin_folder, projects):
        self.store = index_store.Store(folder / str(projects), bin_folder, projects)
        subprocess.run([bin_folder / "wheelyard-registry", "attest", "init", folder / str(projects) / "keys"], check=True,
                       stdout=subprocess.DEVNULL)
        plain = [bin_folder / "wheelyard-indexer", "publish", "--store", self.store.data, "--no-pages", "--no-find-links", "--to"]
        self.commands = {"plain": [*plain, folder / str(projects) / "plain"],
                         "signed": [*plain, folder / str(projects) / "signed", "--sign-key", folder / str(projects) / "keys/provenance.key"]}
        self.first_s = {kind: measure(command)[0] / 1000 for kind, command in self.commands.items()}
        self.times = {kind: ([], []) for kind in self.commands}  # wall, CPU
        self.version = index_store.FILES_PER_PROJECT

    def commit(self):
        self.store.add(self.store.projects // 2 + self.version % 7, self.version)
        self.version += 1

    def publish(self):
        self.commit()
        for kind in ("plain", "signed") if self.version % 2 else ("signed", "plain"):
            for times, value in zip(self.times[kind], measure(self.commands[kind])):
                times.append(value)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", required=True, type=pathlib.Path)
    arguments.add_argument("--projects", type=int, nargs="+", default=[2_000, 50_000])
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--folder", type=pathlib.Path, default=None)
    given = results.parse_arguments(arguments)
    index_store.FILES_PER_PROJECT = 2
    rows = []
    with tempfile.TemporaryDirectory(dir=given.folder, prefix="wheelyard-bench-") as name:
        for projects in given.projects:
            pair = Pair(pathlib.Path(name), given.bin.resolve(), projects)
            for _ in range(given.rounds):
                pair.publish()
            pair.commit()
            for kind, command in pair.commands.items():
                files, syncs = count_calls(command)
                wall, cpu = (statistics.median(times) for times in pair.times[kind])
                print(f"{projects:7} projects, {kind:6}: first {pair.first_s[kind]:6.1f} s, then {wall:6.1f} ms wall, {cpu:5.1f} ms CPU, "
                      f"{files} names written, {syncs} fsyncs")
            rows += [results.row(f"one wheel, signed, {projects:,} projects", unit, "lower", pair.times["signed"][at], "not signed",
                                 pair.times["plain"][at]) for at, unit in enumerate(("ms of wall", "ms of CPU"))]
    for row in rows:
        print(f"{row['measured']}: {row['unit']}: ratio {results.ratio_text(row)}")
    results.record(given, "index-signed", "Publishing one wheel with signed pages", rows)


if __name__ == "__main__":
    main()
