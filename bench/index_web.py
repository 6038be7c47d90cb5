#!/usr/bin/env python3
"""What does the web UI cost beside the Simple pages, and does the search of a large index stay usable?

One store for each number of projects, and two trees of it: with the web UI and with `--no-pages`, published in turns.
Measured: the CPU time of the first run, that of a new wheel of an existing project, the bytes that a browser loads with the
first key of the search, and the files of the search that a new version writes.

    cmake --build --preset release --target wheelyard-registry wheelyard-indexer
    bench/index_web.py --bin build/release/bin [--projects 1000 5000 100000] [--rounds 5] [--folder /dev/shm]
"""

import argparse
import gzip
import json
import pathlib
import statistics
import tempfile

import results
from index_publish import check_room, measure
from index_store import FILES_PER_PROJECT, INDEX, Store

SHOWN = 100  # max_shown of search.js
PAGES, SIMPLE = "with the web UI", "Simple pages alone"


class Trees:
    def __init__(self, folder, bin_folder, projects):
        self.store = Store(folder / str(projects), bin_folder, projects)
        self.version = FILES_PER_PROJECT
        self.folder = folder / str(projects)
        publish = [bin_folder / "wheelyard-indexer", "publish", "--store", self.store.data, "--to"]
        self.commands = {PAGES: [*publish, self.folder / "pages"], SIMPLE: [*publish, self.folder / "simple", "--no-pages"]}
        self.first = {kind: self.cpu_ms(kind) for kind in self.commands}
        self.one = {kind: [] for kind in self.commands}

    def cpu_ms(self, kind):
        return measure(self.commands[kind])[1]

    def publish_one(self):
        self.store.add(self.store.projects // 2 + self.version % 7, self.version)
        self.version += 1
        before = self.search_files()
        for kind in self.commands:
            self.one[kind].append(self.cpu_ms(kind))
        return len(self.search_files() - before)

    def search_files(self):
        """Their names and states: a file that is written is another one."""
        return {(file.name, file.stat().st_ino, file.stat().st_mtime_ns) for file in self.pages().glob("search*.json")}

    def pages(self):
        return self.folder / "pages" / INDEX / "project"

    def first_key(self):
        """Bytes of what search.js loads for "p", with which all names begin: the files below it until a page of results is full."""
        rows, waiting = 0, ["name="]
        texts = [(self.pages() / "search.json").read_bytes()]
        while waiting and rows < SHOWN:
            node = waiting.pop()
            texts.append((self.pages() / f"search.{node}.json").read_bytes())
            part = json.loads(texts[-1])
            rows += len(part.get("rows", {}))
            waiting += [node + step for step in sorted(part.get("next", {}), reverse=True)]
        return sum(map(len, texts)), sum(len(gzip.compress(text, 6)) for text in texts)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", required=True, type=pathlib.Path)
    arguments.add_argument("--projects", type=int, nargs="+", default=[1_000, 5_000, 100_000])
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--folder", type=pathlib.Path, default=None)
    given = results.parse_arguments(arguments)
    rows = []
    with tempfile.TemporaryDirectory(dir=given.folder, prefix="wheelyard-bench-") as name:
        folder = pathlib.Path(name)
        check_room(folder, [2 * projects for projects in given.projects])
        for projects in given.projects:
            trees = Trees(folder, given.bin.resolve(), projects)
            written = [trees.publish_one() for _ in range(given.rounds)]
            size, packed = trees.first_key()
            print(f"{projects:7} projects: first run {trees.first[PAGES]:.0f} ms of CPU, without pages {trees.first[SIMPLE]:.0f}; one wheel "
                  f"{statistics.median(trees.one[PAGES]):.1f}, without {statistics.median(trees.one[SIMPLE]):.1f}; "
                  f"the first key {size:,} bytes, {packed:,} compressed; one version writes {max(written)} files of the search", flush=True)
            rows += [results.row(f"the first run, {projects:,} projects", "ms of CPU", "lower", [trees.first[PAGES]], SIMPLE, [trees.first[SIMPLE]]),
                     results.row(f"one wheel, in a tree of {projects:,} projects", "ms of CPU", "lower", trees.one[PAGES], SIMPLE, trees.one[SIMPLE])]
    results.record(given, "index-web", "The web UI beside Simple pages", rows)


if __name__ == "__main__":
    main()
