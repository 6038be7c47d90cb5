"""Golden files of scripts and user files: NAME.sh is a script with the header of its job, NAME.txt the files for users, NAME.diff how
others differ from one of these.

    golden.py NAME…     prints each whole: builder/sites/archer2-mpi4py
"""

import functools
import re
import sys
from pathlib import Path

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


def changed(base, changes):
    """`base` with the changes of a unified diff without context; both are lists of lines."""
    lines, done = [], 0
    for line in changes:
        if hunk := HUNK.match(line):
            removed = int(hunk[2] or 1)
            begin = int(hunk[1]) - (removed > 0)  # without a removed line it is the line before the added ones
            lines += base[done:begin]
            done = begin
        elif line.startswith("-"):
            assert base[done] == line[1:], f"the diff was made for another text: {line}"
            done += 1
        else:
            assert line.startswith("+"), line
            lines.append(line[1:])
    return lines + base[done:]


@functools.cache
def read(name):
    difference = GOLDEN / f"{name}.diff"
    whole = [file for file in (GOLDEN / f"{name}.sh", GOLDEN / f"{name}.txt") if file.exists()]
    assert len(whole) + difference.exists() == 1, f"one file of {name}"
    if whole:
        return whole[0].read_text()
    older, _, *changes = difference.read_text().splitlines(keepends=True)
    return "".join(changed(read(older.removeprefix("--- ").rstrip()).splitlines(keepends=True), changes))


@functools.cache
def of_site(folder, site):
    """NAME → text of each script in builder/FOLDER whose name begins with the site's."""
    names = {path.stem for path in (GOLDEN / "builder" / folder).glob(f"{site}*") if path.suffix in (".sh", ".diff")}
    return {name: read(f"builder/{folder}/{name}") for name in sorted(names)}


def job_and_script(text):
    """The directives of the job, and the script."""
    header, shebang, script = text.partition("#!/bin/bash\n")
    return header, shebang + script


if __name__ == "__main__":
    sys.stdout.writelines(map(read, sys.argv[1:]))
