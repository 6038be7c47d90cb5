"""Several nodes while everything around them breaks: nothing acknowledged is lost, no answer is older than a 200, no page names a file that
is not there, and the pages at the end are those that the events make.

Alone a minute: two nodes over a primary and its synchronous standby, a killed node and one failover. With WHEELYARD_FULL=1 thirty minutes:
three nodes over PostgreSQL and an S3 store, each in a network namespace of its own, and one of them under libfaketime. Shorter or with
fewer questions: WHEELYARD_SOAK_MINUTES, WHEELYARD_SOAK_QUESTIONS, WHEELYARD_SOAK_PIPS; the faults in another order: WHEELYARD_SOAK_SEED."""

from __future__ import annotations  # for Python 3.9

import itertools
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import unittest
from pathlib import Path

from support.case import main
from support.farm import INDEX
from support.full import IS_FULL
from support.node_farm import Node
from support.network import Network, enter_network, why_none
from support.postgres import PASSWORD, PostgresServer, url_of
from support.s3_store import BUCKET, REGION, S3Store, missing
from support.soak_load import Load

LEASE_S = 4
PATIENCE_S = 120
MINUTES = float(os.environ.get("WHEELYARD_SOAK_MINUTES", "30"))
QUESTIONS = int(os.environ.get("WHEELYARD_SOAK_QUESTIONS", "100000"))
PIPS = int(os.environ.get("WHEELYARD_SOAK_PIPS", "1000"))
SEED = int(os.environ.get("WHEELYARD_SOAK_SEED", "49"))
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
        blobs = self.folder / "shared" / "blobs"
        blobs.mkdir(parents=True)
        for name in names:
            node = Node(name, self.folder / name, url_of(*self.servers), LEASE_S, self.host(name), self.store.settings() if self.store else "")
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

    def fail_over(self) -> None:
        self.primary.stop(signal.SIGQUIT)
        self.standby.promote()
        self.primary, self.standby = self.standby, self.primary

    def fail_over_and_follow(self) -> None:
        self.fail_over()
        self.standby.become_copy(self.primary)
        self.follow()

    def cut(self, pairs, seconds: float) -> None:
        for one, other in pairs:
            self.network.cut(one, other)
        time.sleep(seconds)  # the fault lasts
        self.network.heal()

    def set_clock(self, step: str, seconds: float) -> None:
        node = self.nodes[-1]
        lapses = node.metric("node_lapses")
        self.clock.write_text(step)
        time.sleep(seconds)  # the fault lasts
        if node.metric("node_lapses") == lapses:
            raise AssertionError(f"the clock of {node.name} was not set, or it did not notice")
        self.clock.write_text("+0s")


class SoakCase(unittest.TestCase):
    def fault(self, site: Site, load: Load, what: str, break_it) -> None:
        began = time.monotonic()
        break_it()
        broken = time.monotonic() - began
        for node in site.nodes:
            node.wait(node.may_answer, PATIENCE_S, "serving")
        load.wait_for("acknowledged", 3, PATIENCE_S)
        print(f"soak: {what}: {broken:.1f} s, well again after {time.monotonic() - began - broken:.1f} s", file=sys.stderr, flush=True)

    def check_at_the_end(self, site: Site, load: Load) -> None:
        load.stop()
        load.check_everything()
        print(f"soak: {dict(sorted(load.counts.items()))}, broken: {len(load.broken)}", file=sys.stderr, flush=True)
        self.assertEqual(load.broken, [])
        rebuilt = site.folder / "rebuilt"
        place = ["--store", site.nodes[0].data, "--database", url_of(*site.servers), "--database-password-file", site.nodes[0].folder / "password"]
        if site.store:
            place += ["--blobs", f"s3://{BUCKET}", "--blobs-endpoint", site.store.url, "--blobs-region", REGION, "--blobs-path-style",
                      "--blobs-credentials-file", site.store.folder / "credentials"]
        done = site.nodes[0].run("wheelyard-indexer", "publish", *place, "--to", rebuilt)
        self.assertEqual(done.returncode, 0, done.stderr)
        wanted = pages_of(rebuilt)
        self.assertGreater(len(wanted), 2)
        for node in site.nodes:
            found = pages_of(node.tree)
            self.assertEqual([name for name in sorted({*found, *wanted}) if found.get(name) != wanted.get(name)], [], node.name)
            node.check_tree()
        done = site.nodes[0].run("wheelyard-registry", "verify", "--config", site.nodes[0].config)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


def pages_of(tree: Path) -> dict[str, bytes]:
    """Without the compressed ones, which a node has only of some."""
    return {str(path.relative_to(tree)): path.read_bytes() for path in (tree / INDEX / "simple").rglob("index.*")
            if path.is_file() and path.suffix not in (".gz", ".zst")}


class Minute(SoakCase):
    def test_two_nodes_over_a_failover(self):
        site = Site("a", "b")
        self.addCleanup(site.remove)
        with Load(site.nodes, site.token, site.folder / "wheels", askers=1) as load:
            load.wait_for("acknowledged", 12, PATIENCE_S)
            self.fault(site, load, "killed the writer", lambda: site.kill(site.writer(), 1))
            load.wait_for("acknowledged", 12, PATIENCE_S)
            self.fault(site, load, "failover", site.fail_over)
            load.wait_for("acknowledged", 12, PATIENCE_S)
            load.wait_for("pip", 2, PATIENCE_S)
            self.check_at_the_end(site, load)


if IS_FULL:
    class Long(SoakCase):
        def setUp(self):
            reason = why_none() or missing()
            if reason:
                self.skipTest(reason)

        def faults(self, site: Site, chance: random.Random):
            """(what, how) of every kind, in another order each time."""
            parties = [*site.network.hosts]
            names = [node.name for node in site.nodes]
            for round_number in itertools.count():
                node = chance.choice(site.nodes)
                alone = chance.choice(names)
                pair = chance.choice([*itertools.combinations(parties, 2)])
                kinds = [
                    (f"killed {node.name}", lambda node=node: site.kill(node, chance.uniform(0, LEASE_S))),
                    ("killed the writer", lambda: site.kill(site.writer(), chance.uniform(0, LEASE_S))),
                    (f"paused {node.name}", lambda node=node: site.pause(node, LEASE_S + 3)),
                    ("paused the writer", lambda: site.pause(site.writer(), LEASE_S + 5)),
                    ("crashed the database", lambda: site.crash_database(chance.uniform(0, LEASE_S + 3))),
                    ("paused the database", lambda: site.pause_database(LEASE_S + 2)),
                    ("crashed the store", lambda: site.crash_store(chance.uniform(0, 5))),
                    ("failover", site.fail_over_and_follow),
                    (f"cut {pair}", lambda pair=pair: site.cut([pair], 10)),
                    (f"cut off {alone}", lambda alone=alone: site.cut([(alone, other) for other in parties if other != alone], 10)),
                    ("cut off the standby", lambda: site.cut([("database-1", "database-2")], 6)),
                    ("cut the writer from the database", lambda: site.cut(
                        [(site.writer().name, "database-1"), (site.writer().name, "database-2")], 10)),
                ]
                if any(site.has_clock(one) for one in site.nodes):
                    step = chance.choice(["+40s", "-40s", "+1200s", "-0.5s"])
                    kinds.append((f"clock of {names[-1]} {step}", lambda step=step: site.set_clock(step, 6)))
                chance.shuffle(kinds)
                for what, how in kinds:
                    yield f"{round_number + 1}: {what}", how

        def test_three_nodes_over_everything(self):
            network = Network("a", "b", "c", "database-1", "database-2", "store")
            self.addCleanup(network.__exit__)
            network.__enter__()
            site = Site("a", "b", "c", network=network)
            self.addCleanup(site.remove)
            print(f"soak: {MINUTES:g} minutes, seed {SEED}, {'with' if FAKETIME.exists() else 'without'} libfaketime", file=sys.stderr)
            end = time.monotonic() + MINUTES * 60
            with Load(site.nodes, site.token, site.folder / "wheels", uploaders=3, askers=2, seed=SEED, store=site.store.host) as load:
                load.wait_for("acknowledged", 10, PATIENCE_S)
                for what, how in self.faults(site, random.Random(SEED)):
                    if time.monotonic() > end:
                        break
                    self.fault(site, load, what, how)
                    self.assertEqual(load.broken, [])
                for what, wanted in (("questions", QUESTIONS), ("pip", PIPS)):
                    load.wait_for(what, max(0, wanted - load.counts[what]), 1800)
                self.check_at_the_end(site, load)


if __name__ == "__main__":
    if IS_FULL:
        enter_network()
    main()
