#!/usr/bin/env python3
"""Chooses wheels that nobody here has seen, by queries instead of by hand, and pins them in chosen.tsv.

  choose.py PACKAGES.tsv --into FOLDER >chosen.tsv

PACKAGES.tsv lists an index's packages: name, version, month, rank by downloads, summary. Each query of QUERIES takes the hits
in the order of their rank: packages whose summary matches, that wheels.tsv does not pin, and of which `pip download` has a
compiled wheel of at most MOST_BYTES for CPython 3.12 on x86_64. What has none is passed over, and named on stderr.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

from fetch import read_list, sha256_of

MOST_BYTES = 200_000_000
QUERIES = [(r"\b(cuda|gpu|gpus|rocm|mpi|hpc|tensorrt)\b", 18), (r"\b(bindings|rust|fortran)\b|c\+\+", 12)]
PLATFORMS = [f"manylinux_2_{minor}_x86_64" for minor in (34, 31, 28, 27, 26, 24, 17, 12, 5)]
PLATFORMS += ["manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64", "linux_x86_64"]


def hits(packages, pattern, known):
    rows = [line.split("\t") for line in packages.read_text(errors="replace").splitlines()[1:]]
    ranked = [(int(row[3]), row[0]) for row in rows if len(row) > 4 and row[3] and re.search(pattern, row[4], re.I)]
    return [name for _, name in sorted(ranked) if re.sub(r"[-_.]+", "_", name).lower() not in known]


def download(name, folder):
    """The compiled wheel that pip takes, or why there is none."""
    with tempfile.TemporaryDirectory(dir=folder) as fresh:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-cache-dir", "--no-deps",
                   "--only-binary", ":all:", "--python-version", "3.12", "--implementation", "cp", "--dest", fresh, name]
        for platform in PLATFORMS:
            command += ["--platform", platform]
        if subprocess.run(command, stderr=subprocess.DEVNULL).returncode != 0:
            return None, "no wheel"
        wheel = next(pathlib.Path(fresh).iterdir())
        if wheel.name.endswith("-any.whl"):
            return None, "not compiled"
        if wheel.stat().st_size > MOST_BYTES:
            return None, f"{wheel.stat().st_size} bytes"
        return wheel.rename(folder / wheel.name), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", type=pathlib.Path)
    parser.add_argument("--into", type=pathlib.Path, required=True)
    given = parser.parse_args()
    given.into.mkdir(parents=True, exist_ok=True)
    known = {wheel.parts[0].lower() for wheel in read_list()}
    print("# sha256, bytes, file name, its query and rank of the hit; written by choose.py, in the order of the hits.")
    for pattern, wanted in QUERIES:
        taken = 0
        for rank, name in enumerate(hits(given.packages, pattern, known), 1):
            if taken == wanted:
                break
            wheel, why = download(name, given.into)
            if wheel is None:
                print(f"{rank} {name}: {why}", file=sys.stderr, flush=True)
                continue
            known.add(wheel.name.split("-")[0].lower())
            taken += 1
            print(sha256_of(wheel), wheel.stat().st_size, wheel.name, f"{pattern} {rank}", sep="\t", flush=True)


if __name__ == "__main__":
    main()
