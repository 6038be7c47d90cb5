#!/usr/bin/env python3
"""What does a mirror's day cost, beside proxpi and devpi's mirror: memory, CPU and time for 10,000 projects?

A public index on loopback has 10,000 projects of 20 files each. Three clients each request the page of every project, in an order of their
own, as fast as they are answered; every 25th project's newest wheel is fetched, too. The first to ask makes the mirror ask the index, the
other two find what it has. wheelyard-registry, proxpi and devpi-server do the same in turn, new and empty, with the same index. Of each the
bench gives the CPU time and the highest memory (proportional set size) of all its processes, and the wall time. A mirror that has not ended
after --limit-s is stopped where it is: its rows are of the requests that it answered, and a note says how many.

    python3 -m venv PEERS && PEERS/bin/pip install proxpi gunicorn devpi-server
    WHEELYARD_BIN=build/release/bin bench/upstream_day.py --peers PEERS [--projects 10000] [--files 20] [--limit-s 140]

Nothing listens beyond 127.0.0.1.
"""

import argparse
import dataclasses
import hashlib
import http.client
import http.server
import json
import multiprocessing
import pathlib
import random
import socket
import sys
import tempfile
import threading
import time
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "system"))
from support.wheels import Wheel  # noqa: E402

import results  # noqa: E402
from http_pair import cpu_seconds, free_port, processes  # noqa: E402
from upstream_packages import INDEX, JSON, devpi, links_of, proxpi, registry  # noqa: E402

CLIENTS = 3
WHEEL_EVERY = 25
SAMPLE_S = 0.25


def name_of(number: int) -> str:
    return f"project-{number:05}"


def files_of(number: int, count: int) -> list[dict]:
    """As the index lists them; of the newest one there are bytes."""
    made = []
    for version in range(count):
        filename = f"project_{number:05}-1.{version}-py3-none-any.whl"
        made.append({"filename": filename, "url": f"../../files/{filename}", "hashes": {"sha256": hashlib.sha256(filename.encode()).hexdigest()},
                     "size": 20_000 + version, "upload-time": "2026-01-01T00:00:00Z", "requires-python": ">=3.8"})
    return made


class PublicIndex(http.server.BaseHTTPRequestHandler):
    """Pages from numbers: nothing is kept but the wheels."""

    protocol_version = "HTTP/1.1"
    projects = files = 0
    wheels: dict[str, bytes] = {}

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def log_message(self, *_) -> None:
        pass

    def send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=86400")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        parts = [urllib.parse.unquote(part) for part in self.path.split("?")[0].strip("/").split("/")]
        if parts[0] == "files" and parts[-1] in self.wheels:
            return self.send(200, "application/octet-stream", self.wheels[parts[-1]])
        number = int(parts[1].removeprefix("project-")) if parts[0] == "simple" and len(parts) == 2 and parts[1].startswith("project-") else -1
        if not 0 <= number < self.projects:
            return self.send(404, "text/plain", b"no such project\n")
        files = files_of(number, self.files)
        newest = self.wheels.get(files[-1]["filename"])
        if newest is not None:
            files[-1] |= {"size": len(newest), "hashes": {"sha256": hashlib.sha256(newest).hexdigest()}}
        if "json" in self.headers.get("Accept", ""):
            body = json.dumps({"meta": {"api-version": "1.1"}, "name": parts[1], "versions": [f"1.{v}" for v in range(self.files)], "files": files})
            return self.send(200, JSON, body.encode())
        links = "".join(f'<a href="{file["url"]}#sha256={file["hashes"]["sha256"]}" data-requires-python="&gt;=3.8">{file["filename"]}</a><br/>\n'
                        for file in files)
        return self.send(200, "text/html", f"<!DOCTYPE html><html><body>\n{links}</body></html>\n".encode())


class IndexServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_) -> None:
        """A mirror that is stopped closes its connections as it likes."""


def serve_index(port: int, projects: int, files: int) -> None:
    PublicIndex.projects, PublicIndex.files = projects, files
    with tempfile.TemporaryDirectory(prefix="wheelyard-day-") as folder:
        for number in range(0, projects, WHEEL_EVERY):
            path = Wheel(f"project-{number:05}", version=f"1.{files - 1}").write(pathlib.Path(folder))
            PublicIndex.wheels[path.name] = path.read_bytes()
            path.unlink()
    IndexServer(("127.0.0.1", port), PublicIndex).serve_forever()


@dataclasses.dataclass
class Day:
    pages: int = 0      # answered
    wheels: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0
    memory_mib: float = 0.0
    end_mib: float = 0.0
    whole: bool = True


def memory_mib(pid: int) -> float:
    total = 0
    for one in processes(pid):
        try:
            lines = pathlib.Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def get(connection: http.client.HTTPConnection, url: str, accept: str) -> tuple[bytes, str, str]:
    """(body, content type, URL)"""
    for _ in range(5):
        place = urllib.parse.urlsplit(url)
        connection.request("GET", place.path + (f"?{place.query}" if place.query else ""), headers={"Accept": accept})
        answer = connection.getresponse()
        body = answer.read()
        if answer.status in (301, 302, 303, 307, 308):
            url = urllib.parse.urljoin(url, answer.headers["Location"])
            continue
        if answer.status != 200:
            raise SystemExit(f"{answer.status} {url} {body[:200]!r}")
        return body, answer.headers.get("Content-Type", ""), url
    raise SystemExit(f"too many redirects: {url}")


def live(client: int, simple_url: str, given: argparse.Namespace, until: float, day: Day, lock: threading.Lock) -> None:
    order = list(range(given.projects))
    random.Random(client).shuffle(order)
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(simple_url).netloc, timeout=300)
    for number in order:
        if time.monotonic() > until:
            day.whole = False
            break
        page = get(connection, f"{simple_url}{name_of(number)}/", f"{JSON}, text/html;q=0.5")
        links = links_of(*page)
        if len(links) != given.files:
            raise SystemExit(f"{name_of(number)} has {len(links)} files instead of {given.files}")
        fetches = number % WHEEL_EVERY == 0
        if fetches:
            link, sha256 = links[files_of(number, given.files)[-1]["filename"]]
            if hashlib.sha256(get(connection, link, "*/*")[0]).hexdigest() != sha256:
                raise SystemExit(f"{name_of(number)}: other bytes")
        with lock:
            day.pages += 1
            day.wheels += fetches
    connection.close()


def measure(name: str, index_url: str, given: argparse.Namespace) -> Day:
    day, lock = Day(), threading.Lock()
    with tempfile.TemporaryDirectory(prefix="wheelyard-day-") as folder:
        if name == "wheelyard":
            farm = registry(index_url, set())
            url, pid, stop = farm.simple_url(INDEX), farm.process.pid, farm.__exit__
        else:
            peer = (proxpi if name == "proxpi" else devpi)(given.peers, pathlib.Path(folder), index_url)
            url, pid, stop = peer.url, peer.process.pid, peer.stop
        try:
            before, began = cpu_seconds(pid), time.monotonic()
            clients = [threading.Thread(target=live, args=(one, url, given, began + given.limit_s, day, lock)) for one in range(CLIENTS)]
            for client in clients:
                client.start()
            while any(client.is_alive() for client in clients):
                day.end_mib = memory_mib(pid)
                day.memory_mib = max(day.memory_mib, day.end_mib)
                time.sleep(SAMPLE_S)
            day.wall_s, day.cpu_s = time.monotonic() - began, cpu_seconds(pid) - before
        finally:
            stop()
    if day.whole and day.pages != CLIENTS * given.projects:
        raise SystemExit(f"{name}: a client failed after {day.pages} pages")
    print(f"{name:13} {day.pages} pages, {day.wheels} wheels{'' if day.whole else ' (stopped)'}: {day.wall_s:.1f} s, CPU {day.cpu_s:.1f} s, "
          f"memory {day.memory_mib:.0f} MiB at most, {day.end_mib:.0f} MiB at the end", flush=True)
    return day


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--peers", required=True, type=pathlib.Path)
    arguments.add_argument("--projects", type=int, default=10_000)
    arguments.add_argument("--files", type=int, default=20, help="of a project")
    arguments.add_argument("--limit-s", type=float, default=140, help="for each of the three mirrors")
    given = results.parse_arguments(arguments)
    port = free_port()
    index = multiprocessing.get_context("fork").Process(target=serve_index, args=(port, given.projects, given.files), daemon=True)
    index.start()
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except OSError:
            if not index.is_alive():
                raise SystemExit("the index did not start") from None
            time.sleep(0.05)
    days = {name: measure(name, f"http://127.0.0.1:{port}/simple/", given) for name in ("wheelyard", "proxpi", "devpi-server")}
    index.terminate()
    ours = days["wheelyard"]
    what = f"{given.projects} projects of {given.files} files, {CLIENTS} clients"
    rows = []
    for peer in ("proxpi", "devpi-server"):
        theirs = days[peer]
        rows += [results.row(f"{what}: memory at most", "MiB", "lower", [ours.memory_mib], peer, [theirs.memory_mib]),
                 results.row(f"{what}: CPU time of a page", "ms", "lower", [1000 * ours.cpu_s / ours.pages], peer, [1000 * theirs.cpu_s / theirs.pages]),
                 results.row(f"{what}: wall time of a page", "ms", "lower", [1000 * ours.wall_s / ours.pages], peer, [1000 * theirs.wall_s / theirs.pages])]
    rows.append(results.row(f"{what}: the whole day", "s", "lower", [ours.wall_s]))
    for row in rows:
        peer = f"{row['peer']['name']} {row['peer']['value']}   ratio {results.ratio_text(row)}" if "peer" in row else ""
        print(f"{row['measured']:75} {row['ours']:9} {row['unit']:4} {peer}")
    notes = [f"{name} was stopped after {given.limit_s:.0f} s with {day.pages} of {CLIENTS * given.projects} pages; its figures are of those."
             for name, day in days.items() if not day.whole]
    results.record(given, "upstream-day", "A mirror's day beside its peers", rows, notes)


if __name__ == "__main__":
    main()
