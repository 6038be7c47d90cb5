#!/usr/bin/env python3
"""What does an upload into one project cost, depending on the number of files that the project has?

Fills a project of a registry with SQL, each file with bytes of its own, publishes the tree and starts the server. Then uploads
tiny wheels one after another. Prints the server's CPU for an upload, in a row of --uploads ("in a row": with whatever the server
does in the background meanwhile), and for a single one with all that follows it until everything is quiet ("alone": web UI,
find-links/, wheel list, compressed copies). With --peers also the CPU of an upload and one request of the page, for the registry,
pypiserver and, up to --devpi files, devpi-server.

    python3 -m venv PEERS && PEERS/bin/pip install devpi-server pypiserver
    scripts/prepare-clients
    WHEELYARD_BIN=build/release/bin bench/project_size.py [--files 1 100 1000 2000 10000 20000] [--uploads 20] [--peers PEERS] [--devpi 1000]

The kernel counts CPU in ticks of 10 ms, so a row of 20 uploads has an error of half a millisecond each. Nothing listens beyond
127.0.0.1.
"""

import argparse
import hashlib
import http.client
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "system"))
from support.clients import RawUpload  # noqa: E402
from support.farm import INDEX, Farm  # noqa: E402
from support.wheels import Wheel  # noqa: E402

import results  # noqa: E402
from http_pair import cpu_seconds, free_port, wait_for  # noqa: E402
from http_peers import Devpi, form_of, request  # noqa: E402

PROJECT = "page-of-many"
FILL_TIMEOUT_S = 3600
QUIET_S = 0.5


class Registry:
    """A project with `count` files, of which the last one was uploaded."""

    def __init__(self, folder, count):
        self.folder = folder
        self.farm = Farm((INDEX,), folder=folder)
        self.token = self.farm.create_token()
        self.farm.start()
        self.upload(0)
        self.farm.stop()
        if count > 1:
            self.fill(count - 1)
            done = self.farm.run("wheelyard-indexer", "publish", "--store", self.farm.data, "--to", self.farm.tree, "--no-find-links",
                                 "--no-precompressed", timeout=FILL_TIMEOUT_S)
            if done.returncode != 0:
                raise SystemExit(done.stdout + done.stderr)
        self.farm.start()
        self.port, self.process = self.farm.port, self.farm.process
        self.path = f"/{INDEX}/simple/{PROJECT}/"
        self.upload(1_000_000)  # the server has read the project
        self.wait_until_quiet()

    def fill(self, count):
        """Rows, events and blobs as uploads make them; the version tells them apart."""
        def blob(text):
            sha256 = hashlib.sha256(text.encode()).hexdigest()
            path = self.farm.data / "blobs" / "sha256" / sha256[:2] / sha256
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o444)
            catalog.execute("INSERT INTO blob (sha256, size_bytes) VALUES (?, ?)", (sha256, len(text)))
            return {"sha256": sha256, "size_bytes": len(text)}

        with sqlite3.connect(self.farm.data / "catalog.sqlite") as catalog:
            file = catalog.execute("SELECT * FROM file LIMIT 1")
            columns = [column[0] for column in file.description]
            template = dict(zip(columns, file.fetchone()))
            details = json.loads(catalog.execute("SELECT details_json FROM event WHERE kind = 'file_added' LIMIT 1").fetchone()[0])
            insert = f"INSERT INTO file ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
            for number in range(1, count + 1):
                name, version = f"{PROJECT.replace('-', '_')}-1.{number}-py3-none-any.whl", f"1.{number}"
                changed = {"filename": name, "version": version, **blob(f"wheel {number}")}
                changed |= {f"metadata_{key}": value for key, value in
                            blob(f"Metadata-Version: 2.1\nName: {PROJECT}\nVersion: {version}\n").items()}
                serial = catalog.execute("INSERT INTO event (kind, time, index_name, project, filename, details_json) VALUES "
                                         "('file_added', ?, ?, ?, ?, ?)", (template["upload_time"], INDEX, PROJECT, name,
                                                                           json.dumps(details | changed))).lastrowid
                row = template | changed | {"id": None, "added_serial": serial}
                catalog.execute(insert, [row[column] for column in columns])
        catalog.close()

    def upload(self, number):
        wheel = Wheel(PROJECT, f"1.{number}").write(self.folder / "wheels")
        status, problem = RawUpload(self.farm, self.token, wheel, INDEX).send()
        if status != 200:
            raise SystemExit(f"{status} {problem}")
        return wheel.name

    def wait_until_quiet(self):
        """Until all pages and the wheel list are written, and no thread works any more."""
        self.farm.wait_for_late_pages()
        used = -1.0
        while used != (used := cpu_seconds(self.process.pid)):
            time.sleep(QUIET_S)

    def stop(self):
        self.farm.stop()


class PyPiServer:
    def __init__(self, peers, folder, count):
        packages = folder / "packages"
        packages.mkdir()
        for number in range(count):
            Wheel(PROJECT, f"1.{number}").write(packages)
        self.folder = folder
        self.port = free_port()
        self.process = subprocess.Popen([peers / "bin/pypi-server", "run", "--interface", "127.0.0.1", "--port", str(self.port), "-P", ".",
                                         "-a", ".", "--disable-fallback", packages], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.port, self.process)
        self.path = f"/simple/{PROJECT}/"

    def upload(self, number):
        wheel = Wheel(PROJECT, f"1.{number}").write(self.folder / "wheels")
        body, content_type = form_of(wheel)
        status, text = request(self.port, "POST", "/", body, {"Content-Type": content_type})
        if status != 200:
            raise SystemExit(f"pypiserver upload: {status} {text!r}")
        return wheel.name

    def stop(self):
        self.process.terminate()
        self.process.wait()


class DevpiServer(Devpi):
    def __init__(self, peers, folder, count):
        self.folder = folder
        super().__init__(peers, folder, [Wheel(PROJECT, f"1.{number}").write(folder / "filled") for number in range(count)])

    def upload(self, number):
        wheel = Wheel(PROJECT, f"1.{number}").write(self.folder / "wheels")
        self.send(wheel)
        return wheel.name

    stop = PyPiServer.stop


def page_of(server):
    """As pip asks for it: compressed if there is such a copy."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=600)
    connection.request("GET", server.path)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    if answer.status != 200:
        raise SystemExit(f"{server.path}: {answer.status}")
    return text


def cpu_ms(server, work):
    before = cpu_seconds(server.process.pid)
    work()
    return (cpu_seconds(server.process.pid) - before) * 1000


def in_a_row(server, uploads, first, asks=False):
    """ms of CPU of each upload. `asks`: the page is requested after each, and has the file."""
    def upload(number, asks):
        name = server.upload(number)
        if asks and name not in page_of(server):
            raise SystemExit(f"the page lacks {name}")
    spent = cpu_ms(server, lambda: [upload(number, asks) for number in range(first, first + uploads)])
    upload(first + uploads, True)
    return spent / uploads


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--files", type=int, nargs="+", default=[1, 100, 1_000, 2_000, 10_000, 20_000])
    arguments.add_argument("--uploads", type=int, default=20)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--peers", type=pathlib.Path, default=None)
    arguments.add_argument("--devpi", type=int, default=1_000)
    arguments.add_argument("--folder", default=None)
    given = results.parse_arguments(arguments)
    rows = []
    few = max(1, given.uploads // 5)  # with a request of the page, which takes a peer seconds
    for count in given.files:
        with tempfile.TemporaryDirectory(prefix="wheelyard-project-", dir=given.folder) as folder:
            server = Registry(pathlib.Path(folder), count)
            try:
                found = {"in a row": [], "alone": []}
                for number in range(given.rounds):
                    found["in a row"].append(in_a_row(server, given.uploads, 2_000_000 + 1000 * number))
                    server.wait_until_quiet()
                    found["alone"].append(cpu_ms(server, lambda: (server.upload(3_000_000 + number), server.wait_until_quiet())))
                rows += [results.row(f"{what}, {count:,} files", "ms of CPU", "lower", times) for what, times in found.items()]
                ours = [in_a_row(server, few, 4_000_000 + 1000 * number, True) for number in range(given.rounds)] if given.peers else []
            finally:
                server.stop()
        print("  ".join(f"{row['measured']}: {row['ours']:.1f} ms" for row in rows[-2:]), flush=True)
        kinds = [PyPiServer] + [DevpiServer] * (count <= given.devpi) if given.peers else []
        for kind in kinds:
            with tempfile.TemporaryDirectory(prefix="wheelyard-project-", dir=given.folder) as folder:
                peer = kind(given.peers.resolve(), pathlib.Path(folder), count)
                try:
                    theirs = [in_a_row(peer, few, 4_000_000 + 1000 * number, True) for number in range(given.rounds)]
                finally:
                    peer.stop()
            name = "pypiserver" if kind is PyPiServer else "devpi-server"
            rows.append(results.row(f"with a request of the page, {count:,} files", "ms of CPU", "lower", ours, name, theirs))
            print(f"  with a request of the page: {rows[-1]['ours']:.1f} ms, {name} {rows[-1]['peer']['value']:.1f} ms", flush=True)
    results.record(given, "project-size", "An upload by the number of files of its project", rows)


if __name__ == "__main__":
    main()
