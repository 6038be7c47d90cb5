"""Several nodes over one PostgreSQL, as docs/how-to/several-nodes.md sets them up: each in a folder of its own, the bytes of the
wheels in one that all share."""

from __future__ import annotations  # for Python 3.9

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from support.farm import BIN, INDEX, ROOT, Farm

SERVER = ROOT / "tests" / "support" / "postgres_server.sh"
NOT_INSTALLED = 77
READY_S = 60


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Postgres:
    """A server in a folder. `folder` must be one that other users may enter."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.port = free_port()
        self.process: subprocess.Popen | None = None

    @staticmethod
    def is_installed() -> bool:
        return subprocess.run([SERVER, "as", "/", "true"], capture_output=True).returncode != NOT_INSTALLED

    @property
    def url(self) -> str:
        return f"postgres://wheelyard@127.0.0.1:{self.port}/postgres"

    def make(self) -> None:
        subprocess.run([SERVER, "init", self.folder], check=True, capture_output=True)

    def start(self) -> None:
        self.process = subprocess.Popen([SERVER, "run", self.folder, "-p", str(self.port), "-c", "listen_addresses=127.0.0.1"])
        deadline = time.monotonic() + READY_S
        while self.ask("SELECT 1").returncode != 0:
            if time.monotonic() > deadline:
                raise AssertionError(f"PostgreSQL did not start: {Path(str(self.folder) + '.log').read_text()}")
            time.sleep(0.05)

    def ask(self, sql: str) -> subprocess.CompletedProcess:
        return subprocess.run([SERVER, "as", self.folder, "psql", "-XAtc", sql, self.url], capture_output=True, text=True,
                              env=os.environ | {"PGCONNECT_TIMEOUT": "2"})

    def crash(self) -> None:
        """As `pg_ctl -m immediate`: no goodbye to anybody, and recovery at the next start."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()

    def keep_copy(self) -> None:
        """As an asynchronous standby that is as far as now."""
        self.stop()
        subprocess.run(["cp", "-a", self.folder / "data", self.folder / "standby"], check=True)
        self.start()

    def fail_over(self) -> None:
        """To that standby: what came after it is gone, and the timeline is another one."""
        self.stop()
        shutil.rmtree(self.folder / "data")
        (self.folder / "standby").rename(self.folder / "data")
        with open(self.folder / "data" / "postgresql.auto.conf", "a") as settings:
            settings.write("restore_command = 'false'\n")
        signal_file = self.folder / "data" / "recovery.signal"
        signal_file.touch()
        signal_file.chmod(0o666)
        self.start()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait()


class Node(Farm):
    def __init__(self, name: str, folder: Path, database: str, lease_s: int, indexes: tuple[str, ...] = (INDEX,)):
        self.name, self.database, self.lease_s = name, database, lease_s
        folder.mkdir()
        super().__init__(indexes, folder)
        self.port = free_port()
        self.write_config(self.port)

    def write_config(self, port: int) -> None:
        super().write_config(port)
        self.config.write_text(self.config.read_text() +
                               f'\n[stores]\ndatabase = "{self.database}"\n'
                               f'\n[node]\nname = "{self.name}"\naddress = "http://127.0.0.1:{port}"\nlease_s = {self.lease_s}\n')

    def metric(self, name: str) -> float:
        for line in self.get("/metrics")[2].decode().splitlines():
            if line.startswith(f"wheelyard_{name} "):
                return float(line.split()[1])
        raise AssertionError(f"no metric {name}")

    def is_writer(self) -> bool:
        return self.metric("node_writer") == 1

    def wait(self, condition, seconds: float, what: str) -> float:
        """The seconds until it is true."""
        began = time.monotonic()
        while not condition():
            if time.monotonic() - began > seconds:
                raise AssertionError(f"{self.name}: not {what} within {seconds} s\n{self.log.read_text()[-4000:]}")
            time.sleep(0.02)
        return time.monotonic() - began

    def may_answer(self) -> bool:
        return self.get(f"/{INDEX}/simple/")[0] == 200


class Nodes:
    """A database and its nodes."""

    def __init__(self, *names: str, lease_s: int = 3):
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-nodes-"))
        self.folder.chmod(0o755)  # the database's user passes through
        self.postgres = Postgres(self.folder / "postgres")
        shared = self.folder / "shared"
        (shared / "blobs").mkdir(parents=True)
        self.nodes = {}
        for name in names:
            node = self.nodes[name] = Node(name, self.folder / name, self.postgres.url, lease_s)
            node.data.mkdir()
            (node.data / "blobs").symlink_to(shared / "blobs")

    def __enter__(self) -> "Nodes":
        self.postgres.make()
        self.postgres.start()
        return self

    def __exit__(self, *_) -> None:
        for node in self.nodes.values():
            if node.process is not None:
                node.process.send_signal(signal.SIGCONT)
                node.kill()
        self.postgres.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __getitem__(self, name: str) -> Node:
        return self.nodes[name]
