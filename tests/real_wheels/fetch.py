#!/usr/bin/env python3
"""Fetches the real wheels of wheels.tsv, each proven by its sha256, and the tools that they are compared with.

  fetch.py --small          wheels of up to 1 MB: a few MB together
  fetch.py                  of up to 50 MB each: about 0.5 GB
  fetch.py --all            all of them, torch with CUDA and ROCm included: about 6 GB
  fetch.py --all --list chosen.tsv  the wheels of another list: those that choose.py chose
  fetch.py --row FILE.whl   prints the row that pins FILE in wheels.tsv

They come by `pip download` from the index that this pip is configured for, and lie in --cache
($XDG_CACHE_HOME/wheelyard/real-wheels). What lies there already is hashed, not fetched again.
"""

import argparse
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass

LIST = pathlib.Path(__file__).with_name("wheels.tsv")
SETS = {"small": 1_000_000, "default": 50_000_000, "all": None}  # the largest wheel of each, in bytes
TOOLS = ["auditwheel==6.8.2", "abi3audit==0.0.26", "nvidia-cuda-cuobjdump==13.5.37"]


@dataclass(frozen=True)
class Wheel:
    filename: str
    size: int
    sha256: str
    why: str

    @property
    def parts(self):
        """name, version, python tags, ABI tag, platform tags"""
        name, version, *_, python, abi, platforms = self.filename.removesuffix(".whl").split("-")
        return name, version, python.split("."), abi, platforms.split(".")


def read_list(path=LIST):
    wheels = []
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            sha256, size, filename, why = line.split("\t")
            wheels.append(Wheel(filename, int(size), sha256, why))
    return wheels


def wheels_of(chosen, path=LIST):
    most = SETS[chosen]
    return [wheel for wheel in read_list(path) if most is None or wheel.size <= most]


def default_cache():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "wheelyard" / "real-wheels"


def add_set_arguments(parser):
    group = parser.add_mutually_exclusive_group()
    for name in ("small", "all"):
        group.add_argument(f"--{name}", dest="chosen", action="store_const", const=name)
    parser.set_defaults(chosen="default")
    parser.add_argument("--cache", type=pathlib.Path, default=default_cache())
    parser.add_argument("--list", type=pathlib.Path, default=LIST, help="the list of wheels (default: wheels.tsv)")


def sha256_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def pip_arguments(wheel):
    name, version, pythons, abi, platforms = wheel.parts
    newest = pythons[-1].removeprefix("cp").removeprefix("py")
    arguments = ["--only-binary", ":all:", "--no-deps", "--ignore-requires-python", "--abi", abi,
                 "--implementation", pythons[-1][:2], "--python-version", newest if len(newest) > 1 else "3.12"]
    for platform in platforms:
        arguments += ["--platform", platform]
    return arguments


def fetch(wheel, cache):
    """True when the wheel was not there before."""
    path = cache / wheel.filename
    if path.exists() and sha256_of(path) == wheel.sha256:
        return False
    name, version, *_ = wheel.parts
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        requirement = pathlib.Path(folder, "requirements.txt")
        requirement.write_text(f"{name}=={version} --hash=sha256:{wheel.sha256}\n")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-cache-dir",
                   "--dest", folder, "--requirement", requirement, *pip_arguments(wheel)]
        if subprocess.run(command).returncode != 0:
            raise SystemExit(f"fetch: {wheel.filename} could not be fetched by its hash")
        pathlib.Path(folder, wheel.filename).rename(path)
    return True


def prepare_tools(cache):
    """The folder of a Python environment that holds TOOLS; made once."""
    folder = cache / "tools"
    stamp = folder / "complete"
    if not stamp.exists() or stamp.read_text().split() != TOOLS:
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *TOOLS],
                       check=True)
        stamp.write_text("\n".join(TOOLS))
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_set_arguments(parser)
    parser.add_argument("--row", type=pathlib.Path, metavar="FILE")
    given = parser.parse_args()
    if given.row:
        print(sha256_of(given.row), given.row.stat().st_size, given.row.name, "why it is here", sep="\t")
        return
    given.cache.mkdir(parents=True, exist_ok=True)
    prepare_tools(given.cache)
    wheels = wheels_of(given.chosen, given.list)
    for number, wheel in enumerate(wheels, 1):
        fetched = fetch(wheel, given.cache)
        print(f"{number:3} of {len(wheels)}  {'fetched' if fetched else 'there  '}  {wheel.filename}", flush=True)


if __name__ == "__main__":
    main()
