#!/usr/bin/env python3
"""How much CPU does a project page cost, compared with devpi-server and pypiserver?

Puts the same --files wheels of one project (100 give a page of some 20 KB) into a wheelyard-registry, a devpi-server and a
pypiserver, each as its documentation describes. wrk requests the project's page from each in turn, round after round.
Prints the page's size, requests per second of the server's own CPU time (medians), and the ratio to each.

    python3 -m venv PEERS && PEERS/bin/pip install devpi-server pypiserver
    scripts/prepare-clients
    WHEELYARD_BIN=build/release/bin bench/http_peers.py --peers PEERS [--rounds 5] [--seconds 3] [--connections 64] [--files 100]

Needs wrk on PATH. Nothing listens beyond 127.0.0.1.
"""

import argparse
import base64
import http.client
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import uuid

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "system"))
from support.clients import RawUpload  # noqa: E402
from support.farm import INDEX, Farm  # noqa: E402
from support.wheels import Wheel  # noqa: E402

import results  # noqa: E402
from http_pair import cpu_seconds, free_port, wait_for  # noqa: E402

PROJECT = "page-of-many"


def request(port, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, text


def form_of(wheel):
    """The upload form without digests, because devpi computes its own."""
    name, version = wheel.name.split("-")[:2]
    boundary = uuid.uuid4().hex
    fields = {":action": "file_upload", "protocol_version": "1", "name": name, "version": version, "filetype": "bdist_wheel",
              "pyversion": "py3"}
    text = "".join(f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n' for key, value in fields.items())
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="content"; filename="{wheel.name}"\r\n\r\n'
    return (text + head).encode() + wheel.read_bytes() + f"\r\n--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


class Devpi:
    """One server with one index without bases; uploads use its own form."""

    def __init__(self, peers, folder, wheels):
        subprocess.run([peers / "bin/devpi-init", "--serverdir", folder / "devpi", "--no-root-pypi"], check=True, capture_output=True)
        self.port = free_port()
        self.process = subprocess.Popen([peers / "bin/devpi-server", "--serverdir", folder / "devpi", "--host", "127.0.0.1",
                                         "--port", str(self.port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.port, self.process)
        status, text = request(self.port, "POST", "/+login", json.dumps({"user": "root", "password": ""}),
                               {"Content-Type": "application/json"})
        if status != 200:
            raise SystemExit(f"devpi login: {status} {text!r}")
        token = json.loads(text)["result"]["password"]
        self.auth = {"X-Devpi-Auth": base64.b64encode(f"root:{token}".encode()).decode()}
        status, text = request(self.port, "PUT", "/root/bench", json.dumps({"type": "stage", "bases": []}),
                               self.auth | {"Content-Type": "application/json"})
        if status != 200:
            raise SystemExit(f"devpi index: {status} {text!r}")
        for wheel in wheels:
            self.send(wheel)
        self.path = f"/root/bench/+simple/{PROJECT}/"

    def send(self, wheel):
        body, content_type = form_of(wheel)
        status, text = request(self.port, "POST", "/root/bench/", body, self.auth | {"Content-Type": content_type})
        if status != 200:
            raise SystemExit(f"devpi upload: {status} {text!r}")


class PyPiServer:
    """Serves a folder."""

    def __init__(self, peers, folder, wheels):
        packages = folder / "packages"
        packages.mkdir()
        for wheel in wheels:
            shutil.copy(wheel, packages)
        self.port = free_port()
        self.process = subprocess.Popen([peers / "bin/pypi-server", "run", "--interface", "127.0.0.1", "--port", str(self.port),
                                         "--disable-fallback", packages], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.port, self.process)
        self.path = f"/simple/{PROJECT}/"


class Registry:
    def __init__(self, farm, wheels):
        token = farm.create_token()
        farm.start()
        for wheel in wheels:
            status, problem = RawUpload(farm, token, wheel, INDEX).send()
            if status != 200:
                raise SystemExit(f"{status} {problem}")
        self.port, self.process = farm.port, farm.process
        self.path = f"/{INDEX}/simple/{PROJECT}/"


def load(server, connections, seconds):
    before = cpu_seconds(server.process.pid)
    url = f"http://127.0.0.1:{server.port}{server.path}"
    out = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s", url], capture_output=True, text=True,
                         check=True).stdout
    if "Non-2xx" in out:
        raise SystemExit(out)
    return int(re.search(r"(\d+) requests in", out).group(1)) / (cpu_seconds(server.process.pid) - before)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--peers", required=True, type=pathlib.Path)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--seconds", type=int, default=3)
    arguments.add_argument("--connections", type=int, default=64)
    arguments.add_argument("--files", type=int, default=100)
    given = results.parse_arguments(arguments)
    rows = []
    with tempfile.TemporaryDirectory(prefix="wheelyard-peers-") as folder, Farm((INDEX,), settings="io_threads = 1") as farm:
        folder = pathlib.Path(folder)
        wheels = [Wheel(PROJECT, f"1.{number}").write(folder / "wheels") for number in range(given.files)]
        servers = {"wheelyard": Registry(farm, wheels)}
        try:
            servers["devpi-server"] = Devpi(given.peers, folder, wheels)
            servers["pypiserver"] = PyPiServer(given.peers, folder, wheels)
            found = {name: [] for name in servers}
            for _ in range(given.rounds):
                for name, server in servers.items():
                    found[name].append(load(server, given.connections, given.seconds))
            for name, server in servers.items():
                status, page = request(server.port, "GET", server.path)
                links = page.count(b"<a ")
                if (status, links) != (200, given.files):
                    raise SystemExit(f"{name}: {status}, {links} links")
                rows.append(results.row(f"page of {given.files} files, {given.connections} connections", "requests / CPU s", "higher",
                                        found["wheelyard"], name, found[name]))
                print(f"{name:12} {len(page):7} bytes {statistics.median(found[name]):9.0f} requests per CPU second   "
                      f"ratio {results.ratio_text(rows[-1])}")
            results.record(given, "http-peers", "A project page beside Python servers", rows[1:])  # the first row is ours
        finally:
            for name, server in servers.items():
                if name != "wheelyard":  # the farm stops its own server
                    server.process.terminate()
                    server.process.wait()


if __name__ == "__main__":
    main()
