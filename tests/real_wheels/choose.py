#!/usr/bin/env python3
"""Chooses wheels that nobody here has seen, by queries instead of by hand, and pins them in chosen.tsv or sampled.tsv.

  choose.py PACKAGES.tsv --into FOLDER >chosen.tsv
  choose.py PACKAGES.tsv --into FOLDER --sample 2026-11-28 >sampled.tsv
  choose.py PACKAGES.tsv --into FOLDER --sample 2026-11-29 --wheels 60 --but sampled.tsv >sampled_60.tsv
  choose.py PACKAGES.tsv --into FOLDER --sample 2026-11-29 --wheels 20 --compiled --machine aarch64 >sampled_aarch64.tsv
  choose.py PACKAGES.tsv --into FOLDER --sample 2026-11-30 --wheels 100 --required --but sampled.tsv --but sampled_60.tsv \
            >sampled_required_311.tsv

PACKAGES.tsv lists an index's packages: name, version, month, rank by downloads, summary. Each query of QUERIES takes the hits
in the order of their rank: packages whose summary matches, that no list pins, and of which `pip download` has a
compiled wheel of at most MOST_BYTES for CPython 3.12 on x86_64. Those of SAMPLES take their hits in the order of the SHA-256 of
the seed and their name, and the wheel for CPython 3.11; the first of them takes any wheel, or with --compiled none for `any`.
--wheels asks for so many instead of 200, in the same shares. What has none is passed over, and named on stderr.

With --required a hit of REQUIRED brings the wheels of all that it requires, too, as pip resolves that; the hit after which there are
so many is the last one. A few names are asked for, and what comes is what people install.
"""

import argparse
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile

from fetch import LIST, read_list, sha256_of

MOST_BYTES = 200_000_000
QUERIES = [(r"\b(cuda|gpu|gpus|rocm|mpi|hpc|tensorrt)\b", 18), (r"\b(bindings|rust|fortran)\b|c\+\+", 12)]
SAMPLES = [("", 140), (r"\b(bindings?|rust|cython|fast|native|extension|wrapper|numerical|geometry|image|audio|compression)\b|c\+\+", 60)]
REQUIRED = r"\b(analysis|simulations?|scientific|workflows?|pipelines?|datasets?)\b"
LIMIT_S = 600
PLATFORMS = [f"manylinux_2_{minor}" for minor in (34, 31, 28, 27, 26, 24, 17, 12, 5)]
PLATFORMS += ["manylinux2014", "manylinux2010", "manylinux1", "linux"]


def packages_of(path):
    """(rank, name, summary) of those with a rank."""
    rows = [line.split("\t") for line in path.read_text(errors="replace").splitlines()[1:]]
    return [(int(row[3]), row[0], row[4]) for row in rows if len(row) > 4 and row[3]]


def hits(packages, pattern, order):
    return [name for _, name, summary in sorted(packages, key=order) if re.search(pattern, summary, re.I)]


def download(name, folder, python, machine, only_compiled, with_required):
    """The wheels that pip takes, or why there is none."""
    with tempfile.TemporaryDirectory(dir=folder) as fresh:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-cache-dir",
                   "--only-binary", ":all:", "--python-version", python, "--implementation", "cp", "--dest", fresh, name]
        command += [] if with_required else ["--no-deps"]
        for platform in PLATFORMS:
            command += ["--platform", f"{platform}_{machine}"]
        try:
            if subprocess.run(command, stderr=subprocess.DEVNULL, timeout=LIMIT_S).returncode != 0:
                return [], "no wheel, or of something that it requires"
        except subprocess.TimeoutExpired:
            return [], f"more than {LIMIT_S} s"
        wheels = sorted(pathlib.Path(fresh).iterdir())
        if only_compiled and wheels[0].name.endswith("-any.whl"):
            return [], "not compiled"
        sizes = [wheel.stat().st_size for wheel in wheels]
        if not with_required and sizes[0] > MOST_BYTES:
            return [], f"{sizes[0]} bytes"
        return [wheel.rename(folder / wheel.name) for wheel, size in zip(wheels, sizes) if size <= MOST_BYTES], ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", type=pathlib.Path)
    parser.add_argument("--into", type=pathlib.Path, required=True)
    parser.add_argument("--sample", metavar="SEED")
    parser.add_argument("--wheels", type=int, default=sum(wanted for _, wanted in SAMPLES), help="so many of a sample")
    parser.add_argument("--but", type=pathlib.Path, action="append", default=[], help="a list whose packages are left out, too")
    parser.add_argument("--machine", default="x86_64")
    parser.add_argument("--python", default="3.11", help="that the wheels of a sample are for")
    parser.add_argument("--required", action="store_true", help="with the wheels of all that a hit requires")
    parser.add_argument("--compiled", action="store_true", help="no wheel for `any`")
    given = parser.parse_args()
    given.into.mkdir(parents=True, exist_ok=True)
    packages = packages_of(given.packages)
    queries, python, order = QUERIES, "3.12", None
    if given.sample:
        whole = sum(wanted for _, wanted in SAMPLES)
        queries, python = [(pattern, wanted * given.wheels // whole) for pattern, wanted in SAMPLES], given.python
        if given.required:
            queries = [(REQUIRED, given.wheels)]

        def order(row):
            return hashlib.sha256(f"{given.sample} {row[1]}".encode()).digest()

    lists = (LIST, LIST.with_name("chosen.tsv"), *given.but)
    known = {wheel.parts[0].lower() for path in lists for wheel in read_list(path)}
    listed = set()
    print("# sha256, bytes, file name, its query and rank of the hit; written by choose.py, in the order of the hits.")
    for pattern, wanted in queries:
        taken = 0
        names = hits(packages, pattern, order)
        for rank, name in enumerate((name for name in names if re.sub(r"[-_.]+", "_", name).lower() not in known), 1):
            if taken >= wanted:
                break
            wheels, why = download(name, given.into, python, given.machine, bool(pattern) and not given.required or given.compiled,
                                   given.required)
            if not wheels:
                print(f"{rank} {name}: {why}", file=sys.stderr, flush=True)
            for wheel in wheels:
                project = wheel.name.split("-")[0].lower()
                if project in known or wheel.name in listed:
                    continue
                listed.add(wheel.name)
                if not given.required:  # what is required comes in several versions
                    known.add(project)
                taken += 1
                query = f"required by {rank} {name}" if given.required else f"{pattern or 'all'} {rank}"
                print(sha256_of(wheel), wheel.stat().st_size, wheel.name, query, sep="\t", flush=True)


if __name__ == "__main__":
    main()
