"""Makes the packages of Wheelyard in build/package, from a clean clone on Debian 12.

    scripts/package portable     static programs and their tarball, for x86_64 and aarch64, and their easyconfig
    scripts/package wheels       the wheels `wheelyard` and `avail-wheels`, of those programs
    scripts/package deb          Debian packages for this machine, with the distribution's libraries, and the wheels made before
    scripts/package all
    scripts/package sources      the pinned libraries, and for each that Debian has in a newer version its row; 1: there are some

A second run compiles only what has changed. The same commit gives the same bytes.
"""

import argparse
import json
import os
import platform
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


def print_sources():
    """Whether the mirrors have a newer version of any library."""
    fetch.update_index()
    outdated = False
    for name, row in fetch.LIBRARIES.items():
        newer = fetch.newer(name)
        print(f"{name} {row['version']}" + (", newer, for packaging/sources.toml:" if newer else ""))
        if newer:
            outdated = True
            print(f'    version = "{newer[0]}"\n    sha256 = "{newer[1]}"')
    return outdated


KINDS = {"portable": make_portable, "wheels": make_wheels, "deb": make_deb}


def main():
    parser = argparse.ArgumentParser(prog="scripts/package", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=[*KINDS, "all", "sources"])
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
            sys.exit(print_sources())
        made = [Path(path) for kind, make in KINDS.items() if options.kind in (kind, "all") for path in make(options)]
        note_commit(made, commit_of(options), options.out)
    except fetch.PackageError as error:
        sys.exit(f"package: {error}")
    for path in made:
        print(f"{path.stat().st_size / 2**20:7.2f} MiB  {os.path.relpath(path)}")


if __name__ == "__main__":
    main()
