#!/usr/bin/env python3
"""What does it cost to publish one new wheel, depending on the number of existing projects?

Publishes trees of 1,000, 10,000 and 100,000 projects (10 files each) once. Then, in turns, commits one wheel after another
to an existing project of each store and publishes it with a new process. Prints the medians of wall-clock and CPU time,
files written and fsyncs of one such run (from strace, outside of the timing), the ratio of the largest to the smallest, and
separately a wheel of a new project, which rewrites the root page.

    bench/index_publish.py --bin build/release/bin [--projects 1000 10000 100000] [--rounds 15] [--folder /dev/shm]

--folder is the parent of the trees: a disk shows the cost of fsyncs, /dev/shm that of the program. The stores are filled
with SQL (index_store.py), a million rows in half a minute of CPU; the first publish takes longest. A tree of 100,000
projects has 3.5 million names, each of which is an inode on a tmpfs. The bench checks the folder's capacity first; this
command creates a suitable one:

    mount -t tmpfs -o size=14g,nr_inodes=0 tmpfs FOLDER
"""

import argparse
import os
import pathlib
import re
import resource
import statistics
import subprocess
import tempfile
import time

import results
from index_store import FILES_PER_PROJECT, Store


NAMES_A_FILE = 3  # the wheel, its METADATA, its link in find-links/
NAMES_A_PROJECT = 5  # a folder and four pages
TRACED = "/^(fsync|fdatasync|syncfs|rename|renameat|renameat2|link|linkat|symlink|symlinkat)$"


def check_room(folder, projects):
    """A tmpfs reports how many names it can hold; 0 files in all means no limit."""
    there = os.statvfs(folder)
    needed = sum(projects) * (FILES_PER_PROJECT * NAMES_A_FILE + NAMES_A_PROJECT)
    if there.f_files > 0 and there.f_favail < needed:
        raise SystemExit(f"{folder} takes {there.f_favail} more names, these trees have {needed}: see --help")


def measure(command):
    """Runs it to its end: milliseconds of wall time and of CPU."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall_ms = (time.monotonic() - begin) * 1000
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall_ms, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def count_calls(command):
    """Files written or linked, and fsyncs."""
    with tempfile.NamedTemporaryFile() as log:
        subprocess.run(["strace", "-f", "-qq", "-o", log.name, "-e", f"trace={TRACED}", *command],
                       check=True, stdout=subprocess.DEVNULL)
        text = log.read().decode()
    return len(re.findall(r"(?:rename|link|symlink)(?:at2?)?\(", text)), len(re.findall(r"(?:fsync|fdatasync|syncfs)\(", text))


class Tree:
    def __init__(self, folder, bin_folder, projects):
        self.store = Store(folder / str(projects), bin_folder, projects)
        self.command = [bin_folder / "wheelyard-indexer", "publish", "--store", self.store.data, "--to", folder / str(projects) / "tree"]
        self.version = FILES_PER_PROJECT
        self.new_names = 0
        begin = time.monotonic()
        subprocess.run(self.command, check=True, stdout=subprocess.DEVNULL)
        self.first_s = time.monotonic() - begin
        self.wall_ms = {"existing": [], "new name": []}
        self.cpu_ms = {"existing": [], "new name": []}

    def commit(self, kind):
        if kind == "new name":
            self.new_names += 1
            self.store.add(900_000 + self.new_names, 0, f"new-{self.new_names}")
        else:
            self.store.add(self.store.projects // 2 + self.version % 7, self.version)
            self.version += 1

    def publish(self, kind):
        self.commit(kind)
        wall_ms, cpu_ms = measure(self.command)
        self.wall_ms[kind].append(wall_ms)
        self.cpu_ms[kind].append(cpu_ms)

    def calls(self):
        """When publishing a new wheel of an existing project."""
        self.commit("existing")
        return count_calls(self.command)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", required=True, type=pathlib.Path)
    arguments.add_argument("--projects", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--folder", type=pathlib.Path, default=None)
    given = results.parse_arguments(arguments)
    with tempfile.TemporaryDirectory(dir=given.folder, prefix="wheelyard-bench-") as name:
        folder = pathlib.Path(name)
        check_room(folder, given.projects)
        trees = [Tree(folder, given.bin.resolve(), projects) for projects in given.projects]
        for _ in range(given.rounds):
            for tree in trees:
                tree.publish("existing")
                tree.publish("new name")
        for tree in trees:
            files, syncs = tree.calls()
            print(f"{tree.store.projects:7} projects  first {tree.first_s:7.1f} s  " + "  ".join(
                f"{kind}: {statistics.median(tree.wall_ms[kind]):6.1f} ms wall (best {min(tree.wall_ms[kind]):.1f}), "
                f"{statistics.median(tree.cpu_ms[kind]):5.1f} ms CPU" for kind in tree.wall_ms)
                  + f"  {files} names written, {syncs} fsyncs")
        rows = []
        for kind, what in (("existing", "an existing project"), ("new name", "a new project")):
            for unit, times in (("ms of CPU", "cpu_ms"), ("ms of wall", "wall_ms")):
                smallest = getattr(trees[0], times)[kind]
                rows += [results.row(f"{what}, in a tree of {tree.store.projects:,}", unit, "lower", getattr(tree, times)[kind],
                                     f"in a tree of {trees[0].store.projects:,}", smallest) for tree in trees[1:]]
        for row in rows:
            print(f"{row['measured']}: {row['unit']}: ratio {results.ratio_text(row)}")
    results.record(given, "index-publish", "Publishing one wheel", rows)


if __name__ == "__main__":
    main()
