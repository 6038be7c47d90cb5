#!/usr/bin/env python3
"""Checks that every item of the sites' documents has its place here, or a reason.

    items.py                      each row of items/SITE.toml: the file that it names has the text
    items.py --documents DIR      each item is in its document, too, word for word

A row: what the document says, the file, the text in it (none: the item itself), and why it differs. A row without a file is missing here, and
says why. Every command of SITE.commands, which compare.py takes from the document, belongs to an item or to a reason of
SITE.differences.toml. Without documents the table is printed that docs/how-to/sites/README.md has.
"""

import argparse
import sys
import tomllib
from pathlib import Path

from compare import DOCUMENTS, GOLDEN, HERE, normalise, plain, read_differences

ROOT = HERE.parents[1]


def place_of(site, name):
    """`script`, `job`, `test`, `users`, `page`, `site`, a companion's script, or a path in the repository."""
    known = {"script": GOLDEN / f"{site}.sh", "job": GOLDEN / f"{site}.job.sh", "test": GOLDEN / "tests" / f"{site}.multi-node-test.sh",
             "users": GOLDEN.parent / "users" / f"{site}.txt", "page": ROOT / "docs/how-to/sites" / f"{site}.md",
             "site": ROOT / "site-configs" / site / "site.toml"}
    companion = GOLDEN / f"{site}-{name}.sh"
    return known.get(name) or (companion if companion.exists() else ROOT / name)


def read_items(site):
    rows = tomllib.loads((HERE / "items" / f"{site}.toml").read_text())["items"]
    return [(*row, *[""] * (4 - len(row))) for row in rows]


def check(site, items=None):
    """What is wrong, as sentences."""
    problems, seen = [], set()
    for says, where, text, why in items or read_items(site):
        if says in seen:
            problems.append(f"{site}: twice: {says}")
        seen.add(says)
        if not where:
            if not why.strip() or text:
                problems.append(f"{site}: missing, without a reason: {says}")
            continue
        place = place_of(site, where)
        if not place.is_file():
            problems.append(f"{site}: no file {place}: {says}")
        elif (text or says) not in place.read_text():
            problems.append(f"{site}: {where} does not say `{text or says}`: {says}")
    return problems


def uncovered_commands(site, items=None):
    """Commands of the document that no item has, and no listed difference."""
    rows = read_items(site) if items is None else items
    said = [plain(says) for says, *_ in rows] + [command for says, *_ in rows for command in normalise(says)]
    differences = read_differences(site)
    return [f"{site}: no item has the document's command: {command}" for command in (HERE / f"{site}.commands").read_text().splitlines()
            if not any(command.removeprefix("module ").removeprefix("env ") in one for one in said)
            and not any(one.covers("document", command) for one in differences)]


def table():
    lines = ["| site | items of its document | covered | differently, and why | missing, and why |", "|---|---|---|---|---|"]
    for site in DOCUMENTS:
        rows = read_items(site)
        numbers = (len(rows), sum(bool(where) and not why for _, where, _, why in rows), sum(bool(where and why) for _, where, _, why in rows),
                   sum(not where for _, where, _, _ in rows))
        lines.append(f"| {site} | " + " | ".join(str(number) for number in numbers) + " |")
    return "\n".join(lines) + "\n"


def not_in_document(site, documents):
    [document] = documents.glob(DOCUMENTS[site] + "*")
    text = " ".join(document.read_text(errors="replace").split())
    return [f"{site}: not in the document: {says}" for says, *_ in read_items(site) if " ".join(says.split()) not in text]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--documents", type=Path, metavar="DIR", help="the folder with the sites' documents")
    arguments = parser.parse_args()
    problems = []
    for site in DOCUMENTS:
        problems += check(site)
        problems += uncovered_commands(site)
        if arguments.documents:
            problems += not_in_document(site, arguments.documents)
    print(table() + "\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
