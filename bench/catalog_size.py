#!/usr/bin/env python3
"""Does a registry with 100,000 projects and a million files start and accept uploads as fast as an empty one? With
--postgresql, over PostgreSQL (fsync on) instead of SQLite.

Fills a catalog with rows as uploads leave them. Wheels and project pages are not written, because a start does not read
them; the root page and the catalogue are. Starts a server on it and one on an empty catalog, and uploads to each in turn.
Prints the seconds until each is ready; the milliseconds (wall and server CPU, medians) of an upload into an existing
project and of a project's first; the ratios; and the time from the last answer until the root page has the new name.

    scripts/prepare-clients
    WHEELYARD_BIN=build/release/bin bench/catalog_size.py [--projects 100000] [--files 1000000] [--uploads 15] [--postgresql]
"""

import argparse
import hashlib
import json
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "system"))
from support.clients import RawUpload  # noqa: E402
from support.farm import Farm  # noqa: E402
from support.node_farm import Node, Nodes  # noqa: E402
from support.postgres import url_of  # noqa: E402
from support.wheels import Wheel  # noqa: E402

import results  # noqa: E402
from http_pair import cpu_seconds  # noqa: E402

INDEX = "debian12"
FILL_TIMEOUT_S = 3600


def fill(farm, projects, files):
    """Adds the same number of files to each project; returns the last serial."""
    serial = fill_postgres(farm, projects, files) if isinstance(farm, Node) else fill_sqlite(farm, projects, files)
    state = farm.tree / ".wheelyard" / "published.json"
    # Without a time, the serial is not compared with the catalog's event: those events are generated here.
    state.write_text(json.dumps(json.loads(state.read_text()) | {"serial": serial, "time": "", "stale_roots": [INDEX]}))
    done = farm.run("wheelyard-indexer", "publish", "--store", farm.data, *database_options(farm), "--to", farm.tree, "--no-find-links",
                    "--no-precompressed", timeout=FILL_TIMEOUT_S)
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)
    os.sync()  # pending writes must not slow down the uploads
    return serial


def database_options(farm):
    return ("--database", farm.database, "--database-password-file", farm.folder / "password") if isinstance(farm, Node) else ()


def fill_sqlite(farm, projects, files):
    each = max(1, files // projects)
    with sqlite3.connect(farm.data / "catalog.sqlite") as catalog:
        serial = catalog.execute("SELECT coalesce(max(serial), 0) FROM event").fetchone()[0]
        file = catalog.execute("SELECT * FROM file LIMIT 1")  # an uploaded file, the template for all others
        columns = [column[0] for column in file.description]
        template = dict(zip(columns, file.fetchone()))
        details = catalog.execute("SELECT details_json FROM event WHERE kind = 'file_added' LIMIT 1").fetchone()[0]
        insert = f"INSERT INTO file ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
        for number in range(projects):
            project = f"filled-{number}"
            catalog.execute("INSERT INTO project (index_name, name) VALUES (?, ?)", (INDEX, project))
            for version in range(each):
                serial += 1
                name = f"filled_{number}-1.{version}-py3-none-any.whl"
                sha256 = hashlib.sha256(name.encode()).hexdigest()
                catalog.execute("INSERT INTO blob (sha256, size_bytes) VALUES (?, 1000)", (sha256,))
                catalog.execute("INSERT INTO event (serial, kind, time, index_name, project, filename, details_json) "
                                "VALUES (?, 'file_added', 0, ?, ?, ?, ?)", (serial, INDEX, project, name, details))
                row = template | {"id": None, "project": project, "filename": name, "version": f"1.{version}", "sha256": sha256,
                                  "size_bytes": 1000, "added_serial": serial}
                catalog.execute(insert, [row[column] for column in columns])
    catalog.close()
    return serial


def fill_postgres(node, projects, files):
    """The same rows, made by the server."""
    each = max(1, files // projects)
    columns = node.server.sql("SELECT string_agg(column_name, ',') FROM information_schema.columns WHERE table_name = 'file' "
                              "AND column_name <> 'id'", "wheels").split(",")
    new = {"project": "n.project", "filename": "n.filename", "version": "n.version", "sha256": "n.sha256", "size_bytes": "1000",
           "added_serial": "n.serial"}
    node.server.sql(f"""
        SET session_replication_role = replica;  -- no look at each foreign key
        SET synchronous_commit = off;
        BEGIN;
        CREATE TEMPORARY TABLE n AS SELECT 'filled-' || number / {each} AS project, '1.' || number % {each} AS version, filename,
            encode(sha256(filename::bytea), 'hex') AS sha256, number + 1 + (SELECT max(serial) FROM event) AS serial
            FROM generate_series(0, {projects * each - 1}) AS number CROSS JOIN LATERAL
            (SELECT 'filled_' || number / {each} || '-1.' || number % {each} || '-py3-none-any.whl' AS filename) AS named;
        INSERT INTO project (index_name, name) SELECT DISTINCT '{INDEX}', project FROM n;
        INSERT INTO blob (sha256, size_bytes) SELECT sha256, 1000 FROM n;
        INSERT INTO event (serial, kind, time, index_name, project, filename, details_json) SELECT n.serial, 'file_added', 0, '{INDEX}',
            n.project, n.filename, details_json FROM n CROSS JOIN (SELECT details_json FROM event WHERE kind = 'file_added' LIMIT 1) AS one;
        INSERT INTO file ({', '.join(columns)}) SELECT {', '.join(new.get(column, 'one.' + column) for column in columns)}
            FROM n CROSS JOIN (SELECT * FROM file LIMIT 1) AS one;
        SELECT setval(pg_get_serial_sequence('event', 'serial'), (SELECT max(serial) FROM event));
        UPDATE change_count SET count = count + 1;
        COMMIT;
        DROP TABLE n;""", "wheels")
    node.server.sql("ANALYZE", "wheels")
    return int(node.server.sql("SELECT max(serial) FROM event", "wheels"))


def catalog_mb(farm):
    if isinstance(farm, Node):
        return int(farm.server.sql("SELECT pg_database_size('wheels')")) / 1e6
    return (farm.data / "catalog.sqlite").stat().st_size / 1e6


def open_farms(stack, is_postgres):
    if not is_postgres:
        return {name: stack.enter_context(Farm((INDEX,))) for name in ("empty", "full")}
    farms = {}
    for name in ("empty", "full"):
        nodes = Nodes(name, lease_s=6)
        stack.callback(nodes.remove)
        nodes.server.stop()
        nodes.server.start("fsync=on", "synchronous_commit=on", "max_wal_size=4GB")
        node = farms[name] = nodes[name]
        node.server, node.database = nodes.server, url_of(nodes.server)
        node.port = 0  # a single server, without an address
        Farm.write_config(node, 0)
    return farms


def root_of(farm):
    return farm.tree / INDEX / "simple" / "index.html"


def wait_until_named(farm, project):
    """Seconds until the root page has the name."""
    began = time.monotonic()
    while f">{project}</a>" not in root_of(farm).read_text():
        time.sleep(0.05)
    return time.monotonic() - began


def upload_ms(farm, token, wheel):
    """Wall time, and the server's CPU time."""
    upload = RawUpload(farm, token, wheel, INDEX)
    cpu = cpu_seconds(farm.process.pid)
    began = time.monotonic()
    status, problem = upload.send()
    if status != 200:
        raise SystemExit(f"{status} {problem}")
    return (time.monotonic() - began) * 1000, (cpu_seconds(farm.process.pid) - cpu) * 1000


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--projects", type=int, default=100_000)
    arguments.add_argument("--files", type=int, default=1_000_000)
    arguments.add_argument("--uploads", type=int, default=15)
    arguments.add_argument("--postgresql", action="store_true")
    given = results.parse_arguments(arguments)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="wheelyard-size-"))
        farms = open_farms(stack, given.postgresql)
        full = farms["full"]
        tokens = {name: farm.create_token() for name, farm in farms.items()}
        for name, farm in farms.items():
            farm.start()
            upload_ms(farm, tokens[name], Wheel("known", "0").write(Path(folder)))
            farm.stop()
        print(f"full: {given.projects} projects, {fill(full, given.projects, given.files)} events, "
              f"{catalog_mb(full):.0f} MB, root page {root_of(full).stat().st_size / 1e6:.1f} MB", flush=True)
        known = {name: [] for name in farms}
        new = {name: [] for name in farms}
        ready = {}
        for name, farm in farms.items():
            began = time.monotonic()
            farm.start()
            ready[name] = time.monotonic() - began
            print(f"{name:5} ready in {ready[name]:.2f} s", flush=True)
        rows = [results.row("start until ready", "s", "lower", ready["full"], "empty registry", ready["empty"])]
        for number in range(given.uploads):
            for name, farm in farms.items():
                known[name].append(upload_ms(farm, tokens[name], Wheel("known", f"1.{number}").write(Path(folder))))
                new[name].append(upload_ms(farm, tokens[name], Wheel(f"new-{number}").write(Path(folder))))
        late = {name: wait_until_named(farm, f"new-{number}") for name, farm in farms.items()}
        for what, found in (("into an existing project", known), ("of a project's first wheel", new)):
            medians = {name: statistics.median(wall for wall, _ in found[name]) for name in farms}
            rows.append(results.row(f"upload {what}", "ms", "lower", [wall for wall, _ in found["full"]], "empty registry",
                                    [wall for wall, _ in found["empty"]]))
            cpu = {name: statistics.mean(spent for _, spent in found[name]) for name in farms}  # the kernel counts in ticks of 10 ms
            print(f"upload {what}: {medians['empty']:.1f} ms empty, {medians['full']:.1f} ms full, ratio {medians['full'] / medians['empty']:.2f}; "
                  f"CPU {cpu['empty']:.1f} and {cpu['full']:.1f} ms; the worst {max(found['empty'])[0]:.0f} and {max(found['full'])[0]:.0f} ms")
        print(f"the root page: {late['empty']:.2f} s after the answer, {late['full']:.2f} s")
        rows.append(results.row("root page names a new project", "s after the answer", "lower", late["full"], "empty registry", late["empty"]))
    store = " in PostgreSQL" if given.postgresql else ""
    results.record(given, "catalog-size" + ("-postgresql" if given.postgresql else ""),
                   f"A catalog{store} of {given.projects:,} projects and {given.files:,} files", rows)


if __name__ == "__main__":
    main()
