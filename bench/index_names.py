#!/usr/bin/env python3
"""What does an index of 100,000 real names cost: its first publish, its search, and one more upload?

Names of the public index, one file each; beyond the first 10,000, two of them together (index_store.py). Measured: wall time, CPU and
peak memory of the first publish, CPU of a publish of one more wheel, and the bytes of the search: all its files, the largest one,
and what a browser loads at the first key.

    bench/index_names.py --bin build/release/bin [--projects 10000 100000] [--rounds 5] [--folder /dev/shm]
"""

import argparse
import os
import pathlib
import statistics
import string
import tempfile
import time

import index_store
import results
from index_web import SHOWN

index_store.FILES_PER_PROJECT = 1


class Tree:
    def __init__(self, folder, bin_folder, projects):
        self.store = index_store.Store(folder / str(projects), bin_folder, projects)
        self.command = [bin_folder / "wheelyard-indexer", "publish", "--store", self.store.data, "--to", folder / str(projects) / "tree"]
        self.pages = folder / str(projects) / "tree" / index_store.INDEX / "project"
        self.first = self.publish()
        self.more = 0

    def publish(self):
        """Seconds of wall time, of CPU, and MiB of memory at the most."""
        begin = time.monotonic()
        child = os.posix_spawn(self.command[0], list(map(str, self.command)), os.environ,
                               file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
        _, status, used = os.wait4(child, 0)
        if status != 0:
            raise SystemExit(f"the publish ended with {os.waitstatus_to_exitcode(status)}")
        return time.monotonic() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024

    def one_more(self, is_new_name):
        self.more += 1
        if is_new_name:
            self.store.add(900_000 + self.more, 0, index_store.project_name(900_000 + self.more))
        else:
            self.store.add(self.store.projects // 2 + self.more, 1)
        return self.publish()

    def first_keys(self):
        """Bytes that search.js loads for one typed letter, of each letter: its files until a page of results is full."""
        return {key: self.loaded(key) for key in string.ascii_lowercase if (self.pages / f"search.name={key}.json").exists()}

    def loaded(self, key):
        rows, waiting = 0, [f"name={key}"]
        size = (self.pages / "search.json").stat().st_size
        while waiting and rows < SHOWN:
            file = self.pages / f"search.{waiting.pop(0)}.json"
            text = file.read_text()
            part = results.json.loads(text)
            rows += len(part.get("rows", {}))
            waiting = [file.name[len("search."):-len(".json")] + step for step in sorted(part.get("next", {}))] + waiting
            size += len(text)
        return size


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", required=True, type=pathlib.Path)
    arguments.add_argument("--projects", type=int, nargs="+", default=[10_000, 100_000])
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--folder", type=pathlib.Path, default=None)
    given = results.parse_arguments(arguments)
    rows = []
    with tempfile.TemporaryDirectory(dir=given.folder, prefix="wheelyard-bench-") as name:
        for projects in given.projects:
            tree = Tree(pathlib.Path(name), given.bin.resolve(), projects)
            wall_s, cpu_s, memory_mib = tree.first
            existing = [tree.one_more(False)[1] * 1000 for _ in range(given.rounds)]
            new = [tree.one_more(True)[1] * 1000 for _ in range(given.rounds)]
            files = [file.stat().st_size for file in tree.pages.glob("search*.json")]
            keys = tree.first_keys()
            print(f"{projects} names: first publish {wall_s:.1f} s, {cpu_s:.1f} s of CPU, {memory_mib:.0f} MiB; one wheel {statistics.median(existing):.0f} ms "
                  f"of CPU, of a new name {statistics.median(new):.0f}; search {len(files)} files, {sum(files):,} bytes, the largest {max(files):,}; "
                  f"a first key loads {max(keys.values(), default=0):,} at most", flush=True)
            for what, unit, values in ((f"the first publish of {projects:,} names", "s", [wall_s]), ("the same", "s of CPU", [cpu_s]),
                                       ("the same", "MiB of memory", [memory_mib]), (f"one wheel more among {projects:,}", "ms of CPU", existing),
                                       (f"one name more among {projects:,}", "ms of CPU", new),
                                       ("all files of the search", "KB", [sum(files) / 1000]), ("the largest of them", "KB", [max(files) / 1000]),
                                       ("a first key loads, at most", "KB", [max(keys.values(), default=0) / 1000])):
                rows.append(results.row(f"{what}", unit, "lower", values))
    results.record(given, "index-names", "An index of real names", rows)


if __name__ == "__main__":
    main()
