#!/usr/bin/env python3
"""What has moved in the repositories that the sites' stacks of today were read in.

    moved.py                                 the sources: repository, path, commit
    moved.py ComputeCanada/wheels_builder=DIR …   each of their texts that the file in DIR no longer has, and what it has beside it

DIR is a checkout or a kept copy of that repository. Exit 1: something moved.
"""

import difflib
import subprocess
import sys
import tomllib
from pathlib import Path

FACTS = Path(__file__).resolve().parent / "facts"


def sources():
    """(site, name, source) of every source in a repository."""
    for file in sorted(FACTS.glob("*.today.toml")):
        for name, source in tomllib.loads(file.read_text())["sources"].items():
            if "repository" in source:
                yield file.name.partition(".")[0], name, source


def words(text):
    return " ".join(text.split())


def moved(source, folder):
    """What the file no longer says, as sentences."""
    file = folder / source["path"]
    if not file.is_file():
        return [f"{source['path']} is gone"]
    text = file.read_text(errors="replace")
    lines = [words(line) for line in text.splitlines()]
    found = []
    for said in map(words, source["says"]):
        if said in words(text):
            continue
        near = difflib.get_close_matches(said, lines, n=1, cutoff=0.3) or [line for line in lines if said.split()[0] in line][:1]
        found.append(f"{source['path']} said `{said}`" + (f"; now `{near[0][:240]}`" if near else ""))
    return found


def commit_of(folder):
    done = subprocess.run(["git", "-C", folder, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else "a copy"


def main():
    folders = dict(one.split("=", 1) for one in sys.argv[1:])
    if unknown := folders.keys() - {source["repository"] for _, _, source in sources()}:
        sys.exit(f"moved.py: no source is in {', '.join(sorted(unknown))}")
    total = 0
    for site, name, source in sources():
        place = f"{site}.{name}: {source['repository']}/{source['path']}, {source.get('commit', 'November 2026')}"
        if source["repository"] not in folders:
            if not folders:
                print(place)
            continue
        folder = Path(folders[source["repository"]])
        problems = moved(source, folder)
        print(f"{place} -> {commit_of(folder)}: {len(problems)} of {len(source['says'])} texts moved", *problems, sep="\n  ")
        total += len(problems)
    return total > 0


if __name__ == "__main__":
    sys.exit(main())
