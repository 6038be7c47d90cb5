#!/usr/bin/env python3
"""avail_wheels beside the script of the Alliance's clusters, in 160 combinations of names and options.

    bench/avail_options.py build/release/bin/avail_wheels V/bin/python FOLDER/avail_wheels.py

Their script (version 2.1.3 of ComputeCanada/avail_wheels) is not part of this project. It needs a virtual environment V with
tabulate, packaging 21.3, pip 24.2 and pyparsing. Both programs run in an environment like that of their nodes, over the same folders. Standard output and exit code are compared.
Each combination that differs needs a reason of reason_of(),
otherwise the exit code is 1. `--table` prints the table for
docs/reference/avail_wheels.md.
"""

import itertools
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

# arch folder → wheels
WHEELHOUSE = {
    "generic/generic": [
        "certifi-2023.7.22-py3-none-any.whl", "h5netcdf-0.7.4-py2.py3-none-any.whl", "h5netcdf-1.3.0+computecanada-py3-none-any.whl",
        "packaging-21.3-py3-none-any.whl", "pydicom-0.9.9-py3-none-any.whl", "pydicom-1.1.0-1-py2.py3-none-any.whl",
        "pytz-2004d-py3-none-any.whl", "pytz-2023.3-py3-none-any.whl", "tabulate-0.8.10-py3-none-any.whl",
    ],
    "gentoo2023/generic": [
        "numpy-1.21.6+computecanada-cp310-cp310-linux_x86_64.whl", "numpy-1.26.4+computecanada-cp310-cp310-linux_x86_64.whl",
        "numpy-1.26.4+computecanada-cp311-cp311-linux_x86_64.whl", "netCDF4-1.5.8+computecanada-cp310-cp310-linux_x86_64.whl",
        "scipy-1.9.3+computecanada-cp311-cp311-linux_x86_64.whl", "scipy-1.11.2+computecanada-cp310-cp310-linux_x86_64.whl",
        "scipy-1.11.2+computecanada-cp311-cp311-linux_x86_64.whl",
        "scipy-1.11.2+other-cp311-cp311-linux_x86_64.whl", "scipy-1.12.0rc1+computecanada-cp311-cp311-linux_x86_64.whl",
        "shiboken6-6.5.0-6.5.0-cp37-abi3-linux_x86_64.whl",
    ],
    "gentoo2023/avx2": [
        "netCDF4-1.6.4+computecanada-cp310-cp310-linux_x86_64.whl", "netCDF4-1.6.4+computecanada-cp311-cp311-linux_x86_64.whl",
        "numpy-1.22.4+computecanada-cp310-cp310-linux_x86_64.whl", "numpy-1.26.4+computecanada-cp311-cp311-linux_x86_64.whl",
        "torch-1.13.1+computecanada-cp310-cp310-linux_x86_64.whl", "torch-2.1.0+computecanada-cp310-cp310-linux_x86_64.whl",
        "torch-2.1.0+computecanada-cp311-cp311-linux_x86_64.whl", "torch-2.9.1+computecanada-cp311-cp311-linux_x86_64.whl",
        "torch-2.10.0+computecanada-cp311-cp311-linux_x86_64.whl",
    ],
}
PYTHONS = ["3.10.2", "3.11.5"]

NAMES = [(), ("numpy",), ("*cdf*",), ("numpy", "scipy", "nothing"), ("numpy<1.23",), ("TORCH",), ("torch==2.1.0+computecanada",), ("pytz",)]
OPTIONS = [(), ("--all-versions",), ("--all_versions", "--condense"), ("-v", "1.26.4"), ("-v", "1.2*"), ("-p", "3.11"),
           ("-p", "3.10", "3.11"), ("--all_pythons",), ("-a", "avx2"), ("-a", "avx2", "generic"), ("--all-archs",), ("--all",),
           ("--raw",), ("--raw", "--all-versions"), ("--condense", "--all-pythons"),
           ("--column", "name", "version", "localversion", "build", "abi", "platform"), ("--mediawiki",), ("--format", "github"),
           ("--not-available",), ("--not-available-only", "--format", "plain")]
TRACEBACK = "their script ends with a traceback, ours lists"
PATTERN = "`-v 1.2*` with a name: theirs lists nothing (PEP 440 has only `1.2.*`), ours takes it as a pattern"
NAMELESS = "`-v` without a name: theirs ignores it and lists all versions, ours lists that version of everything"
REPEATED = "wheels that differ in no column that is shown: theirs repeats the row, ours has it once"
STABLE_ABI = "an `abi3` wheel for an older Python, which pip takes: theirs does not list it"
PRERELEASE = "a pre-release with a name and `--all-versions`: theirs never lists it, ours lists every version, as the option says"
LOCAL = "several local versions of the newest version: theirs lists the one that sorts last, ours all, as `2.4.0+cu126` and `2.4.0+cpu`"
NUMBERS = "versions that are all numbers: theirs aligns them as numbers and shows 1.10 as 1.1, ours shows them as they are"
NO_VERSION = "a file whose version is none of PEP 440 (`2004d`): theirs lists it, ours passes it over as pip does since 24.1"
ORDER = "`--raw`: theirs in the order of the folder, ours in that of the table"


def write_house(folder: Path) -> dict[str, str]:
    for place, wheels in WHEELHOUSE.items():
        (folder / "wheelhouse" / place).mkdir(parents=True)
        for wheel in wheels:
            (folder / "wheelhouse" / place / wheel).write_bytes(b"x")  # avail_wheels passes over empty files
    for version in PYTHONS:
        (folder / "pythons" / version).mkdir(parents=True)
    links = " ".join(str(folder / "wheelhouse" / place) for place in ("gentoo2023/avx2", "gentoo2023/generic", "generic/generic"))
    (folder / "pip.conf").write_text(f"[wheel]\nfind-links = {links}\n")
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8", "WHEELHOUSE": str(folder / "wheelhouse"),
            "PYTHON_DIRS": str(folder / "pythons"), "PIP_CONFIG_FILE": str(folder / "pip.conf")}


def ask(command: list[str], words: tuple[str, ...], environment: dict[str, str]) -> tuple[int, str, str]:
    done = subprocess.run([*command, *words], env=environment, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def lines_of(text: str) -> list[str]:
    """The lines without the table's lines and widths."""
    words = (re.sub(r'[\s|]+|style="text-align: right;"', " ", line).strip() for line in text.splitlines())
    return [re.sub(" +", " ", line) for line in words if re.search(r"\w", line)]


def rows_of(text: str) -> Counter[str]:
    return Counter(lines_of(text))


def reason_of(words: tuple[str, ...], ours: tuple[int, str, str], theirs: tuple[int, str, str]) -> str | None:
    """Why the outputs differ, or None if these reasons do not explain every row."""
    if theirs[0] == 1 and "Error: " in theirs[2] and ours[0] == 0:
        return TRACEBACK
    if ours[0] != theirs[0]:
        return None
    if lines_of(ours[1]) == lines_of(theirs[1]):
        return NUMBERS
    if "-v" in words:
        return NAMELESS if words[0] == "-v" else PATTERN if "1.2*" in words and not rows_of(theirs[1]) - rows_of(ours[1]) else None
    mine, other = rows_of(ours[1]), rows_of(theirs[1])
    differing = (mine - other) + (other - mine)
    reasons = set()
    for row in differing:
        if mine[row] == 1 and other[row] > 1:
            reasons.add(REPEATED)
        elif re.search(r"\bshiboken6\b", row) and row in mine:
            reasons.add(STABLE_ABI)
        elif re.search(r"\bpytz\b", row):
            reasons.add(NO_VERSION)
        elif re.search(r"\bscipy\b", row):
            reasons.add(PRERELEASE if {"--all-versions", "--all_versions", "--all"} & set(words) else LOCAL)
        else:
            return None
    if "--raw" in words:
        reasons.add(ORDER)
    return "; ".join(sorted(reasons)) or None


def main() -> int:
    shows_table = "--table" in sys.argv
    ours_program, *their_program = [word for word in sys.argv[1:] if word != "--table"]
    counts: Counter[str] = Counter()
    unexplained = 0
    with tempfile.TemporaryDirectory() as folder:
        environment = write_house(Path(folder))
        for names, options in itertools.product(NAMES, OPTIONS):
            words = (*names, *options)
            ours, theirs = ask([ours_program], words, environment), ask(their_program, words, environment)
            if ours[:2] == theirs[:2]:
                counts["equal"] += 1
                continue
            reason = reason_of(words, ours, theirs)
            counts[reason or "unexplained"] += 1
            if reason is None:
                unexplained += 1
                print(f"--- {' '.join(words)}\ntheirs {theirs[0]}:\n{theirs[1]}{theirs[2][-300:]}ours {ours[0]}:\n{ours[1]}{ours[2]}")
    if shows_table:
        reasons: Counter[str] = Counter()
        for result, count in counts.items():
            reasons.update({reason: count for reason in result.split("; ") if result != "equal"})
        print(f"| combinations | result |\n|--:|---|\n| {counts['equal']} | equal |")
        print(f"| {counts.total() - counts['equal']} | different, for one or more of these reasons |")
        for reason, count in reasons.most_common():
            print(f"| {count} | {reason} |")
    else:
        print(dict(counts))
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
