#!/usr/bin/env python3
"""Checks that every item of the sites' documents has its place here, or a reason.

    items.py                      each row of items/SITE.toml: the file that it names has the text
    items.py --documents DIR      each item is in its document, too, word for word
    items.py --sample COUNT       that many rows for a reader, by the SHA-256 of "SITE\\nITEM"

A row: what the document says, the file, the text in it (none: the item itself), and why it differs. A row without a file is missing here, and
says why. Every command of SITE.commands, which compare.py takes from the document, belongs to an item or to a reason of
SITE.differences.toml. Without documents the table is printed that docs/how-to/sites/README.md has.
"""

import argparse
import hashlib
import sys
import tomllib
from pathlib import Path

import golden
from compare import DOCUMENTS, HERE, normalise, plain, read_differences

ROOT = HERE.parents[1]


def text_of(site, name):
    """Of `script`, `job`, `test`, `users`, `page`, `site`, a companion's script, or a path in the repository; None: there is none."""
    if name in ("script", "job"):
        return golden.job_and_script(golden.read(f"builder/sites/{site}"))[name == "script"]
    if name == "test":
        return golden.read(f"builder/sites/tests/{site}.multi-node-test")
    if (companion := f"{site}-{name}") in (scripts := golden.of_site("sites", site)):
        return scripts[companion]
    if name == "users":
        return golden.read(f"builder/users/{site}")
    files = {"page": ROOT / f"docs/how-to/sites/{site}.md", "site": ROOT / f"site-configs/{site}/site.toml"}
    path = files.get(name, ROOT / name)
    return path.read_text() if path.is_file() else None


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
        place = text_of(site, where)
        if place is None:
            problems.append(f"{site}: no file {where}: {says}")
        elif (text or says) not in place:
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


def sample(count):
    """The same rows for everybody; none is chosen."""
    rows = [(site, *row) for site in DOCUMENTS for row in read_items(site)]
    return sorted(rows, key=lambda row: hashlib.sha256(f"{row[0]}\n{row[1]}".encode()).digest())[:count]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--documents", type=Path, metavar="DIR", help="the folder with the sites' documents")
    parser.add_argument("--sample", type=int, metavar="COUNT", help="print this many rows, chosen by their hash")
    arguments = parser.parse_args()
    if arguments.sample:
        print(*sample(arguments.sample), sep="\n")
        return 0
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
