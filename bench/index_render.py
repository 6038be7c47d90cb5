#!/usr/bin/env python3
"""How many files per second does one core turn into an index, compared with dumb-pypi and simple503?

Each program creates its whole index of the same wheels, in turns; ten wheels per project. What each reads and writes:

    wheelyard             from its catalog: HTML and JSON pages, a folder and two hard links per wheel (file, METADATA),
                          catalogue with facts; all synced
    wheelyard, all views  the same, with a link per wheel in find-links/ and compressed pages
    wheelyard, pages      as the first, into a tree whose record says that its files exist: pages, catalogue
    wheelyard, files seen the same, into a tree whose record is lost, so that it checks two files per wheel
    a folder and links    only the folders and links of each wheel in the tree (index_bound.cpp): no catalog, no pages, not synced
    dumb-pypi             from a list with hashes: HTML pages, a JSON document per project, a changelog, a list of packages; no
                          files, nothing checked, not synced
    simple503             from a folder of wheels, each of which it opens: HTML pages, copies of the wheels and their METADATA;
                          not synced
    simple503, in place   the same next to the wheels, which are not copied: only HTML pages

Comparable are `wheelyard, pages` with dumb-pypi and with simple503 in place, and `wheelyard` with simple503; the other
ratios are printed as well. Prints the machine's load, what each wrote in the first round, files per second of CPU time
(medians), and the ratio of each of ours to each peer.

    python3 -m venv PEERS && PEERS/bin/pip install dumb-pypi simple503
    cmake --build --preset release --target wheelyard-registry wheelyard-indexer index_bound
    bench/index_render.py --bin build/release/bin --peers PEERS [--projects 2000] [--rounds 3] [--folder /dev/shm]
    bench/index_render.py … --projects 100000 --shared-blobs --peer-projects 2000 --rounds 1 --folder FOLDER
    bench/index_render.py … --projects 100000 --shared-blobs --only "wheelyard, pages" dumb-pypi --folder FOLDER
    bench/index_render.py … --projects 100000 --one-store --folder FOLDER

The second command writes the pages of a million files; the peers index only the first projects, to finish within minutes.
Ten wheels share a blob there, so that the store fits into memory, and everything that depends on files is not measured. It
needs 3 million names (index_publish.py --help shows how to create such a folder). With the third, dumb-pypi writes its
pages of the same million, in turns with ours. With the fourth, all write an index of a million files, once each: first ours,
with a blob per file, and the bound in turns, then the peers. A folder in memory then needs 5.5 million names and 16 GB,
first for the store and our tree, then for the wheels and the peers' output.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import struct
import subprocess
import tempfile
import zipfile
import zlib

import results
from index_store import FILES_PER_PROJECT, Store, file_name

OURS = ("wheelyard", "wheelyard, pages", "wheelyard, files seen", "wheelyard, all views", "a folder and links")
IN_PLACE = "simple503, in place"
PEERS = ("dumb-pypi", "simple503", IN_PLACE)
QUESTIONS = {  # row and the row it is compared with
    "index-pages": ("The pages of a whole index", [("wheelyard, pages", "dumb-pypi"), ("wheelyard, pages", IN_PLACE)]),
    "index-tree": ("A whole index with its files", [("wheelyard", "simple503"), ("wheelyard", "a folder and links")]),
}


def run(command, given):
    """CPU seconds."""
    with open(given, "rb") as standard_input:
        child = subprocess.Popen(command, stdin=standard_input, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise subprocess.CalledProcessError(child.returncode, command)
    return used.ru_utime + used.ru_stime


def write_wheels(folder, names):
    """Writes each wheel as zipfile would; at a millisecond per wheel, zipfile would dominate a round of a million."""
    first = folder / names[0]
    info, text = dist_info(names[0]), metadata(names[0])
    with zipfile.ZipFile(first, "w") as wheel:
        wheel.writestr(f"{info}/METADATA", text)
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: bench\nRoot-Is-Purelib: false\n")
        wheel.writestr(f"{info}/RECORD", "")
    pattern = first.read_bytes()
    assert pattern.count(checksum(text)) == 2 and pattern.count(text) == 1  # stored uncompressed; once in its own header, once in the directory
    for name in names[1:]:  # all have one length, and only METADATA's checksum depends on the name
        own = metadata(name)
        (folder / name).write_bytes(pattern.replace(info.encode(), dist_info(name).encode())
                                    .replace(checksum(text), checksum(own)).replace(text, own))


def metadata(filename):
    project = filename.split("-")[0].replace("_", "-")
    return f"Metadata-Version: 2.1\nName: {project}\nVersion: 1.0.0\nRequires-Python: >=3.9\n".encode()


def checksum(text):
    return struct.pack("<I", zlib.crc32(text))


def dist_info(filename):
    name, version = filename.split("-")[:2]
    return f"{name}-{version}.dist-info"


def files_in(folder):
    """Counts regular files and their bytes; links to existing files count as files."""
    count = size = 0
    folders = [folder]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    count += 1
                    size += entry.stat().st_size
    return count, size


def rows_of(given):
    """The measured programs, in order. Fails with a description of the problem."""
    rows = [*OURS, *PEERS]
    if given.shared_blobs:  # the first creates the tree that the second uses
        rows = ["wheelyard", "wheelyard, pages", *PEERS]
    if given.one_store:
        rows = [what for what in rows if what not in ("wheelyard, files seen", "wheelyard, all views")]
    if given.only:
        if unknown := set(given.only) - set(rows):
            raise ValueError(f"--only: no such row here: {'; '.join(sorted(unknown))}. There are: {'; '.join(rows)}")
        rows = [what for what in rows if what in given.only or what == "wheelyard"]
    return rows


def remove_pages(wheels):
    """Removes the output of an earlier run: everything except wheels."""
    for entry in wheels.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        elif entry.suffix != ".whl":
            entry.unlink()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", required=True, type=pathlib.Path)
    arguments.add_argument("--peers", required=True, type=pathlib.Path)
    arguments.add_argument("--projects", type=int, default=2_000)
    arguments.add_argument("--peer-projects", type=int, default=None, help="number of projects that the peers index")
    arguments.add_argument("--shared-blobs", action="store_true", help="ten wheels share a blob; only pages are measured then")
    arguments.add_argument("--one-store", action="store_true", help="ours first; the store is removed before the peers' wheels are created; one round each")
    arguments.add_argument("--only", nargs="+", default=None, metavar="NAME", help="only these programs; wheelyard always runs, because it creates the tree for the others")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--folder", type=pathlib.Path, default=None)
    given = results.parse_arguments(arguments)
    try:
        rows = rows_of(given)
    except ValueError as error:
        arguments.error(str(error))
    peer_projects = min(given.peer_projects or given.projects, given.projects)
    with tempfile.TemporaryDirectory(dir=given.folder, prefix="wheelyard-bench-") as name:
        folder = pathlib.Path(name)
        bin_folder = given.bin.absolute()
        store = Store(folder / "store", bin_folder, given.projects, shares_blobs=given.shared_blobs)
        wheels = folder / "wheels"
        wheels.mkdir()
        names = [file_name(project, version) for project in range(peer_projects) for version in range(FILES_PER_PROJECT)]
        wheels_wanted = "simple503" in rows or IN_PLACE in rows
        if wheels_wanted and not given.one_store:
            write_wheels(wheels, names)
        package_list = folder / "list.json"
        package_list.write_text("".join(json.dumps({"filename": filename, "hash": f"sha256={'0' * 64}", "requires_python": ">=3.9"}) + "\n"
                                        for filename in names))
        out = folder / "out"
        publish = [bin_folder / "wheelyard-indexer", "publish", "--store", store.data, "--to", out]
        commands = {
            "wheelyard": [*publish, "--no-find-links", "--no-precompressed"],
            "wheelyard, pages": [*publish, "--no-find-links", "--no-precompressed", "--all"],
            "wheelyard, files seen": [*publish, "--no-find-links", "--no-precompressed"],
            "wheelyard, all views": publish,
            "a folder and links": [bin_folder / "index_bound", store.data / "blobs/sha256", out],
            "dumb-pypi": [given.peers / "bin/dumb-pypi", "--package-list-json", package_list, "--packages-url", "../../files",
                          "--output-dir", out, "--no-per-release-json"],
            "simple503": [given.peers / "bin/simple503", "--sort", "--copy", "--extract-metadata", wheels, out],
            IN_PLACE: [given.peers / "bin/simple503", "--no-sort", "--no-copy", "--no-extract-metadata", wheels],
        }
        links = folder / "links.txt"
        links.write_text("".join(f"{wheel} {name} {metadata}\n" for wheel, name, metadata in
                                 store.catalog.execute("SELECT sha256, filename, metadata_sha256 FROM file ORDER BY id")))
        files = {what: FILES_PER_PROJECT * (peer_projects if what in PEERS else given.projects) for what in rows}
        rates = {what: [] for what in rows}
        print(f"load {os.getloadavg()[0]:.1f}; {given.projects} projects, {files['wheelyard']} files; the others' {FILES_PER_PROJECT * peer_projects}", flush=True)
        theirs_rows = [what for what in rows if what in PEERS]
        ours_rows = [what for what in rows if what not in PEERS]
        phases = [(given.rounds, ours_rows), (1, theirs_rows)] if given.one_store else [(given.rounds, rows)]
        for number, what in [(number, what) for rounds, whats in phases for number in range(rounds) for what in whats]:
            command = commands[what]
            if given.one_store and what in PEERS and store.folder.exists():
                store.catalog.close()
                shutil.rmtree(store.folder)
                shutil.rmtree(out)
                if wheels_wanted:
                    write_wheels(wheels, names)
            if what in ("wheelyard, pages", "wheelyard, files seen"):  # into the tree that "wheelyard" has created
                shutil.rmtree(out / "main/simple")
                if what == "wheelyard, files seen":
                    shutil.rmtree(out / ".wheelyard")
            else:
                shutil.rmtree(out, ignore_errors=True)
            if what == "a folder and links":
                out.mkdir()
            made = wheels if what == IN_PLACE else out
            if what == IN_PLACE:
                remove_pages(wheels)
            before = files_in(made) if number == 0 and made.exists() else (0, 0)
            rates[what].append(files[what] / run(command, links))
            print(f"{what:22} {files[what] / rates[what][-1]:.2f} CPU seconds", flush=True)
            if number == 0:
                count, size = (after - earlier for after, earlier in zip(files_in(made), before))
                print(f"{what:22} writes {count} files, {size / 1e6:.1f} MB", flush=True)
        for what, found in rates.items():
            print(f"{what:22} {statistics.median(found):10.0f} files per CPU second")

        def compare(ours, theirs):
            rounds = rates[theirs] * (given.rounds if given.one_store and theirs in PEERS else 1)
            return results.row(f"{ours}, {files[ours]:,} files", "files / CPU s", "higher", rates[ours], theirs, rounds)
        for ours in ours_rows:
            for theirs in theirs_rows:
                print(f"{ours:22} is {results.ratio_text(compare(ours, theirs))} times {theirs}")
        for question, (title, pairs) in QUESTIONS.items():
            if found := [compare(*pair) for pair in pairs if rates.keys() >= set(pair)]:
                results.record(given, question, title, found)


if __name__ == "__main__":
    main()
