"""What the soak breaks: nodes, two database servers and, in a network, an S3 store, each on a host of its own; and how each is broken."""

from __future__ import annotations  # for Python 3.9

import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from support.middle import Middle
from support.network import HUB, Network
from support.node_farm import Node
from support.postgres import PASSWORD, PostgresServer, url_of
from support.s3_store import S3Store
from support.soak_load import Load

LEASE_S = 4
READ_ON_S = 14  # [node] read_without_database_s
PATIENCE_S = 240
FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
# A standby that is cut off is noticed, and connects again.
NOTICING = ("wal_receiver_timeout=5s", "wal_sender_timeout=5s", "wal_retrieve_retry_interval=1s")


class Site:
    """Nodes, two database servers and, in a network, an S3 store; all of them run."""

    def __init__(self, *names: str, network: Network | None = None):
        self.network = network
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-soak-"))
        self.primary = PostgresServer(host=self.host("database-1"), wrapper=self.wrapper("database-1"))
        self.servers = [self.primary]
        self.store = None
        self.way: Middle | None = None  # of the second node to the store
        self.unequal = 0
        self.nodes: list[Node] = []
        self.clock = self.folder / "clock"
        self.clock.write_text("+0s")
        try:
            self._start(names)
        except BaseException:
            self.remove()
            raise

    def _start(self, names: tuple[str, ...]) -> None:
        self.primary.start(*NOTICING)
        self.primary.create_user("farm", "wheels")
        self.primary.sql(f"ALTER ROLE wheelyard PASSWORD '{PASSWORD}'")
        self.standby = PostgresServer(of=self.primary, host=self.host("database-2"), wrapper=self.wrapper("database-2"))
        self.servers.append(self.standby)
        self.follow()
        if self.network:
            self.store = S3Store(self.folder / "store", host=self.host("store"), wrapper=self.wrapper("store"))
            self.store.__enter__()
            self.way = Middle(self.store.host, self.store.port, HUB)
            self.way.__enter__()
        blobs = self.folder / "shared" / "blobs"
        blobs.mkdir(parents=True)
        for name in names:
            stores = self.store.settings(endpoint=f"http://{HUB}:{self.way.port}" if name == names[1] else "") if self.store else ""
            node = Node(name, self.folder / name, url_of(*self.servers), LEASE_S, self.host(name), stores,
                        more=f"read_without_database_s = {READ_ON_S}\n" if self.store else "")
            node.data.mkdir()
            if not self.store:
                (node.data / "blobs").symlink_to(blobs)
            self.nodes.append(node)
        self.start(self.nodes[0])
        self.token = self.nodes[0].create_token()
        for node in self.nodes[1:]:
            self.start(node)

    def host(self, party: str) -> str:
        return self.network.hosts[party] if self.network else "127.0.0.1"

    def wrapper(self, party: str) -> tuple[str, ...]:
        return self.network.wrapper(party) if self.network else ()

    def remove(self) -> None:
        for node in self.nodes:
            if node.process is not None:
                node.process.send_signal(signal.SIGCONT)
                node.kill()
        for server in self.servers:
            server.remove()
        if self.way:
            self.way.__exit__()
        if self.store:
            self.store.__exit__()
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- starting ---------------------------------------------------------------------------------------------------------

    def start(self, node: Node) -> None:
        environment = {}
        if self.has_clock(node):
            environment = {"LD_PRELOAD": str(FAKETIME), "FAKETIME_TIMESTAMP_FILE": str(self.clock), "FAKETIME_CACHE_DURATION": "1",
                           "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        node.start(self.wrapper(node.name), environment)

    def has_clock(self, node: Node) -> bool:
        return self.network is not None and FAKETIME.exists() and node is self.nodes[-1]

    def follow(self) -> None:
        """Starts the standby; commits wait for it from now on."""
        to = f"host={self.primary.host} port={self.primary.port} user=wheelyard password='{PASSWORD}' sslmode=require"
        self.standby.start(f"primary_conninfo={to}", *NOTICING)
        deadline = time.monotonic() + PATIENCE_S
        while self.primary.sql("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") != "1":
            if time.monotonic() > deadline:
                raise AssertionError((self.standby.parent / "s.log").read_text())
            time.sleep(0.05)  # until an outside process has done something: nothing announces it
        if self.network:  # both, as several-nodes.md says: after a failover there will be a standby again
            for server in self.servers:
                self.wait_for_commits(server)
        else:
            self.primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
            self.primary.sql("SELECT pg_reload_conf()")

    def wait_for_commits(self, server: PostgresServer) -> None:
        settings = server.folder / "data" / "postgresql.auto.conf"
        settings.write_text(settings.read_text() + "synchronous_standby_names = '*'\n")
        server.sql("SELECT pg_reload_conf()")

    def writer(self) -> Node:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            for node in self.nodes:
                if node.is_writer():
                    return node
            time.sleep(0.1)  # until outside processes have agreed: nothing announces it
        raise AssertionError("no node is the writer")

    # --- faults -----------------------------------------------------------------------------------------------------------

    def kill(self, node: Node, seconds: float) -> None:
        node.kill()
        time.sleep(seconds)  # the fault lasts
        self.start(node)

    def pause(self, node: Node, seconds: float) -> None:
        node.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)  # the fault lasts
        node.process.send_signal(signal.SIGCONT)

    def crash_database(self, seconds: float) -> None:
        self.primary.stop(signal.SIGQUIT)
        time.sleep(seconds)  # the fault lasts
        self.primary.restart()

    def pause_database(self, seconds: float) -> None:
        self.primary.signal_all(signal.SIGSTOP)
        time.sleep(seconds)  # the fault lasts
        self.primary.signal_all(signal.SIGCONT)

    def crash_store(self, seconds: float) -> None:
        self.store.kill()
        time.sleep(seconds)  # the fault lasts
        self.store.start()

    def spoil_way(self, mode: str, seconds: float, is_writer: bool = False) -> None:
        """Of one node to the store, for longer than a lease; `is_writer`: while it writes."""
        while is_writer and not self.nodes[1].is_writer():
            self.kill(self.writer(), LEASE_S + 1)
        self.way.mode = mode
        time.sleep(seconds)  # the fault lasts
        if self.nodes[1].may_answer():
            raise AssertionError(f"{self.nodes[1].name} answers, and sees no store ({mode})")
        self.way.mode = "pass"

    def refuse_unequal(self, what: str, lease_s: int = LEASE_S, prefix: str = "") -> None:
        self.unequal += 1
        node = Node("d", self.folder / f"unequal-{self.unequal}", url_of(*self.servers), lease_s, stores=self.store.settings(prefix))
        node.data.mkdir()
        done = node.run("wheelyard-registry", "serve", "--config", node.config, timeout=PATIENCE_S)
        if done.returncode == 0 or what not in done.stderr:
            raise AssertionError(f"not refused: {done.stdout}{done.stderr}")

    def vanish_in_a_transaction(self, seconds: float) -> None:
        """The writer is cut off while its transaction waits for a table, so with the lock of all changes; then the table is free."""
        writer = self.writer()
        waits = ("SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND locktype = 'relation' "
                 f"AND client_addr = '{writer.host}'")
        with subprocess.Popen(self.primary.psql("wheels"), stdin=subprocess.PIPE, text=True) as holder:
            print("BEGIN; LOCK TABLE file IN EXCLUSIVE MODE;", file=holder.stdin, flush=True)
            deadline = time.monotonic() + PATIENCE_S
            while self.primary.sql(waits, "wheels") == "0":
                if time.monotonic() > deadline:
                    raise AssertionError("the writer began no transaction")
                time.sleep(0.02)  # until an outside process has done something: nothing announces it
            self._cut([(writer.name, "database-1"), (writer.name, "database-2")])
        time.sleep(seconds)  # the fault lasts
        self.network.heal()

    def cut_database(self, load: Load, seconds: float) -> None:
        """From all nodes, which go on reading for their time."""
        before = load.counts["page: reading only"]
        self.cut([(node.name, database) for node in self.nodes for database in ("database-1", "database-2")], seconds)
        if load.counts["page: reading only"] == before:
            raise AssertionError("no node read without its database")

    def fail_over(self) -> None:
        self.primary.stop(signal.SIGQUIT)
        self.standby.promote()
        self.primary, self.standby = self.standby, self.primary

    def fail_over_and_follow(self) -> None:
        self.fail_over()
        self.standby.become_copy(self.primary)
        self.follow()

    def cut(self, pairs, seconds: float) -> None:
        self._cut(pairs)
        time.sleep(seconds)  # the fault lasts
        self.network.heal()

    def _cut(self, pairs) -> None:
        for one, other in pairs:
            self.network.cut(one, other)

    def set_clock(self, step: str, seconds: float) -> None:
        node = self.nodes[-1]
        lapses = node.metric("node_lapses_total")
        self.clock.write_text(step)
        time.sleep(seconds)  # the fault lasts
        if node.metric("node_lapses_total") == lapses:
            raise AssertionError(f"the clock of {node.name} was not set, or it did not notice")
        self.clock.write_text("+0s")
