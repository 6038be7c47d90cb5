#!/usr/bin/env python3
"""How long does a page take while large files are downloaded, beside nginx?

--downloads clients read a file of --mib again and again, each in a process of its own, while another asks for one 20 KB page after the other over a
keep-alive connection, with --pause-ms between them. wheelyard-registry and nginx in turns, round after round; each round also without the
downloads. Printed: the medians of the rounds' median and 99th percentile in ms, what the downloads got in MB/s, and the ratios.

    bench/http_mixed.py --registry build/release/bin/wheelyard-registry [--rounds 7] [--pages 2000] [--downloads 2] [--mib 1024]

With --mb-per-s the downloads are so fast each and no faster: then the processors are not full, and the wait is the server's own. Needs nginx on
PATH. Nothing listens beyond 127.0.0.1.
"""

import argparse
import multiprocessing
import socket
import statistics
import tempfile
import time

import results
from http_pair import INDEX, Pair

PAGE_BYTES = 20_000
PAGE = f"GET /{INDEX}/simple/page/ HTTP/1.1\r\nHost: bench\r\n\r\n".encode()
READ_BYTES = 1 << 20
TIMEOUT_S = 60
HEAD_END = b"\r\n\r\n"


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S)


def download_on_and_on(port, target, size, mb_per_s, running, ends, moved):
    """Downloads until `ends` is set, then adds the received bytes to `moved`."""
    buffer = bytearray(READ_BYTES)
    got = 0
    while not ends.is_set():
        with connect(port) as client:
            client.sendall(f"GET {target} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n".encode())
            began, of_this = time.monotonic(), 0
            while not ends.is_set() and (count := client.recv_into(buffer)):
                of_this += count
                running.set()
                if mb_per_s and (ahead := of_this / (mb_per_s * 1e6) - (time.monotonic() - began)) > 0:
                    time.sleep(ahead)
            if not ends.is_set() and of_this < size:
                raise SystemExit(f"{of_this} bytes of {size}")
            got += of_this
    with moved.get_lock():
        moved.value += got


class Downloads:
    """with Downloads(…) as downloads: they run; afterwards downloads.mb_per_s."""

    def __init__(self, port, target, size, given):
        fork = multiprocessing.get_context("fork")
        self.ends, self.moved = fork.Event(), fork.Value("q", 0)
        self.running = [fork.Event() for _ in range(given.downloads)]
        self.processes = [fork.Process(target=download_on_and_on, daemon=True,
                                       args=(port, target, size, given.mb_per_s, running, self.ends, self.moved))
                          for running in self.running]

    def __enter__(self):
        for process in self.processes:
            process.start()
        for running in self.running:
            if not running.wait(TIMEOUT_S):
                raise SystemExit("a download did not begin")
        self.began = time.monotonic()
        return self

    def __exit__(self, *_):
        took = time.monotonic() - self.began
        self.ends.set()
        for process in self.processes:
            process.join()
            if process.exitcode != 0:
                raise SystemExit("a download failed")
        self.mb_per_s = self.moved.value / 1e6 / took


def ask(client):
    client.sendall(PAGE)
    got = b""
    while True:
        piece = client.recv(65536)
        if not piece:
            raise SystemExit(f"closed: {got[:200]}")
        got += piece
        head, end, body = got.partition(HEAD_END)
        if end and len(body) >= PAGE_BYTES:
            if not head.startswith(b"HTTP/1.1 200"):
                raise SystemExit(head)
            return


def time_pages(port, given):
    """(median, 99th percentile) in ms."""
    waits = []
    with connect(port) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        ask(client)
        for _ in range(given.pages):
            time.sleep(given.pause_ms / 1000)
            began = time.monotonic()
            ask(client)
            waits.append((time.monotonic() - began) * 1000)
    return statistics.median(waits), statistics.quantiles(waits, n=100)[98]


def say(what, found):
    """Prints, and returns the rows of the result."""
    for name, rows in found.items():
        middle, late = (statistics.median(row[at] for row in rows) for at in (0, 1))
        speed = f"  downloads {statistics.median(row[2] for row in rows):6.0f} MB/s" if len(rows[0]) > 2 else ""
        print(f"{what:16} {name:10} page {middle:7.3f} ms  p99 {late:7.3f} ms{speed}")
    columns = (("page, median", "ms", "lower"), ("page, p99", "ms", "lower"), ("downloads", "MB/s", "higher"))
    rows = []
    for at, (value, unit, better) in enumerate(columns[:len(found["nginx"][0])]):
        ours, theirs = ([row[at] for row in found[name]] for name in ("wheelyard", "nginx"))
        rows.append(results.row(f"{what}: {value}", unit, better, ours, "nginx", theirs))
        print(f"{what:16} {value:12} ratio {results.ratio_text(rows[-1])}", flush=True)
    return rows


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--registry", required=True)
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--pages", type=int, default=2_000, help="of one server in one round")
    arguments.add_argument("--pause-ms", type=float, default=1.0)
    arguments.add_argument("--downloads", type=int, default=2)
    arguments.add_argument("--mib", type=int, default=1_024)
    arguments.add_argument("--mb-per-s", type=float, default=0, help="of one download; 0: as fast as it goes")
    given = results.parse_arguments(arguments)
    size = given.mib << 20
    with tempfile.TemporaryDirectory() as folder, Pair(folder, given.registry) as pair:
        sha256 = "ab" + "0" * 62
        target = pair.write(f"files/ab/{sha256}/large-1.0-py3-none-any.whl", size)
        pair.write("simple/page/index.html", PAGE_BYTES)
        alone = {name: [] for name in pair.ports}
        mixed = {name: [] for name in pair.ports}
        for number in range(given.rounds):
            for name in (list(pair.ports) if number % 2 == 0 else reversed(pair.ports)):
                port = pair.ports[name]
                alone[name].append(time_pages(port, given))
                with Downloads(port, target, size, given) as downloads:
                    found = time_pages(port, given)
                mixed[name].append((*found, downloads.mb_per_s))
        rows = say("alone", alone) + say(f"{given.downloads} downloads", mixed)
    results.record(given, "http-mixed", "A page during large downloads", rows)


if __name__ == "__main__":
    main()
