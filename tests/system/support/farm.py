"""A farm in a temporary folder: the real registry on a port of its own, a token, and the programs beside it.

    with Farm() as farm:
        token = farm.create_token()
        farm.start()
        ...

Nothing of the machine's own configuration reaches it: every program runs in a scrubbed environment.
"""

from __future__ import annotations  # for Python 3.9

import atexit
import functools
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from support.live_tree import paths_in, staged_in
from support.ports import free_port

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(os.environ.get("WHEELYARD_BIN", ROOT / "build" / "dev" / "bin"))
CLIENTS = Path(os.environ.get("WHEELYARD_CLIENTS", ROOT / "build" / "clients"))
INDEX = "debian12"

# These end what hangs: beside other work, or under a sanitizer, a machine is ten times slower, and late pages rest for up
# to a minute.
START_TIMEOUT_S = 240
STOP_TIMEOUT_S = 60
COMMAND_TIMEOUT_S = 240
LEFTOVERS_S = 240


def for_all_users(folder: Path, *names: str) -> Path:
    """`folder`, or a copy of what it has of these names where other users cannot reach it: a home has mode 0700."""
    return folder if all(each.stat().st_mode & stat.S_IXOTH for each in (folder, *folder.parents)) else copied(folder, *names)


def without_spaces(folder: Path, *names: str) -> Path:
    """Likewise, for programs that are words in lines of shell."""
    return copied(folder, *names) if " " in str(folder) else folder


@functools.cache
def copied(folder: Path, *names: str) -> Path:
    copy = Path(tempfile.mkdtemp(prefix="wheelyard-for-all-", dir="/var/tmp"))  # builds of uploaded sources have a /tmp of their own
    atexit.register(shutil.rmtree, copy, ignore_errors=True)
    copy.chmod(0o755)
    for name in names:
        subprocess.run(["cp", "-a", folder / name, copy], check=True)
    return copy


def scrubbed_environment(home: Path, **more: str) -> dict[str, str]:
    """An environment that says nothing about indexes, proxies or configuration files."""
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "TMPDIR": str(home),
        "LANG": "C.UTF-8",
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
        "no_proxy": "127.0.0.1",
    }
    for name, value in os.environ.items():  # how a sanitizer reports is the build's business
        if name.endswith("SAN_OPTIONS"):
            environment[name] = value
    return environment | more


class Farm:
    host = "127.0.0.1"  # where it listens
    programs = BIN      # another version's, for a test of upgrades

    def __init__(self, indexes: tuple[str, ...] = (INDEX,), folder: Path | None = None, settings: str = "",
                 index_settings: str | dict[str, str] = "", stores: str = ""):
        self._owned = folder is None
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-test-")) if folder is None else folder
        self.indexes = indexes
        self.settings = settings              # more lines of [server]
        self.index_settings = index_settings  # more lines of every [[index]], or of those named
        self.stores = stores                  # lines of [stores]
        self.config = self.folder / "registry.toml"
        self.data = self.folder / "data"
        self.log = self.folder / "registry.log"
        self.process: subprocess.Popen | None = None
        self.port = 0
        self.write_config(0)

    def __enter__(self) -> "Farm":
        return self

    def __exit__(self, *_) -> None:
        self.stop()
        if self._owned:
            shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def environment(self) -> dict[str, str]:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        return scrubbed_environment(home)

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def simple_url(self, index: str = INDEX) -> str:
        return f"{self.url}/{index}/simple/"

    def upload_url(self, index: str = INDEX) -> str:
        return f"{self.url}/{index}/legacy/"

    @property
    def tree(self) -> Path:
        return self.data / "public"

    def write_config(self, port: int) -> None:
        more = self.index_settings if isinstance(self.index_settings, dict) else dict.fromkeys(self.indexes, self.index_settings)
        indexes = "".join(f'\n[[index]]\nname = "{name}"\n{more.get(name, "")}\n' for name in self.indexes)
        stores = f"\n[stores]\n{self.stores}\n" if self.stores else ""
        self.config.write_text(f'config_version = 1\n\n[server]\nlisten = "{self.host}:{port}"\n{self.settings}\n\n'
                               # A small reserve: tests copy data folders, and fill small disks.
                               f'[store]\ndirectory = "data"\nmin_free_mib = 1\n{stores}{indexes}')

    def set_index(self, name: str, keys: str = "") -> None:
        """The file has this index, with these keys alone."""
        if not isinstance(self.index_settings, dict):
            self.index_settings = dict.fromkeys(self.indexes, self.index_settings)
        self.indexes = tuple(dict.fromkeys((*self.indexes, name)))
        self.index_settings = self.index_settings | {name: keys}
        self.write_config(self.port)

    def run(self, program: str, *arguments, environment: dict[str, str] | None = None,
            timeout: float = COMMAND_TIMEOUT_S, **options) -> subprocess.CompletedProcess:
        """A program of ours, to its end."""
        return subprocess.run([self.programs / program, *map(str, arguments)], env=environment or self.environment,
                              capture_output=True, text=True, timeout=timeout, **options)

    # --- the registry -------------------------------------------------------------------------------------------------

    def create_token(self, *indexes: str, name: str = "tests", actions: tuple[str, ...] = ("upload",),
                     projects: tuple[str, ...] = ()) -> str:
        done = self.run("wheelyard-registry", "token", "create", "--config", self.config, "--name", name, "--json",
                        *(word for action in actions for word in ("--action", action)),
                        *(word for project in projects for word in ("--project", project)),
                        *(word for index in indexes or self.indexes for word in ("--index", index)))
        if done.returncode != 0:
            raise AssertionError(f"token create: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)["token"]

    def launch(self, wrapper: tuple[str, ...] = (), environment: dict[str, str] | None = None) -> None:
        """Starts the registry without waiting for it, with more in its environment."""
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*wrapper, self.programs / "wheelyard-registry", "serve", "--config", self.config, "--ready-file", self.ready_file],
                env=self.environment | (environment or {}), stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    @property
    def ready_file(self) -> Path:
        return self.folder / "ready"

    def start(self, wrapper: tuple[str, ...] = (), environment: dict[str, str] | None = None) -> "Farm":
        """The first start chooses the port, later ones keep it."""
        if self.port == 0:
            self.config.write_text(re.sub(r'(?m)^(listen = ".*:)0"$', rf'\g<1>{free_port()}"', self.config.read_text()))
        self.ready_file.unlink(missing_ok=True)
        self.launch(wrapper, environment)
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self.ready_file.exists() or not self.ready_file.read_text().strip():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the registry did not start:\n{self.log.read_text()}")
            time.sleep(0.01)  # until an outside process has done something: nothing announces it
        if self.port == 0:
            self.port = int(self.ready_file.read_text().strip().rsplit(":", 1)[1].strip("/"))
            self.write_config(self.port)
        return self

    def kill(self) -> None:
        """SIGKILL: no drain, no goodbye."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def stop(self) -> int | None:
        """SIGTERM and the drain; the exit status. What a sanitizer found shows in it."""
        if self.process is None:
            return None
        self.process.terminate()
        try:
            status = self.process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the registry did not drain in {STOP_TIMEOUT_S} s:\n{self.log.read_text()}")
        self.process = None
        if status != 0:
            raise AssertionError(f"the registry ended with {status}:\n{self.log.read_text()}")
        return status

    def kill_drops_connections(self) -> bool:
        """Whether nothing listens on the farm's port any more."""
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) != 0

    # --- what is there ------------------------------------------------------------------------------------------------

    def get(self, path: str, accept: str = "", method: str = "GET", headers: dict[str, str] | None = None):
        """(status, headers, body) of one request; a refusal is an answer like any other."""
        request = urllib.request.Request(self.url + path, method=method, headers=headers or {})
        if accept:
            request.add_header("Accept", accept)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=COMMAND_TIMEOUT_S) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as refusal:
            return refusal.code, refusal.headers, refusal.read()

    def files(self, project: str, index: str = INDEX) -> dict[str, dict]:
        """file name → entry of the project's JSON page; empty when there is no such page."""
        status, _, body = self.get(f"/{index}/simple/{project}/", accept="application/vnd.pypi.simple.v1+json")
        if status == 404:
            return {}
        if status != 200:
            raise AssertionError(f"{status} {body!r}")
        return {entry["filename"]: entry for entry in json.loads(body)["files"]}

    def check_tree(self) -> None:
        """The published tree, by the product's own check; and nothing half done lies anywhere."""
        done = self.run("wheelyard-indexer", "check", "--to", self.tree)
        if done.returncode != 0:
            raise AssertionError(f"wheelyard-indexer check: {done.stdout}{done.stderr}")

    def wait_until_ready(self) -> None:
        """A full disk holds pages back; once there is room, the server catches up by itself."""
        deadline = time.monotonic() + COMMAND_TIMEOUT_S
        while (answer := self.get("/readyz"))[0] != 200:
            if time.monotonic() > deadline:
                raise AssertionError(f"it is not ready: {answer[2]}")
            time.sleep(0.1)

    def wait_for_late_pages(self) -> None:
        """Until the web UI, the page of links and compressed copies are as new as the pages of installers."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            now = json.loads((self.tree / ".wheelyard/published.json").read_text())
            if now["serial"] == now["find_links"] == now.get("pages", {}).get("serial") and "late_copies" not in now:
                return
            if time.monotonic() > deadline:
                raise AssertionError(f"pages are late: {now}\n{self.log.read_text()[-2000:]}")
            time.sleep(0.02)  # until an outside process has done something: nothing announces it

    def wait_for_wheel_list(self, *filenames: str, index: str = INDEX) -> None:
        """Until what avail_wheels reads, which follows the pages a moment later, has these."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while missing := set(filenames) - self._wheel_list(index):
            if time.monotonic() > deadline:
                raise AssertionError(f"the wheel list lacks {missing}:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.02)  # until an outside process has done something: nothing announces it

    def _wheel_list(self, index: str) -> set[str]:
        status, _, text = self.get(f"/{index}/simple/catalogue.txt")
        return {line.partition("\t")[0] for line in text.decode().split("\n")} if status == 200 else set()

    def staging_leftovers(self) -> list[Path]:
        """What uploads and publish runs leave beside the store; must be empty once the registry has started again. A running
        publisher writes pages late, so files that come and go are not counted."""
        deadline = time.monotonic() + LEFTOVERS_S
        while True:
            found = staged_in(self.data) + [path for path in paths_in(self.data) if ".tmp." in path.name]
            if not found or time.monotonic() > deadline:
                return found
            time.sleep(0.1)
