"""Uploads to several nodes, and questions to them, for as long as a test breaks things: what was acknowledged and shown, and each answer
that breaks the registry's word.

A question is put after it was noted what is acknowledged, so an answer that lacks any of it is older than a 200. One that says that the node
reads without its database may be older."""

from __future__ import annotations  # for Python 3.9

import hashlib
import http.client
import json
import random
import shutil
import sys
import threading
import time
import urllib.parse
from collections import Counter
from pathlib import Path

from support.clients import RawUpload, pip_install
from support.farm import INDEX
from support.node_farm import Node
from support.wheels import Wheel, incompressible

ANSWER_S = 30
UPLOAD_S = 6  # then at another node, as when the web server has closed the sessions of one that is down
FILES_OF_A_PROJECT = 12
READING_ONLY = "X-Wheelyard-Reading-Only"
READING_ONLY_S = 20  # pip shows no field of an answer: it may have met one
FETCHED_OF = 20  # one question of so many also fetches a file
JSON_PAGE = "application/vnd.pypi.simple.v1+json"
NO_ANSWER = (OSError, http.client.HTTPException)
# What pip says, with -vv, where a page has no answer or 503; and where a file has none.
PIP_WITHOUT_ANSWER = ("Could not fetch URL", "HTTPConnectionPool", "ConnectionError", "503 ", "Read timed out")


class Client:
    """Keeps one connection to each node."""

    def __init__(self):
        self.connections: dict[tuple[str, int], http.client.HTTPConnection] = {}

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_) -> None:
        for connection in self.connections.values():
            connection.close()

    def get(self, host: str, port: int, path: str, accept: str = ""):
        place = (host, port)
        connection = self.connections.get(place)
        if connection is None:
            connection = self.connections[place] = http.client.HTTPConnection(host, port, timeout=ANSWER_S)
        try:
            connection.request("GET", path, headers={"Accept": accept} if accept else {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        except NO_ANSWER:
            self.connections.pop(place).close()
            time.sleep(0.02)  # as a client with patience
            raise

    def page(self, node: Node, project: str) -> tuple[int, dict[str, tuple[str, str]], bool]:
        """File name → (hash, path); whether the node reads without its database."""
        path = f"/{INDEX}/simple/{project}/"
        status, headers, body = self.get(node.host, node.port, path, JSON_PAGE)
        if status != 200:
            return status, {}, READING_ONLY in headers
        return status, {entry["filename"]: (entry["hashes"]["sha256"], urllib.parse.urljoin(path, entry["url"]))
                        for entry in json.loads(body)["files"]}, READING_ONLY in headers

    def file(self, node: Node, path: str) -> tuple[int, bytes]:
        """Follows a redirect to the store."""
        status, headers, body = self.get(node.host, node.port, path)
        if status in (302, 307):
            url = urllib.parse.urlsplit(headers["Location"])
            status, _, body = self.get(url.hostname, url.port, f"{url.path}?{url.query}")
        return status, body


class Load:
    def __init__(self, nodes: list[Node], token: str, folder: Path, uploaders: int = 2, askers: int = 2, seed: int = 1,
                 store: str = "127.0.0.1"):
        """`store`: the host that nodes redirect to."""
        self.nodes, self.token, self.folder, self.store = nodes, token, folder, store
        folder.mkdir()
        self.lock = threading.Lock()
        self.acknowledged: dict[str, dict[str, str]] = {}  # project → file name → hash
        self.newest: tuple[str, str, Node] | None = None   # project, version, who answered
        self.counts: Counter[str] = Counter()
        self.broken: list[str] = []
        self.stopping = threading.Event()
        self.read_only_at: dict[str, float] = {}  # node → when it last answered without its database
        self.acknowledged_at = time.monotonic()
        self.longest_gap_s = 0.0  # without an acknowledged upload, since it was set to 0
        self.gaps: dict[bool, list[tuple[float, str]]] = {}  # whether a fault was of one node alone → its gap, and its name
        self.threads = [threading.Thread(target=self._guarded, args=(work, random.Random(f"{seed} {work.__name__} {number}"), number))
                        for work, count in ((self._upload, uploaders), (self._ask_on, askers), (self._run_pip, 1)) for number in range(count)]

    def __enter__(self) -> Load:
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    def stop(self) -> None:
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def wait_for(self, what: str, more: int, seconds: float) -> float:
        """Until the count has grown by so much; the seconds."""
        began, goal = time.monotonic(), self.counts[what] + more
        while self.counts[what] < goal:
            if time.monotonic() - began > seconds:
                raise AssertionError(f"{what}: not {more} more within {seconds} s; {dict(self.counts)}")
            time.sleep(0.05)  # until other threads have got answers
        return time.monotonic() - began

    def count(self, what: str) -> None:
        with self.lock:
            self.counts[what] += 1

    def breaks(self, what: str) -> None:
        with self.lock:
            self.broken.append(what)
        print(f"soak: BROKEN: {what[:600]}", file=sys.stderr, flush=True)

    def expected(self, project: str) -> dict[str, str]:
        with self.lock:
            return dict(self.acknowledged[project])

    def _guarded(self, work, chance: random.Random, number: int) -> None:
        try:
            with Client() as client:
                work(client, chance, number)
        except Exception as error:  # a bug of the test must not look like silence
            self.breaks(f"{work.__name__} ended: {error!r}")
            raise

    # --- what the threads do ------------------------------------------------------------------------------------------

    def _upload(self, client: Client, chance: random.Random, worker: int) -> None:
        number = 0
        while not self.stopping.is_set():
            project, version = f"soak-{worker}-{number // FILES_OF_A_PROJECT}", f"1.{number}"
            wheel = Wheel(project, version, extra_members={"data": incompressible(4096, number)}).write(self.folder / str(worker))
            node = self._upload_one(chance, wheel)
            if node is None:
                return
            with self.lock:
                self.acknowledged.setdefault(project, {})[wheel.name] = hashlib.sha256(wheel.read_bytes()).hexdigest()
                self.newest = (project, version, node)
                self.counts["acknowledged"] += 1
                now = time.monotonic()
                self.longest_gap_s = max(self.longest_gap_s, now - self.acknowledged_at)
                self.acknowledged_at = now
            wheel.unlink()
            for other in self.nodes:
                if other is not node:
                    self.ask(client, other, project)
            number += 1

    def _upload_one(self, chance: random.Random, wheel: Path) -> Node | None:
        while not self.stopping.is_set():
            node = chance.choice(self.nodes)
            try:
                status, problem = RawUpload(node, self.token, wheel).send(UPLOAD_S)
            except NO_ANSWER:
                self.count("upload: no answer")
            else:
                if status == 200:
                    return node
                self.count(f"upload: {status} {problem.get('code')}")
                if status != 503:
                    self.breaks(f"{node.name} answered an upload with {status} {problem}")
            time.sleep(0.1)  # as a client with patience
        return None

    def ask(self, client: Client, node: Node, project: str, fetched: random.Random | None = None) -> None:
        expected = self.expected(project)
        try:
            status, files, is_reading_only = client.page(node, project)
        except NO_ANSWER:
            return self.count("page: no answer")
        if is_reading_only:
            self.read_only_at[node.name] = time.monotonic()
            return self.count("page: reading only" if status == 200 else f"page: reading only {status}")
        if status == 503:
            time.sleep(0.02)  # as a client with patience
            return self.count("page: 503")
        if status not in (200, 404):
            return self.breaks(f"{node.name} answered {status} for the page of {project}")
        self.count("questions")
        for name, sha256 in expected.items():
            if name not in files or files[name][0] != sha256:
                self.breaks(f"{node.name}: a stale page of {project}: {name} was acknowledged before, and it has {sorted(files)}")
        if fetched is not None and files:
            self.fetch(client, node, *files[fetched.choice(sorted(files))])

    def fetch(self, client: Client, node: Node, sha256: str, path: str) -> bool:
        try:
            status, body = client.file(node, path)
        except NO_ANSWER:
            self.count("file: no answer")
            return False
        if status == 200 and hashlib.sha256(body).hexdigest() == sha256:
            self.count("files")
            return True
        if status in (200, 404):
            self.breaks(f"{node.name}: {path} is on a page, and was answered with {status} and {len(body)} other bytes")
        self.count(f"file: {status}")
        return False

    def _ask_on(self, client: Client, chance: random.Random, _) -> None:
        while not self.stopping.is_set():
            with self.lock:
                projects = [*self.acknowledged]
            if not projects:
                time.sleep(0.01)  # until the first upload is there
                continue
            # Mostly of what is new: there an old answer would differ.
            project = chance.choice(projects[-2:] if chance.random() < 0.8 else projects)
            self.ask(client, chance.choice(self.nodes), project, chance if chance.random() < 1 / FETCHED_OF else None)

    def _run_pip(self, _client: Client, chance: random.Random, _) -> None:
        trusted = [f"--trusted-host={host}" for host in (*(node.host for node in self.nodes), self.store)]
        while not self.stopping.is_set():
            with self.lock:
                newest = self.newest
            if newest is None:
                time.sleep(0.01)  # until the first upload is there
                continue
            project, version, by = newest
            node = chance.choice([other for other in self.nodes if other is not by])
            target = self.folder / "pip"
            done = pip_install(node, "pip-new", target, f"{project}=={version}",
                               options=("-vv", "--retries", "0", "--timeout", str(ANSWER_S), *trusted))
            shutil.rmtree(target, ignore_errors=True)
            if done.returncode == 0:
                self.count("pip")
            elif any(words in done.stdout + done.stderr for words in PIP_WITHOUT_ANSWER):
                self.count("pip: no answer")
            elif time.monotonic() - self.read_only_at.get(node.name, -READING_ONLY_S) < READING_ONLY_S:
                self.count("pip: reading only")
            else:
                self.breaks(f"pip does not get {project} {version} from {node.name}, acknowledged by {by.name}:\n{done.stdout}{done.stderr}")

    # --- afterwards ---------------------------------------------------------------------------------------------------

    def check_everything(self) -> None:
        """Each acknowledged file is on its page at every node, and has its bytes."""
        with Client() as client:
            for project in self.acknowledged:
                self.check_project(client, project)

    def check_project(self, client: Client, project: str) -> None:
        expected = self.expected(project)
        for place, node in enumerate(self.nodes):
            status, files, _ = client.page(node, project)
            lost = {name for name, sha256 in expected.items() if name not in files or files[name][0] != sha256}
            if status != 200 or lost:
                self.breaks(f"{node.name} lost {lost} of {project} ({status})")
            # Each file that a page names from one of the nodes, also what nobody was told to be there.
            for number, name in enumerate(sorted(files)):
                if number % len(self.nodes) == place and not self.fetch(client, node, *files[name]):
                    self.breaks(f"{node.name}: {name} cannot be had")
