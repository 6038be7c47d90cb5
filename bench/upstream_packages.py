#!/usr/bin/env python3
"""How fast is a mirror of a real index, cold and warm, beside the index itself, proxpi and devpi's mirror?

A client with 8 connections requests the page of 100 projects and one wheel of each, as an installer does: from the index,
and through a wheelyard-registry, a proxpi and a devpi-server that are new in each round (cold), then again (warm). They
run in turn, round after round. Then the CPU time of the registry for a warm page from an upstream on loopback is compared
with that for a page of its own with as many files.

    python3 -m venv PEERS && PEERS/bin/pip install proxpi gunicorn devpi-server
    WHEELYARD_BIN=build/release/bin bench/upstream_packages.py --peers PEERS [--rounds 3] [--projects 100] [--index-url URL]

The index is pip's own unless --index-url names another. Nothing listens beyond 127.0.0.1.
"""

import argparse
import base64
import concurrent.futures
import hashlib
import http.client
import ipaddress
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "system"))
from support.clients import RawUpload  # noqa: E402
from support.farm import Farm  # noqa: E402
from support.upstream import Upstream  # noqa: E402
from support.wheels import Wheel  # noqa: E402

import results  # noqa: E402
from http_pair import cpu_seconds, free_port, wait_for  # noqa: E402

INDEX = "mirror"
CONNECTIONS = 8
MAX_WHEEL_BYTES = 3 << 20
PAGE_REQUESTS = 20_000  # some two seconds of CPU time, which the kernel counts in hundredths
JSON = "application/vnd.pypi.simple.v1+json"
PROJECTS = """six idna certifi charset-normalizer urllib3 requests packaging python-dateutil pytz typing-extensions click jinja2
markupsafe pyyaml attrs pluggy iniconfig pytest tomli wheel setuptools pip colorama zipp importlib-metadata filelock platformdirs
virtualenv distlib mpmath sympy networkx fsspec tqdm joblib threadpoolctl pyparsing cycler kiwisolver fonttools decorator
pygments wcwidth prompt-toolkit parso jedi pickleshare backcall traitlets matplotlib-inline pexpect ptyprocess executing asttokens
pure-eval stack-data rich markdown-it-py mdurl docutils sphinx babel imagesize alabaster snowballstemmer jsonschema referencing
rpds-py pyrsistent toolz cloudpickle dask locket partd werkzeug flask itsdangerous blinker gunicorn sqlalchemy greenlet alembic mako
redis boto3 botocore jmespath s3transfer pyasn1 rsa cachetools google-auth oauthlib requests-oauthlib httpx httpcore h11 anyio
sniffio tenacity more-itertools jsonpointer jsonpatch wrapt deprecated humanize""".split()


class Connections(threading.local):
    """One connection for each thread and host, as installers keep them."""

    def __init__(self):
        self.open: dict[tuple[str, str], http.client.HTTPConnection] = {}

    def get(self, url: str, accept: str = "*/*") -> tuple[bytes, str, str]:
        """(body, content type, final URL)"""
        for _ in range(5):
            place = urllib.parse.urlsplit(url)
            key = (place.scheme, place.netloc)
            kind = http.client.HTTPSConnection if place.scheme == "https" else http.client.HTTPConnection
            path = place.path + (f"?{place.query}" if place.query else "")
            for retry in (False, True):  # an idle connection may have been closed
                connection = self.open.setdefault(key, kind(place.netloc, timeout=300))
                try:
                    connection.request("GET", path, headers={"Accept": accept})
                    answer = connection.getresponse()
                    body = answer.read()
                    break
                except (OSError, http.client.HTTPException):
                    self.open.pop(key).close()
                    if retry:
                        raise
            if answer.status in (301, 302, 303, 307, 308):
                url = urllib.parse.urljoin(url, answer.headers["Location"])
                continue
            if answer.status != 200:
                raise SystemExit(f"{answer.status} {path}")
            return body, answer.headers.get("Content-Type", ""), url
        raise SystemExit(f"too many redirects: {url}")


def links_of(body: bytes, content_type: str, url: str) -> dict[str, tuple[str, str]]:
    """file name → (URL, SHA-256)"""
    if "json" in content_type:
        return {entry["filename"]: (urllib.parse.urljoin(url, entry["url"]), entry["hashes"].get("sha256", ""))
                for entry in json.loads(body)["files"]}
    found = {}
    for href in re.findall(r'<a[^>]*\bhref="([^"]+)"', body.decode()):
        link, _, fragment = urllib.parse.urljoin(url, href.replace("&amp;", "&")).partition("#")
        name = urllib.parse.unquote(urllib.parse.urlsplit(link).path.rsplit("/", 1)[1])
        found[name] = (link, fragment.removeprefix("sha256="))
    return found


def choose_wheels(simple_url: str, count: int) -> tuple[dict[str, str], set[str]]:
    """project → the newest small wheel of it, and the hosts that the links name. Projects without one are left out."""
    connections, chosen, hosts = Connections(), {}, set()
    for project in PROJECTS:
        if len(chosen) == count:
            break
        body, content_type, _ = connections.get(f"{simple_url}{project}/", JSON)
        if "json" not in content_type:
            raise SystemExit("the index has no JSON pages, which give the sizes of files")
        small = [entry for entry in json.loads(body)["files"]
                 if entry["filename"].endswith(".whl") and not entry.get("yanked") and 0 < (entry.get("size") or 0) <= MAX_WHEEL_BYTES]
        if small:
            newest = max(small, key=lambda entry: entry.get("upload-time", ""))
            chosen[project] = newest["filename"]
            hosts.add(urllib.parse.urlsplit(newest["url"]).hostname or "")
    return chosen, hosts - {""}


def install(simple_url: str, wheels: dict[str, str]) -> float:
    """Seconds for all pages and wheels; every wheel has the hash of its page."""
    connections = Connections()

    def one(project: str) -> None:
        page = connections.get(f"{simple_url}{project}/", f"{JSON}, text/html;q=0.5")
        link, sha256 = links_of(*page)[wheels[project]]
        body, _, _ = connections.get(link)
        if sha256 and hashlib.sha256(body).hexdigest() != sha256:
            raise SystemExit(f"other bytes: {project}")

    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(one, wheels))
    return time.monotonic() - began


class Peer:
    def __init__(self, arguments: list, port: int, path: str, environment: dict[str, str] | None = None):
        self.process = subprocess.Popen(list(map(str, arguments)), env=os.environ | (environment or {}), stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        wait_for(port, self.process)
        self.url = f"http://127.0.0.1:{port}{path}"

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def proxpi(peers: pathlib.Path, folder: pathlib.Path, index_url: str) -> Peer:
    """As its image runs it: gunicorn with threads. It answers with the file, not with a redirect, however long that takes."""
    port = free_port()
    return Peer([peers / "bin/gunicorn", "--threads", 8, "--bind", f"127.0.0.1:{port}", "--timeout", 300, "proxpi.server:app"], port,
                "/index/", {"PROXPI_INDEX_URL": index_url, "PROXPI_CACHE_DIR": str(folder / "proxpi"), "PROXPI_DOWNLOAD_TIMEOUT": "300"})


def devpi(peers: pathlib.Path, folder: pathlib.Path, index_url: str) -> Peer:
    subprocess.run([peers / "bin/devpi-init", "--serverdir", folder / "devpi"], check=True, capture_output=True)
    port = free_port()
    peer = Peer([peers / "bin/devpi-server", "--serverdir", folder / "devpi", "--host", "127.0.0.1", "--port", port,
                 "--request-timeout", 300], port, "/root/pypi/+simple/")
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("POST", "/+login", json.dumps({"user": "root", "password": ""}), {"Content-Type": "application/json"})
    token = json.loads(connection.getresponse().read())["result"]["password"]
    auth = base64.b64encode(f"root:{token}".encode()).decode()
    connection.request("PATCH", "/root/pypi", json.dumps([f"mirror_url={index_url}", "mirror_no_project_list=True"]),
                       {"Content-Type": "application/json", "X-Devpi-Auth": auth})
    answer = connection.getresponse()
    if answer.status != 200:
        raise SystemExit(f"devpi: {answer.status} {answer.read()!r}")
    return peer


def registry(index_url: str, hosts: set[str]) -> Farm:
    own = urllib.parse.urlsplit(index_url).hostname or ""
    private = sorted(host for host in hosts | {own} if not all(ipaddress.ip_address(found[4][0]).is_global
                                                               for found in socket.getaddrinfo(host, 443)))
    rules = f'url = "{index_url}"\nhosts = {json.dumps(sorted(hosts))}\nprivate_hosts = {json.dumps(private)}\n'
    return Farm((INDEX,), index_settings={INDEX: f'[[index.upstream]]\nname = "public"\n{rules}'}).start()


def measure_packages(given: argparse.Namespace, index_url: str) -> list[dict]:
    wheels, hosts = choose_wheels(index_url, given.projects)
    print(f"{len(wheels)} projects")
    direct: list[float] = []
    cold: dict[str, list[float]] = {"wheelyard": [], "proxpi": [], "devpi-server": []}
    warm: dict[str, list[float]] = {name: [] for name in cold}
    for number in range(given.rounds):
        direct.append(install(index_url, wheels))
        for name in cold:
            with tempfile.TemporaryDirectory(prefix="wheelyard-mirror-") as folder:
                if name == "wheelyard":
                    farm = registry(index_url, hosts)
                    url, stop = f"http://127.0.0.1:{farm.port}/{INDEX}/simple/", farm.__exit__
                else:
                    peer = (proxpi if name == "proxpi" else devpi)(given.peers, pathlib.Path(folder), index_url)
                    url, stop = peer.url, peer.stop
                try:
                    cold[name].append(install(url, wheels))
                    warm[name].append(install(url, wheels))
                finally:
                    stop()
        print(f"round {number + 1}: direct {direct[-1]:.1f} s; cold " + ", ".join(f"{name} {times[-1]:.1f} s" for name, times in cold.items())
              + "; warm " + ", ".join(f"{name} {times[-1]:.2f} s" for name, times in warm.items()), flush=True)
    what = f"{len(wheels)} projects"
    rows = [results.row(f"{what}, cold", "s", "lower", cold["wheelyard"], "the index itself", direct)]
    rows += [results.row(f"{what}, cold", "s", "lower", cold["wheelyard"], peer, cold[peer]) for peer in ("proxpi", "devpi-server")]
    rows += [results.row(f"{what}, warm", "s", "lower", warm["wheelyard"], peer, warm[peer]) for peer in ("proxpi", "devpi-server")]
    return rows


def requests_per_cpu_second(farm: Farm, path: str) -> float:
    """By one connection, which asks for JSON as installers do."""
    connection = http.client.HTTPConnection("127.0.0.1", farm.port, timeout=60)

    def ask() -> None:
        connection.request("GET", path, headers={"Accept": JSON})
        answer = connection.getresponse()
        if answer.status != 200 or not answer.read():
            raise SystemExit(f"{path}: {answer.status}")

    ask()  # what the first request does is not warm
    before = cpu_seconds(farm.process.pid)
    for _ in range(PAGE_REQUESTS):
        ask()
    connection.close()
    return PAGE_REQUESTS / (cpu_seconds(farm.process.pid) - before)


def measure_page(given: argparse.Namespace) -> dict:
    with tempfile.TemporaryDirectory(prefix="wheelyard-mirror-") as folder, Upstream() as upstream:
        made = [Wheel("page-mirrored", f"1.{number}").write(pathlib.Path(folder)) for number in range(given.files)]
        for wheel in made:
            upstream.offer(wheel)
        rules = f'[[index.upstream]]\nname = "public"\nurl = "{upstream.url}"\nprivate_hosts = ["127.0.0.1"]\n'
        with Farm((INDEX,), index_settings={INDEX: rules}) as farm:
            token = farm.create_token()
            farm.start()
            for number in range(given.files):
                status, problem = RawUpload(farm, token, Wheel("page-of-ours", f"1.{number}").write(pathlib.Path(folder)), INDEX).send()
                if status != 200:
                    raise SystemExit(f"{status} {problem}")
            mirrored, ours = [], []
            for _ in range(given.rounds):
                mirrored.append(requests_per_cpu_second(farm, f"/{INDEX}/simple/page-mirrored/"))
                ours.append(requests_per_cpu_second(farm, f"/{INDEX}/simple/page-of-ours/"))
    return results.row(f"warm page of {given.files} files from an upstream", "requests / CPU s", "higher", mirrored, "a page of our own", ours)


def pip_index_url() -> str:
    configured = subprocess.run([sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True)
    if os.environ.get("PIP_INDEX_URL"):
        return os.environ["PIP_INDEX_URL"]
    if configured.returncode == 0:
        return configured.stdout.strip()
    text = subprocess.run([sys.executable, "-m", "pip", "install", "--help"], capture_output=True, text=True, check=True).stdout
    return re.search(r"\(default\s+(https://[^)\s]+)\)", text)[1]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--peers", required=True, type=pathlib.Path)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--projects", type=int, default=100)
    arguments.add_argument("--files", type=int, default=100, help="of the page whose CPU time is measured")
    arguments.add_argument("--index-url", default="")
    given = results.parse_arguments(arguments)
    rows = [measure_page(given)] + measure_packages(given, (given.index_url or pip_index_url()).rstrip("/") + "/")
    for row in rows:
        print(f"{row['measured']:45} {row['ours']:9} {row['unit']:18} {row['peer']['name']} {row['peer']['value']}   "
              f"ratio {results.ratio_text(row)}")
    results.record(given, "upstream-packages", "A mirror of a public index", rows)


if __name__ == "__main__":
    main()
