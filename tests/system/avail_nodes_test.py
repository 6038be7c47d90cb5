"""`avail_wheels --here` on three nodes that differ: this one, Debian's next release, and aarch64 (label `full`: minutes).

    scripts/install-deps --full; scripts/other-nodes        # once: build/nodes/
    WHEELYARD_BIN=build/release/bin python3 tests/system/avail_nodes_test.py

On each node the static program of that machine runs, knows machine, glibc and Python as the node's own programs report them,
lists of a wheelhouse with every kind of tag what that node's pip takes, and says of SAMPLES which run there and why others do not.
"""

import json
import os
import random
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import pip_agrees
from support.case import main
from support.farm import BIN, CLIENTS, ROOT, scrubbed_environment
from support.skips import not_here
from support.wheels import Wheel

NODES = Path(os.environ.get("WHEELYARD_NODES", ROOT / "build" / "nodes"))
# Tags of wheels, and what is said of them on the three nodes in turn: it runs, or the code of what is missing.
SAMPLES = {
    "py3-none-any": ("runs", "runs", "runs"),
    "cp311-cp311-linux_x86_64": ("facts", "python", "machine"),  # unknown: this program reads no wheels
    "cp313-cp313-manylinux_2_41_x86_64": ("python", "runs", "machine"),
    "cp39-abi3-manylinux_2_41_x86_64": ("glibc", "runs", "machine"),
    "cp311-cp311-manylinux_2_28_aarch64": ("machine", "machine", "runs"),
    "cp311-cp311-manylinux_2_41_aarch64": ("machine", "machine", "glibc"),
}
TIMEOUT_S = 1200  # pip under an emulator
PROJECTS = 60
SEED = int(os.environ.get("WHEELYARD_SEED", "20261120"))
PROBE = "import platform, sys; print(platform.machine(), platform.libc_ver()[1], '%d.%d.%d' % sys.version_info[:3])"


class ThisNode:
    """Programs run as they are."""

    column = 0  # of SAMPLES
    machine = os.uname().machine

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-nodes-", dir=self.place()))
        self.environment = scrubbed_environment(self.seen(self.folder))
        self.prepare()

    def place(self) -> Path:
        """Where files lie that the node sees."""
        return Path(tempfile.gettempdir())

    def seen(self, path: Path) -> Path:
        """How the node calls a file."""
        return path

    def prepare(self) -> None:
        shutil.copytree(next((CLIENTS / "pip-new").glob("lib/python*/site-packages/pip")), self.folder / "site" / "pip")
        self.environment["PYTHONPATH"] = str(self.seen(self.folder / "site"))
        shutil.copy2(BIN / "avail_wheels-static", self.folder / "avail_wheels")

    def run(self, program: list, *arguments) -> str:
        done = subprocess.run([*map(str, program), *map(str, arguments)], capture_output=True, text=True, env=self.environment,
                              timeout=TIMEOUT_S)
        if done.returncode != 0 or done.stderr:
            raise AssertionError(f"{done.args}\n{done.stdout}{done.stderr}")
        return done.stdout

    def python(self, *arguments) -> str:
        return self.run(["/usr/bin/python3"], *arguments)

    def ask(self, *arguments) -> str:
        return self.run([self.folder / "avail_wheels"], *arguments)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


class NextRelease(ThisNode):
    """A root folder of Debian's next release, entered by chroot."""

    column = 1
    root = (NODES / "trixie").resolve()

    def place(self) -> Path:
        return self.root / "tmp"

    def seen(self, path: Path) -> Path:
        return Path("/") / path.relative_to(self.root)

    def run(self, program: list, *arguments) -> str:
        return super().run(["/usr/sbin/chroot", self.root, *program], *arguments)

    def ask(self, *arguments) -> str:
        return self.run([self.seen(self.folder / "avail_wheels")], *arguments)


class OtherMachine(ThisNode):
    """aarch64: its own program and its own Python, under an emulator of its instructions."""

    column = 2
    machine = "aarch64"
    emulator = ["qemu-aarch64-static", "-L", NODES / "aarch64"]
    interpreter = NODES / "aarch64" / "usr" / "bin" / "python3.11"

    def prepare(self) -> None:
        super().prepare()
        shutil.copy2(NODES / "avail_wheels-aarch64", self.folder / "avail_wheels")
        # This kernel starts no program of another machine by itself: an environment whose Python is a script does.
        python = self.folder / "venv" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f"#!/bin/sh\nexec {' '.join(map(str, self.emulator))} {self.interpreter} \"$@\"\n")
        python.chmod(0o755)
        self.environment |= {"VIRTUAL_ENV": str(self.folder / "venv"),
                             "PATH": f"{self.folder / 'venv' / 'bin'}:{self.environment['PATH']}"}

    def python(self, *arguments) -> str:
        return self.run([*self.emulator, self.interpreter], *arguments)

    def ask(self, *arguments) -> str:
        return self.run([*self.emulator, self.folder / "avail_wheels"], *arguments)


class NodesTest(unittest.TestCase):
    def on(self, kind: type) -> None:
        node = kind()
        self.addCleanup(node.remove)
        machine, glibc, python = node.python("-c", PROBE).split()
        self.assertEqual(machine, node.machine)

        # The same wheels by a wheel list: the static program does not look into files for Requires-Python.
        house = node.folder / "house"
        made = pip_agrees.fill(house, random.Random(SEED), PROJECTS, int(python.split(".")[1]), machine)
        pip_agrees.write_catalogue(house, made)
        document = node.ask("yard*", "--wheelhouse", node.seen(house), "--here", "--json")
        found, = (node.folder / ".cache" / "wheelyard").glob("node-*.json")
        known = json.loads(found.read_text())["node"]
        self.assertEqual((known["machine"], known["glibc"]), (machine, glibc))
        self.assertIn(python, json.dumps(known["pythons"]))

        report = node.folder / "report.json"
        node.python("-m", "pip", *pip_agrees.pip_arguments(node.seen(house), node.seen(report), made))
        taken = pip_agrees.taken_by_pip(report.read_text())
        self.assertEqual(pip_agrees.listed(document), taken, f"seed {SEED}")
        chosen = sum(version != "0.1" for version in taken.values())
        self.assertGreater(chosen, PROJECTS // 15)  # the question was a real one
        self.tell_of_samples(node)
        print(f"\n{kind.__name__}: {machine}, glibc {glibc}, Python {python}: of {len(made) * pip_agrees.WHEELS} wheels pip takes "
              f"{len(taken)}, {chosen} of them not the one for every Python; --here lists the same", flush=True)

    def tell_of_samples(self, node: ThisNode) -> None:
        """A wheel built on one of the nodes runs there alone, and the others say why not."""
        samples = node.folder / "samples"
        for tag in SAMPLES:
            Wheel("sample", "1.0", tags=(tag,)).write(samples)
        report = json.loads(node.ask("--wheelhouse", node.seen(samples), "--why", "--json"))["wheels"]
        answers = {wheel["filename"].removeprefix("sample-1.0-").removesuffix(".whl"): wheel["here"] for wheel in report}
        self.assertEqual({tag: here.get("code", "runs") for tag, here in answers.items()},
                         {tag: codes[node.column] for tag, codes in SAMPLES.items()})
        self.assertTrue(all(here.get("why") for here in answers.values() if here["runs"] != "yes"))

    def test_this_node(self):
        self.on(ThisNode)

    def test_the_next_release(self):
        self.on(NextRelease)

    def test_another_machine(self):
        self.on(OtherMachine)


if __name__ == "__main__":
    if not (NODES / "avail_wheels-aarch64").exists():
        not_here(f"there are no nodes in {NODES}: scripts/install-deps --full; scripts/other-nodes")
    main()
