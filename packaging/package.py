"""Makes the packages of Wheelyard in build/package, from a clean clone on Debian 12.

    scripts/package portable     static programs and their tarball, for x86_64 and aarch64, and their easyconfig
    scripts/package wheels       the wheels `wheelyard` and `avail-wheels`, of those programs
    scripts/package deb          Debian packages for this machine, with the distribution's libraries, and the wheels made before
    scripts/package all
    scripts/package sources      the pinned libraries, and which Debian has in a newer version; 1: there are some
    scripts/package rebuild      writes newer ones into packaging/sources.toml; a released version becomes the next .postN

A second run compiles only what has changed. The same commit gives the same bytes.
"""

import argparse
import json
import os
import platform
import re
import sys
from pathlib import Path

import contents
import debian
import easybuild
import fetch
import programs
import tarball
import wheels

MACHINES = ("x86_64", "aarch64")


def compile_for(machine, options):
    """The folder of the programs, and whether they are compiled here or the ones that the caller names."""
    folder = options.programs or programs.build(machine, options.jobs)
    if machine == platform.machine():
        contents.write_manual(folder)
    return folder, not options.programs


def make_portable(options):
    tarballs = [tarball.write(machine, *compile_for(machine, options), options.out) for machine in options.machine]
    return [*tarballs, easybuild.write(tarballs, programs.PROGRAMS, options.out)]


def make_wheels(options):
    return [path for machine in options.machine for path in wheels.write(machine, *compile_for(machine, options), options.out)]


def make_deb(options):
    folder = options.programs or debian.compile_programs(options.jobs)
    contents.write_manual(folder)
    return debian.write(folder, options.out)


def commit_of(options):
    """Of the programs in a package, which the caller may name, and of its other files; None: the programs do not say."""
    tree = fetch.commit()
    if not options.programs:
        return tree
    compiled = programs.commit_of(options.programs)
    if compiled and not tree.startswith(compiled):
        return f"{compiled}, with files of {tree}"
    return compiled and tree


def note_commit(made, commit, out):
    """Beside the packages: of which commit each is, and its digest. scripts/release takes no other file."""
    log = out / fetch.MADE
    noted = json.loads(log.read_text()) if log.exists() else {}
    noted |= {path.name: ({"commit": commit} if commit else {}) | {"sha256": fetch.sha256(path)} for path in made}
    log.write_text(json.dumps(noted, indent=2, sort_keys=True) + "\n")


def newer_sources():
    """Library → (version, SHA-256) of what the mirrors have in a newer version. Prints every library."""
    fetch.update_index()
    found = {name: fetch.newer(name) for name in fetch.LIBRARIES}
    for name, row in fetch.LIBRARIES.items():
        print(f"{name} {row['version']}" + (f", newer: {found[name][0]}" if found[name] else ""))
    return {name: row for name, row in found.items() if row}


def rewritten(text, rows, rebuild):
    """packaging/sources.toml with these versions and hashes, and that count of rebuilds."""
    for name, (version, digest) in rows.items():
        row = fetch.LIBRARIES[name]
        text = text.replace(f'name = "{name}"\nversion = "{row["version"]}"', f'name = "{name}"\nversion = "{version}"').replace(row["sha256"], digest)
    return re.sub(r"^rebuild = \d+$", f"rebuild = {rebuild}", text, flags=re.M)


def prepare_rebuild():
    """The headers come from installed packages, which no row names: a rebuild may have no newer row."""
    rebuild = fetch.SOURCES["rebuild"] + fetch.is_released()
    path = fetch.ROOT / "packaging/sources.toml"
    path.write_text(rewritten(path.read_text(), newer_sources(), rebuild))
    version = fetch.VERSION.removesuffix(fetch.REBUILD) + (f".post{rebuild}" if rebuild else "")
    print(f"packaging/sources.toml: the version is {version}" + ("" if fetch.is_released() else ", which no tag of this clone names as released"))


KINDS = {"portable": make_portable, "wheels": make_wheels, "deb": make_deb}


def main():
    parser = argparse.ArgumentParser(prog="scripts/package", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=[*KINDS, "all", "sources", "rebuild"])
    parser.add_argument("--machine", action="append", choices=MACHINES, help="default: both, or this one with --programs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compiles at a time")
    parser.add_argument("--programs", type=Path, help="package the programs of this folder instead of compiling them")
    parser.add_argument("--out", type=Path, default=fetch.STATE, help="folder of the packages; default: build/package")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    options.machine = options.machine or ([platform.machine()] if options.programs else list(MACHINES))
    if options.programs and len(options.machine) > 1:
        parser.error("--programs needs one --machine")
    try:
        if options.kind == "sources":
            sys.exit(1 if newer_sources() else 0)
        if options.kind == "rebuild":
            sys.exit(prepare_rebuild())
        if not options.programs and fetch.released_commit() not in (None, fetch.commit()):
            raise fetch.PackageError(f"{fetch.VERSION} is released, of another commit than this tree: `import` refuses other bytes of one version, and "
                                     "apt and pip keep what they have. `scripts/package rebuild` makes the next one, or a number in CMakeLists.txt")
        made = [Path(path) for kind, make in KINDS.items() if options.kind in (kind, "all") for path in make(options)]
        note_commit(made, commit_of(options), options.out)
    except fetch.PackageError as error:
        sys.exit(f"package: {error}")
    for path in made:
        print(f"{path.stat().st_size / 2**20:7.2f} MiB  {os.path.relpath(path)}")


if __name__ == "__main__":
    main()
