"""Several nodes while everything around them breaks: nothing acknowledged is lost, no answer is older than a 200, no page names a file that
is not there, and the pages at the end are those that the events make.

Alone a minute: two nodes over a primary and its synchronous standby, a killed node and one failover. With WHEELYARD_FULL=1 thirty minutes:
three nodes over PostgreSQL and an S3 store, each in a network namespace of its own; one is under libfaketime, and what one of them sees of the
store hangs, lies or is cut at times. Nodes that are not equal try to join. Shorter or with fewer questions: WHEELYARD_SOAK_MINUTES,
WHEELYARD_SOAK_QUESTIONS, WHEELYARD_SOAK_PIPS; the faults in another order: WHEELYARD_SOAK_SEED; only some: WHEELYARD_SOAK_FAULTS, a part of
their names."""

from __future__ import annotations  # for Python 3.9

import itertools
import os
import random
import sys
import time
import unittest
from pathlib import Path

from support.case import main
from support.farm import INDEX
from support.full import IS_FULL
from support.network import Network, enter_network, why_none
from support.postgres import url_of
from support.s3_store import BUCKET, REGION, missing
from support.soak_load import Load
from support.soak_site import FAKETIME, LEASE_S, PATIENCE_S, READ_ON_S, Site

GAP_S = 10  # without an acknowledged upload, where one node alone has the fault
MINUTES = float(os.environ.get("WHEELYARD_SOAK_MINUTES", "30"))
QUESTIONS = int(os.environ.get("WHEELYARD_SOAK_QUESTIONS", "100000"))
PIPS = int(os.environ.get("WHEELYARD_SOAK_PIPS", "1000"))
FAULTS = os.environ.get("WHEELYARD_SOAK_FAULTS", "")
SEED = int(os.environ.get("WHEELYARD_SOAK_SEED", "49"))


class SoakCase(unittest.TestCase):
    def fault(self, site: Site, load: Load, what: str, break_it, is_of_one_node: bool = False) -> None:
        began = time.monotonic()
        load.longest_gap_s = 0
        break_it()
        broken = time.monotonic() - began
        for node in site.nodes:
            node.wait(node.may_answer, PATIENCE_S, "serving")
        load.wait_for("acknowledged", 3, PATIENCE_S)
        load.gaps.setdefault(is_of_one_node, []).append((load.longest_gap_s, what))
        print(f"soak: {what}: {broken:.1f} s, well again after {time.monotonic() - began - broken:.1f} s, {load.longest_gap_s:.1f} s without an upload",
              file=sys.stderr, flush=True)

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
            node.wait(lambda: pages_of(node.tree) == wanted, PATIENCE_S, "as the events say")  # roots may come a moment later
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

        def faults(self, site: Site, load: Load, chance: random.Random):
            """(what, how, whether it is the fault of one node alone) of every kind, in another order each time."""
            parties = [*site.network.hosts]
            names = [node.name for node in site.nodes]
            for round_number in itertools.count():
                node = chance.choice(site.nodes)
                alone = chance.choice(names)
                pair = chance.choice([*itertools.combinations(parties, 2)])
                others = [(f"killed {node.name}", lambda node=node: site.kill(node, chance.uniform(0, LEASE_S))),
                          ("killed the writer", lambda: site.kill(site.writer(), chance.uniform(0, LEASE_S))),
                          (f"paused {node.name}", lambda node=node: site.pause(node, LEASE_S + 3)),
                          ("paused the writer", lambda: site.pause(site.writer(), LEASE_S + 5)),
                          (f"cut off {alone}", lambda alone=alone: site.cut([(alone, other) for other in parties if other != alone], 10)),
                          ("cut the writer from the database", lambda: site.cut(
                              [(site.writer().name, "database-1"), (site.writer().name, "database-2")], 10)),
                          ("the writer vanished inside a transaction", lambda: site.vanish_in_a_transaction(10)),
                          ("the store hangs for one node", lambda: site.spoil_way("hang", 4 * LEASE_S)),
                          ("the store's bodies are cut for one node", lambda: site.spoil_way("cut", 4 * LEASE_S)),
                          ("the store lies to one node", lambda: site.spoil_way("missing", 4 * LEASE_S)),
                          ("the store lies to the writer", lambda: site.spoil_way("missing", 4 * LEASE_S, is_writer=True)),
                          ("another lease", lambda: site.refuse_unequal("[node] lease_s", lease_s=LEASE_S + 1)),
                          ("another folder of the bucket", lambda: site.refuse_unequal("in [stores] blobs", prefix="/other"))]
                if any(site.has_clock(one) for one in site.nodes):
                    step = chance.choice(["+40s", "-40s", "+1200s", "-0.5s"])
                    others.append((f"clock of {names[-1]} {step}", lambda step=step: site.set_clock(step, 6)))
                shared = [("crashed the database", lambda: site.crash_database(chance.uniform(0, LEASE_S + 3))),
                          ("paused the database", lambda: site.pause_database(LEASE_S + 2)),
                          ("cut the database", lambda: site.cut_database(load, READ_ON_S - 4)),
                          ("cut the database for long", lambda: site.cut_database(load, READ_ON_S + 6)),
                          ("crashed the store", lambda: site.crash_store(chance.uniform(0, 5))),
                          ("failover", site.fail_over_and_follow),
                          (f"cut {pair}", lambda pair=pair: site.cut([pair], 10)),
                          ("cut off the standby", lambda: site.cut([("database-1", "database-2")], 6))]
                kinds = [(what, how, True) for what, how in others] + [(what, how, False) for what, how in shared]
                chance.shuffle(kinds)
                for what, how, is_of_one_node in kinds:
                    if FAULTS not in what:
                        continue
                    yield f"{round_number + 1}: {what}", how, is_of_one_node

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
                for what, how, is_of_one_node in self.faults(site, load, random.Random(SEED)):
                    if time.monotonic() > end:
                        break
                    self.fault(site, load, what, how, is_of_one_node)
                    self.assertEqual(load.broken, [])
                for what, wanted in (("questions", QUESTIONS), ("pip", PIPS)):
                    load.wait_for(what, max(0, wanted - load.counts[what]), 1800)
                self.check_at_the_end(site, load)
            for is_of_one_node, gaps in sorted(load.gaps.items()):
                print(f"soak: longest without an upload, {'one node' if is_of_one_node else 'all nodes'}: "
                      + ", ".join(f"{gap:.1f} s ({what})" for gap, what in sorted(gaps, reverse=True)[:3]), file=sys.stderr, flush=True)
            self.assertLessEqual(max(load.gaps.get(True, [(0.0, "")]))[0], GAP_S)


if __name__ == "__main__":
    if IS_FULL:
        enter_network()
    main()
