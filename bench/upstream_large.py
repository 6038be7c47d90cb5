#!/usr/bin/env python3
"""How often does a mirror download a large file for which many clients ask at once, and how long does it take?

64 clients request a file of 500 MB that the registry does not have yet from an upstream on loopback; each reads all of it.
The peer is the time of one client that reads the file from the upstream itself, before that of the 64. The clients'
reading is part of both.

    WHEELYARD_BIN=build/release/bin bench/upstream_large.py [--clients 64] [--megabytes 500] [--rounds 3]
"""

import argparse
import hashlib
import http.client
import os
import pathlib
import sys
import tempfile
import threading
import time
import zipfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "system"))
from support.farm import Farm  # noqa: E402
from support.upstream import Upstream  # noqa: E402
from support.wheels import Wheel  # noqa: E402

import results  # noqa: E402

INDEX = "mirror"
PIECE_BYTES = 1 << 20


def large_wheel(folder: pathlib.Path, version: str, megabytes: int) -> pathlib.Path:
    """Its bytes are stored, not compressed: the time is that of moving them."""
    wheel = Wheel("large-file", version)
    path = wheel.write(folder)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo("large_file/data", (2026, 1, 1, 0, 0, 0)), os.urandom(megabytes * 1_000_000))
    return path


def read_all(port: int, path: str, sha256: str = "") -> tuple[float, float]:
    """Seconds to the first byte and to the last one, which has to come."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=900)
    began = time.monotonic()
    connection.request("GET", path)
    answer = connection.getresponse()
    if answer.status != 200:
        raise SystemExit(f"{answer.status} {answer.read()!r}")
    buffer, first, left, digest = bytearray(PIECE_BYTES), 0.0, int(answer.headers["Content-Length"]), hashlib.sha256()
    while got := answer.readinto(buffer):
        first = first or time.monotonic() - began
        left -= got
        if sha256:
            digest.update(memoryview(buffer)[:got])
    if left != 0 or (sha256 and digest.hexdigest() != sha256):
        raise SystemExit("other bytes than those of the upstream")
    connection.close()
    return first, time.monotonic() - began


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--clients", type=int, default=64)
    arguments.add_argument("--megabytes", type=int, default=500)
    arguments.add_argument("--rounds", type=int, default=3)
    given = results.parse_arguments(arguments)
    direct, last, first, downloads = [], [], [], []
    with tempfile.TemporaryDirectory(prefix="wheelyard-large-") as folder, Upstream() as upstream:
        rules = f'[[index.upstream]]\nname = "public"\nurl = "{upstream.url}"\nprivate_hosts = ["127.0.0.1"]\n'
        upstream.cache_control = "max-age=0"
        for number in range(given.rounds):
            path = large_wheel(pathlib.Path(folder), f"1.{number}", given.megabytes)
            upstream.files.clear()
            offered = upstream.offer(path)
            with Farm((INDEX,), index_settings={INDEX: rules}) as farm:
                farm.start()
                url = f"/{INDEX}/" + farm.files("large-file", INDEX)[path.name]["url"].removeprefix("../../")
                direct.append(read_all(upstream.port, f"/files/{path.name}")[1])
                before = upstream.count(f"/files/{path.name}")
                times: list[tuple[float, float]] = []
                clients = [threading.Thread(target=lambda one: times.append(read_all(farm.port, url, offered.sha256 if one == 0 else "")),
                                            args=(one,)) for one in range(given.clients)]
                for client in clients:
                    client.start()
                for client in clients:
                    client.join()
                if len(times) != given.clients:
                    raise SystemExit(f"{given.clients - len(times)} clients failed")
                downloads.append(upstream.count(f"/files/{path.name}") - before)
                first.append(max(one for one, _ in times))
                last.append(max(one for _, one in times))
            print(f"round {number + 1}: direct {direct[-1]:.1f} s; {given.clients} clients: first byte after {first[-1]:.2f} s at most, "
                  f"all bytes after {last[-1]:.1f} s, {downloads[-1]} download(s)", flush=True)
            path.unlink()
    what = f"{given.clients} clients, one cold file of {given.megabytes} MB"
    rows = [results.row(f"{what}: downloads from the upstream", "downloads", "lower", downloads),
            results.row(f"{what}: the last client's first byte", "s", "lower", first),
            results.row(f"{what}: the last client's last byte", "s", "lower", last, "one client, from the upstream", direct)]
    results.record(given, "upstream-large", "Many clients ask for one cold file", rows)


if __name__ == "__main__":
    main()
