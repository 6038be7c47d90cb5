"""Several nodes over one PostgreSQL, as docs/how-to/several-nodes.md sets them up: each in a folder of its own, the bytes of the
wheels in one that all share."""

from __future__ import annotations  # for Python 3.9

import shutil
import signal
import tempfile
import time
from pathlib import Path

from support.farm import INDEX, Farm
from support.ports import free_port
from support.postgres import PASSWORD, PostgresServer, url_of


class Node(Farm):
    def __init__(self, name: str, folder: Path, database: str, lease_s: int, host: str = "127.0.0.1", stores: str = "",
                 rules: dict[str, str] | None = None, more: str = ""):
        """`rules`: more lines of each index; its keys are the indexes. `more`: lines of [node]."""
        self.name, self.lease_s, self.host, self.more = name, lease_s, host, more
        folder.mkdir()
        (folder / "password").write_text(PASSWORD + "\n")
        rules = rules or {INDEX: ""}
        super().__init__(tuple(rules), folder, index_settings=rules, stores=f'database = "{database}"\ndatabase_password_file = "password"\n{stores}')
        self.port = free_port()
        self.write_config(self.port)

    def write_config(self, port: int) -> None:
        super().write_config(port)
        with open(self.config, "a") as more:
            more.write(f'\n[node]\nname = "{self.name}"\naddress = "http://{self.host}:{port}"\nlease_s = {self.lease_s}\n{self.more}')

    def metric(self, name: str) -> float:
        for line in self.get("/metrics")[2].decode().splitlines():
            if line.startswith(f"wheelyard_{name} "):
                return float(line.split()[1])
        raise AssertionError(f"no metric {name}")

    def is_writer(self) -> bool:
        return self.metric("node_writer") == 1

    def may_answer(self) -> bool:
        return self.get(f"/{INDEX}/simple/")[0] == 200

    def wait(self, condition, seconds: float, what: str) -> float:
        """The seconds until it is true."""
        began = time.monotonic()
        while not condition():
            if time.monotonic() - began > seconds:
                raise AssertionError(f"{self.name}: not {what} within {seconds} s\n{self.log.read_text()[-4000:]}")
            time.sleep(0.02)  # until an outside process has done something: nothing announces it
        return time.monotonic() - began


class Nodes:
    """A database, its standby if there is to be one, and nodes that are not started."""

    def __init__(self, *names: str, lease_s: int, has_standby: bool = False, rules: dict[str, str] | None = None, more: str = ""):
        self.server = PostgresServer()
        self.server.start()
        self.server.create_user("farm", "wheels")
        self.servers = [self.server]
        if has_standby:  # an asynchronous one
            self.servers.append(PostgresServer(of=self.server).start())
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-nodes-"))
        blobs = self.folder / "shared" / "blobs"
        blobs.mkdir(parents=True)
        self.nodes = {}
        for name in names:
            node = self.nodes[name] = Node(name, self.folder / name, url_of(*self.servers), lease_s, rules=rules, more=more)
            node.data.mkdir()
            (node.data / "blobs").symlink_to(blobs)

    def remove(self) -> None:
        for node in self.nodes.values():
            if node.process is not None:
                node.process.send_signal(signal.SIGCONT)
                node.kill()
        for server in self.servers:
            server.remove()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __getitem__(self, name: str) -> Node:
        return self.nodes[name]
