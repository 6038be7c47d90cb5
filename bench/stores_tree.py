#!/usr/bin/env python3
"""How fast does a new node render its tree from PostgreSQL, compared with SQLite?

Fills both catalogs with rows as uploads leave them, whose bytes are a few blobs in the folder, then renders a new tree of each in
turn. Prints project pages per second, wall and CPU of the renderer (the database's own CPU is not in it).

    WHEELYARD_BIN=build/release/bin bench/stores_tree.py [--projects 10000] [--files 100000] [--rounds 3]
"""

import argparse
import hashlib
import resource
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "system"))
from catalog_size import FILL_TIMEOUT_S, INDEX, database_options, fill_postgres, fill_sqlite, open_farms, upload_ms  # noqa: E402
from support.wheels import Wheel  # noqa: E402

import results  # noqa: E402

LINKS_OF_A_BLOB = 30_000  # ext4 has at most 65,000


def spread_over_blobs(farm, sql, files):
    """Gives each file one of a few blobs that are there."""
    of_wheel, of_metadata = sql("SELECT sha256, metadata_sha256 FROM file LIMIT 1")
    count = files // LINKS_OF_A_BLOB + 1
    for column, source in (("sha256", of_wheel), ("metadata_sha256", of_metadata)):
        folder = farm.data / "blobs" / "sha256"
        known = (folder / source[:2] / source).read_bytes()
        fakes = []
        for number in range(count):
            content = known[:-8] + f"{number:08}".encode()  # METADATA is hashed again before it is shown
            fake = hashlib.sha256(content).hexdigest()
            fakes.append(fake)
            (folder / fake[:2]).mkdir(exist_ok=True)
            (folder / fake[:2] / fake).write_bytes(content)
            sql(f"INSERT INTO blob (sha256, size_bytes) SELECT '{fake}', size_bytes FROM blob WHERE sha256 = '{source}'")
        cases = " ".join(f"WHEN {number} THEN '{fake}'" for number, fake in enumerate(fakes))
        sql(f"UPDATE file SET {column} = CASE id % {count} {cases} END")


def sql_of(farm, is_postgres):
    def run(statement):
        if is_postgres:
            return farm.server.sql(statement, "wheels").split("|")
        with sqlite3.connect(farm.data / "catalog.sqlite") as catalog:
            found = catalog.execute(statement).fetchone()
        catalog.close()
        return found
    return run


def render_s(farm, target):
    """Wall and CPU seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = farm.run("wheelyard-indexer", "publish", "--store", farm.data, *database_options(farm), "--to", target, "--no-find-links",
                    "--no-precompressed", timeout=FILL_TIMEOUT_S)
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(done.stdout[-2000:] + done.stderr[-2000:])
    shutil.rmtree(target)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--projects", type=int, default=10_000)
    arguments.add_argument("--files", type=int, default=100_000)
    arguments.add_argument("--rounds", type=int, default=3)
    given = results.parse_arguments(arguments)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wheelyard-tree-")))
        farms = {name: open_farms(stack, name == "PostgreSQL")["full"] for name in ("SQLite", "PostgreSQL")}
        for name, farm in farms.items():
            token = farm.create_token()
            farm.start()
            upload_ms(farm, token, Wheel("known", "0").write(folder))
            farm.stop()
            (fill_postgres if name == "PostgreSQL" else fill_sqlite)(farm, given.projects, given.files)
            spread_over_blobs(farm, sql_of(farm, name == "PostgreSQL"), given.files)
        wall, cpu = ({name: [] for name in farms} for _ in range(2))
        for number in range(given.rounds):
            for name, farm in farms.items():
                seconds, used = render_s(farm, farm.folder / f"tree{number}")
                wall[name].append(given.projects / seconds)
                cpu[name].append(given.projects / used)
        rows = [results.row("a new tree", f"project pages / {unit}", "higher", found["PostgreSQL"], "SQLite", found["SQLite"])
                for unit, found in (("s", wall), ("CPU s", cpu))]
        for name in farms:
            print(f"{name:10} {statistics.median(wall[name]):7.0f} pages/s, {statistics.median(cpu[name]):7.0f} per CPU second")
    results.record(given, "stores-tree", f"A new node's tree of {given.projects:,} projects and {given.files:,} files, from PostgreSQL", rows)


if __name__ == "__main__":
    main()
