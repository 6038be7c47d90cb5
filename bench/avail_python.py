#!/usr/bin/env python3
"""The peer of avail_query.py: a careful Python script over a wheelhouse, in the style of the Alliance's own.

    avail_python.py WHEELHOUSE 'torch'

Lists the folder, parses the names, keeps the newest version of each matching package, and prints tabulate's "simple"
table. The table is drawn by hand, so that tabulate's import time does not count.
"""

import fnmatch
import os
import re
import sys

from packaging.version import Version

WHEEL = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(-(?P<build>\d[^-]*))?-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl")


def main() -> None:
    folder, pattern = sys.argv[1], sys.argv[2].lower().replace("-", "_")
    found: dict[str, list] = {}
    for name in os.listdir(folder):
        match = WHEEL.fullmatch(name)
        if match and fnmatch.fnmatchcase(match["name"].lower(), pattern):
            found.setdefault(match["name"].lower(), []).append(match)
    rows = []
    for name in sorted(found):
        wheels = [(Version(match["version"]), match) for match in found[name]]
        newest = max(version for version, _ in wheels)
        for version, match in sorted(wheels, key=lambda pair: (pair[0], pair[1]["platform"], pair[1]["python"]), reverse=True):
            if version == newest:
                platform = match["platform"]
                rows.append((match["name"], str(version.public), match["python"].replace(".", ","),
                             "generic" if platform == "any" else platform.split("_", 1)[1]))
    header = ("name", "version", "python", "arch")
    widths = [max([len(title) + 2] + [len(row[i]) for row in rows]) for i, title in enumerate(header)]
    lines = [header, tuple("-" * width for width in widths), *rows]
    sys.stdout.write("".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() + "\n" for line in lines))


if __name__ == "__main__":
    main()
