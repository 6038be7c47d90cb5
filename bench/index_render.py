#!/usr/bin/env python3
"""How many files a second does one core turn into an index, beside dumb-pypi and simple503?

Each makes its whole index of the same wheels, in turns; ten wheels a project. What each writes and reads:

    wheelyard             from its catalog: HTML and JSON pages, a folder and two hard links a wheel (file, METADATA), event log,
                          catalogue with facts; all of it synced
    wheelyard, all views  the same with a link a wheel in find-links/, and compressed pages
    wheelyard, pages      the same as the first into a tree that knows that its files are there: pages, event log, catalogue
    wheelyard, files seen the same into a tree whose own record is lost, so that it looks at two files a wheel
    dumb-pypi             from a list with hashes: HTML pages, a JSON document a project, a changelog, a list of packages; no files,
                          nothing looked at, nothing synced
    simple503             from a folder of wheels, each of which it opens: HTML pages, copies of the wheels and their METADATA; nothing synced

Like for like are `wheelyard, pages` with dumb-pypi and `wheelyard` with simple503; the other ratios stand beside them.
Printed: the machine's load, what each wrote in the first round, files per second of CPU time (medians), and each of ours over each of theirs.

    python3 -m venv PEERS && PEERS/bin/pip install dumb-pypi simple503
    bench/index_render.py --bin build/release/bin --peers PEERS [--projects 2000] [--rounds 3] [--folder /dev/shm]
"""

import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import tempfile
import zipfile

from index_store import FILES_PER_PROJECT, Store, file_name


def cpu_of(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write_wheel(path):
    name, version = path.name.split("-")[:2]
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Python: >=3.9\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: bench\nRoot-Is-Purelib: false\n")
        wheel.writestr(f"{info}/RECORD", "")


def written(out, before):
    """Regular files that are new, and their bytes; links to what was there count as files."""
    new = [path for path in out.rglob("*") if path.is_file() and not path.is_symlink() and str(path) not in before]
    return len(new), sum(path.stat().st_size for path in new)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", required=True, type=pathlib.Path)
    arguments.add_argument("--peers", required=True, type=pathlib.Path)
    arguments.add_argument("--projects", type=int, default=2_000)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--folder", type=pathlib.Path, default=None)
    given = arguments.parse_args()
    files = given.projects * FILES_PER_PROJECT
    with tempfile.TemporaryDirectory(dir=given.folder, prefix="wheelyard-bench-") as name:
        folder = pathlib.Path(name)
        bin_folder = given.bin.resolve()
        store = Store(folder / "store", bin_folder, given.projects, shares_blobs=False)
        wheels = folder / "wheels"
        wheels.mkdir()
        names = [file_name(project, version) for project in range(given.projects) for version in range(FILES_PER_PROJECT)]
        for filename in names:
            write_wheel(wheels / filename)
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
            "dumb-pypi": [given.peers / "bin/dumb-pypi", "--package-list-json", package_list, "--packages-url", "../../files",
                          "--output-dir", out, "--no-per-release-json"],
            "simple503": [given.peers / "bin/simple503", "--sort", "--copy", "--extract-metadata", wheels, out],
        }
        rates = {what: [] for what in commands}
        print(f"load {os.getloadavg()[0]:.1f}; {given.projects} projects, {files} files")
        for number in range(given.rounds):
            for what, command in commands.items():
                if what in ("wheelyard, pages", "wheelyard, files seen"):  # into the tree that "wheelyard" has made
                    shutil.rmtree(out / "main/simple")
                    shutil.rmtree(out / "main/events")
                    if what == "wheelyard, files seen":
                        shutil.rmtree(out / ".wheelyard")
                else:
                    shutil.rmtree(out, ignore_errors=True)
                before = {str(path) for path in out.rglob("*")} if number == 0 else set()
                rates[what].append(files / cpu_of(command))
                if number == 0:
                    count, size = written(out, before)
                    print(f"{what:22} writes {count} files, {size / 1e6:.1f} MB")
        for what, found in rates.items():
            print(f"{what:22} {statistics.median(found):10.0f} files per CPU second")
        for ours in [what for what in rates if what.startswith("wheelyard")]:
            for theirs in [what for what in rates if not what.startswith("wheelyard")]:
                ratios = [ours_rate / theirs_rate for ours_rate, theirs_rate in zip(rates[ours], rates[theirs])]
                print(f"{ours:22} is {statistics.median(ratios):6.2f} times {theirs} ({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
