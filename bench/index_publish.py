#!/usr/bin/env python3
"""What does it cost to publish one new wheel, by how many projects there are already?

Trees of 1,000, 10,000 and 100,000 projects (10 files each) are published once; then, in turns, one wheel after another is committed to an
existing project of each store and published by a process of its own. Printed: the medians of wall-clock and CPU time, files written and
fsyncs of one such run (by strace, apart from the timing), the ratio of the largest to the smallest, and apart from that a wheel of a new
project, which is what rewrites the root page.

    bench/index_publish.py --bin build/release/bin [--projects 1000 10000 100000] [--rounds 15] [--folder /dev/shm]

--folder says where the trees lie: a disk shows its fsyncs, /dev/shm the program. The stores are filled by SQL (index_store.py), a million
rows in half a minute of CPU; what takes longest is the first publish. A tree of 100,000 projects has 3.5 million names, each of which a tmpfs counts
as an inode: where the folder has no room for them, this says so before it begins, and

    mount -t tmpfs -o size=14g,nr_inodes=0 tmpfs FOLDER

is one that has.
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
    """A tmpfs says how many names it takes; 0 files in all: it does not count them."""
    there = os.statvfs(folder)
    needed = sum(projects) * (FILES_PER_PROJECT * NAMES_A_FILE + NAMES_A_PROJECT)
    if there.f_files > 0 and there.f_favail < needed:
        raise SystemExit(f"{folder} takes {there.f_favail} more names, these trees have {needed}: see --help")


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
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.monotonic()
        subprocess.run(self.command, check=True, stdout=subprocess.DEVNULL)
        self.wall_ms[kind].append((time.monotonic() - begin) * 1000)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu_ms[kind].append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000)

    def calls(self):
        """Files written or linked, and fsyncs, of one publish of an existing project's new wheel."""
        self.commit("existing")
        with tempfile.NamedTemporaryFile() as log:
            subprocess.run(["strace", "-f", "-qq", "-o", log.name, "-e", f"trace={TRACED}", *self.command],
                           check=True, stdout=subprocess.DEVNULL)
            text = log.read().decode()
        return len(re.findall(r"(?:rename|link|symlink)(?:at2?)?\(", text)), len(re.findall(r"(?:fsync|fdatasync|syncfs)\(", text))


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
