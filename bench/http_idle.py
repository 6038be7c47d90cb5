#!/usr/bin/env python3
"""What does a quiet client cost, and do pages still come?

Opens --connections keep-alive connections to each server, asks each for one page, and leaves them. Then one more page is asked for 100 times, each on
a connection of its own, in turns, round after round; and again while --trickling more connections send the head of a request a byte at a
time, every 0.1 s. Printed: memory per idle connection, the medians of the rounds' median and worst milliseconds, ratios, and how many
of each kind of client are still there.

    bench/http_idle.py --registry build/release/bin/wheelyard-registry [--connections 10000] [--trickling 1000] [--rounds 5]

The clients live in processes of their own, --per-process in each, so only the servers need a limit of open files as high as their connections
(`ulimit -Hn`; root raises it by itself): the registry takes up to three quarters of it. Needs nginx on PATH. Nothing listens beyond 127.0.0.1.
"""

import argparse
import multiprocessing
import re
import socket
import statistics
import tempfile
import time
import urllib.request

import results
from http_pair import Pair, raise_descriptor_limit, resident_kib

PAGE_BYTES = 2_000
PAGES = 100
REQUEST = b"GET /bench/simple/page/ HTTP/1.1\r\nHost: bench\r\n\r\n"
TRICKLED = b"GET /bench/simple/page/ HTTP/1.1\r\nX-Long: " + b"x" * 10_000
TRICKLE_S = 0.1
TIMEOUT_S = 60


class Refused(Exception):
    pass


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S)


def ask(client):
    client.sendall(REQUEST)
    got = b""
    while got.count(b"x") < PAGE_BYTES:
        piece = client.recv(65536)
        if not piece or got.startswith(b"HTTP/1.1 503"):
            raise Refused(f"closed or refused: {(got + piece)[:200]}")
        got += piece


def is_open(client):
    try:
        return client.recv(1, socket.MSG_PEEK) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def hold(pipe, port, number, trickles):
    """A process of clients: they are there when it has said so, and end with the next word but "count"."""
    clients = []
    try:
        for _ in range(number):
            clients.append(connect(port))
            if not trickles:
                ask(clients[-1])
            clients[-1].setblocking(False)  # nobody waits for these any more
        pipe.send(None)
    except (OSError, Refused) as failure:
        pipe.send(f"after {len(clients)} of {number} clients of one process: {failure}")
        return
    sent = 0
    while True:
        if trickles and not pipe.poll(TRICKLE_S):
            byte = TRICKLED[sent % len(TRICKLED):][:1]
            sent += 1
            for client in clients:
                try:
                    client.send(byte)
                except OSError:
                    pass  # the server has ended it
        elif pipe.recv() == "count":
            pipe.send(sum(map(is_open, clients)))
        else:
            return


class Clients:
    """`number` connections to one server; with `trickles` they send a byte now and then."""

    def __init__(self, port, number, per_process, trickles=False):
        fork = multiprocessing.get_context("fork")
        self.pipes, self.processes = [], []
        for first in range(0, number, per_process):
            pipe, theirs = fork.Pipe()
            process = fork.Process(target=hold, args=(theirs, port, min(per_process, number - first), trickles), daemon=True)
            process.start()
            theirs.close()
            self.pipes.append(pipe)
            self.processes.append(process)
        for pipe in self.pipes:
            if failure := pipe.recv():
                raise SystemExit(failure)

    def count(self):
        for pipe in self.pipes:
            pipe.send("count")
        return sum(pipe.recv() for pipe in self.pipes)

    def end(self):
        for pipe, process in zip(self.pipes, self.processes):
            pipe.send("end")
            process.join()


def time_pages(port):
    """(median, worst) milliseconds, each page on a connection of its own."""
    waits = []
    for _ in range(PAGES):
        began = time.monotonic()
        with connect(port) as one_more:
            ask(one_more)
        waits.append((time.monotonic() - began) * 1000)
    return statistics.median(waits), max(waits)


def in_turns(what, ports, rounds, measure):
    found = {name: [] for name in ports}
    for number in range(rounds):
        for name in (list(ports) if number % 2 == 0 else reversed(ports)):
            found[name].append(measure(name))
    for name, rows in found.items():
        middle, worst = (statistics.median(row[at] for row in rows) for at in (0, 1))
        print(f"{name:10} one more page {what}: {middle:.2f} ms (worst {worst:.1f})", flush=True)
    row = results.row(f"one more page {what}", "ms", "lower", [ours[0] for ours in found["wheelyard"]], "nginx",
                      [theirs[0] for theirs in found["nginx"]])
    print(f"ratio {results.ratio_text(row)}", flush=True)
    return row


def check_room(port, wanted):
    numbers = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=TIMEOUT_S).read().decode()
    takes = int(re.search(r"(?m)^wheelyard_max_connections (\d+)$", numbers)[1])
    if takes < wanted:
        raise SystemExit(f"the registry takes {takes} connections with this process's limit of open files, and {wanted} are asked for: "
                         "raise it (ulimit -Hn), or ask for fewer")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--registry", required=True)
    arguments.add_argument("--connections", type=int, default=10_000)
    arguments.add_argument("--trickling", type=int, default=1_000)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--per-process", type=int, default=2_500, help="clients of one process")
    given = results.parse_arguments(arguments)
    raise_descriptor_limit()
    with tempfile.TemporaryDirectory() as folder, Pair(folder, given.registry) as pair:
        pair.write("simple/page/index.html", PAGE_BYTES)
        check_room(pair.ports["wheelyard"], given.connections + given.trickling + 1)
        idle, each = {}, {}
        for name, port in pair.ports.items():
            time_pages(port)  # what the first client makes it keep is not this one's
            before = resident_kib(pair.pids[name])
            idle[name] = Clients(port, given.connections, given.per_process)
            each[name] = (resident_kib(pair.pids[name]) - before) / given.connections
            print(f"{name:10} {given.connections} idle: {each[name]:.1f} KiB each", flush=True)
        rows = [results.row("memory of an idle connection", "KiB", "lower", each["wheelyard"], "nginx", each["nginx"])]
        rows.append(in_turns("beside the idle ones", pair.ports, given.rounds, lambda name: time_pages(pair.ports[name])))
        alive = {name: [] for name in pair.ports}

        def beside_trickling(name):
            trickling = Clients(pair.ports[name], given.trickling, given.per_process, trickles=True)
            found = time_pages(pair.ports[name])
            alive[name].append(trickling.count())
            trickling.end()
            return found
        rows.append(in_turns(f"beside both, {given.trickling} trickling", pair.ports, given.rounds, beside_trickling))
        for name, clients in idle.items():
            print(f"{name:10} {clients.count()} idle ones are still there; of the trickling ones {min(alive[name])} at least, each round")
            clients.end()
    results.record(given, "http-idle", f"{given.connections:,} idle connections", rows)


if __name__ == "__main__":
    main()
