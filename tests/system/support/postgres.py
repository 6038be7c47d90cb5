"""A PostgreSQL server in a temporary folder, with TLS and passwords, and its standby."""

from __future__ import annotations  # for Python 3.9

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from support.certificate import make_certificate
from support.farm import ROOT
from support.ports import free_port

SCRIPT = ROOT / "tests" / "support" / "postgres_server.sh"
PASSWORD = "correct horse"
START_TIMEOUT_S = 240


class PostgresServer:
    """`of`: the primary whose standby this is."""

    def __init__(self, of: PostgresServer | None = None, host: str = "127.0.0.1", wrapper: tuple[str, ...] = ()):
        self.host, self.wrapper = host, wrapper
        self.parent = Path(tempfile.mkdtemp(prefix="wy-pg-", dir="/tmp"))  # short: it has a Unix socket
        self.parent.chmod(0o755)
        self.folder = self.parent / "s"
        self.port = free_port()
        self.process: subprocess.Popen | None = None
        self.options: list[str] = []
        if of is None:
            made = subprocess.run([SCRIPT, "init", self.folder], capture_output=True, text=True)
            if made.returncode == 77:
                raise unittest.SkipTest("PostgreSQL's server is not installed (scripts/install-deps --unit)")
            if made.returncode != 0:
                raise AssertionError(f"initdb: {made.stderr}")
            self._secure()
        else:
            self._copy(of)

    def _secure(self) -> None:
        """TLS with a certificate of its own; over TCP a password, also for standbys."""
        make_certificate(self.parent, "localhost")
        data = self.folder / "data"
        for name in ("chain.pem", "key.pem"):
            shutil.copy(self.parent / name, data / name)
            (data / name).chmod(0o600)
            if os.getuid() == 0:
                shutil.chown(data / name, "nobody", "nogroup")
        (data / "pg_hba.conf").write_text("local all,replication all trust\nhostssl all,replication all samenet scram-sha-256\n")
        with open(data / "postgresql.conf", "a") as settings:
            settings.write("ssl = on\nssl_cert_file = 'chain.pem'\n"
                           "ssl_key_file = 'key.pem'\nhot_standby = on\n")

    def become_copy(self, of: PostgresServer) -> None:
        """Of a server that has ended: it begins anew as a standby."""
        shutil.rmtree(self.folder)
        self._copy(of)

    def _copy(self, of: PostgresServer) -> None:
        self.folder.mkdir()
        if os.getuid() == 0:
            shutil.chown(self.folder, "nobody", "nogroup")
        subprocess.run([SCRIPT, "as", self.folder, "pg_basebackup", "-h", of.folder, "-p", str(of.port), "-U", "wheelyard",
                        "-D", self.folder / "data", "-R", "-X", "stream", "-c", "fast"], check=True, capture_output=True)

    def start(self, *options: str) -> PostgresServer:
        self.options = [*options]
        settings = [word for option in options for word in ("-c", option)]
        (self.folder.parent / "s.log").write_text("")
        self.process = subprocess.Popen([*self.wrapper, SCRIPT, "run", self.folder, "-c", f"port={self.port}", "-c", f"listen_addresses={self.host}",
                                         *settings], env=os.environ | {"HOME": "/nonexistent"})  # root's is closed to it
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            log = (self.folder.parent / "s.log").read_text()
            if "ready to accept" in log:
                return self
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"PostgreSQL does not start:\n{log}")
            time.sleep(0.02)

    def psql(self, database: str) -> list:
        return ["psql", "-qXAt", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-p", str(self.port), "-U", "wheelyard", "-d", database]

    def sql(self, text: str, database: str = "postgres") -> str:
        done = subprocess.run([*self.psql(database), "-c", text], capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(f"{text}: {done.stderr}")
        return done.stdout.strip()

    def create_user(self, user: str, database: str) -> None:
        self.sql(f"CREATE ROLE {user} LOGIN PASSWORD '{PASSWORD}'")
        self.sql(f"CREATE DATABASE {database} OWNER {user} ENCODING 'UTF8' TEMPLATE template0")

    def processes(self) -> list[int]:
        """The server first, then each of its processes."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [self.process.pid, *map(int, children)]

    def signal_all(self, number: int) -> None:
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):  # one whose client has just left
                os.kill(process, number)

    def stop(self, number: int = signal.SIGQUIT) -> None:
        """SIGQUIT: at once, as a crash; SIGINT: orderly."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait()
            self.process = None

    def restart(self) -> None:
        self.start(*self.options)

    def promote(self) -> None:
        self.sql("SELECT pg_promote()")

    def remove(self) -> None:
        if self.process is not None:
            self.signal_all(signal.SIGCONT)
        self.stop()
        shutil.rmtree(self.parent, ignore_errors=True)


def url_of(*servers: PostgresServer, user: str = "farm", database: str = "wheels") -> str:
    """With TLS that checks the server's name."""
    hosts = ",".join(f"localhost:{server.port}" for server in servers)
    addresses = ",".join(server.host for server in servers)
    certificate = servers[0].parent / "chain.pem"
    return f"postgres://{user}@{hosts}/{database}?hostaddr={addresses}&sslmode=verify-full&sslrootcert={certificate}"
