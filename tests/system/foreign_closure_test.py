"""A machine that the public index has few wheels for: packages with C code, and what their builds need, become wheels of an index inside a
Debian 13 for riscv64, whose Python and compiler qemu runs; pip there installs them from that index alone. A closure takes no wheel with
code, whichever the public index has by now (label `full`: minutes, root, and the index that pip is configured to use).

    scripts/install-deps --full; scripts/other-nodes        # once: build/nodes/
    WHEELYARD_BIN=build/release/bin python3 tests/system/foreign_closure_test.py
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

from support.case import FarmCase, main
from support.farm import Farm
from support.other_root import OtherRoot, OtherSite
from support.skips import not_here
from support.slurm_cluster import can_mount

NODE = OtherRoot("trixie-riscv64", "riscv64")
PYTHON, PYTHON_VERSION = "/usr/bin/python3", "3.13"
# None has a wheel for every machine.
PACKAGES = {"markupsafe": "markupsafe._speedups", "PyYAML": "yaml._yaml", "cffi": "_cffi_backend", "msgpack": "msgpack._cmsgpack",
            "ujson": "ujson", "psutil": "psutil", "xxhash": "xxhash._xxhash", "greenlet": "greenlet._greenlet"}
LIMIT_S = 3000


class ForeignClosureTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp(prefix="wheelyard-", dir=NODE.folder / "tmp"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.farm = cls.enterClassContext(Farm(folder=folder))
        cls.token = cls.farm.create_token()
        cls.farm.start()

    def test_packages_with_c_code_are_built_tested_and_installed_from_the_index_alone(self):
        pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")} | {"PIP_CERT": "/etc/ssl/certs/ca-certificates.crt"}
        site = OtherSite(self.farm, SimpleNamespace(pip_environment=pip), self.token, dict.fromkeys(PACKAGES, "latest"),
                         scheduler='kind = "local"\nmax_jobs = 1\n', python_version=PYTHON_VERSION, python=PYTHON, root=NODE)
        site.file.write_text(site.file.read_text().replace('versions = ["latest"]\n', 'versions = ["latest"]\nclosure = "compiled"\n'))
        begun = time.monotonic()
        self.assert_ran(site.builder("run", timeout=LIMIT_S))
        seconds = time.monotonic() - begun
        wheels = [name for package in site.plan() for name in self.farm.files(package)]
        print(f"{NODE.machine}: {len(PACKAGES)} packages, {len(wheels)} wheels, {seconds:.0f} s:", *sorted(wheels))
        for package in PACKAGES:
            [name] = self.farm.files(package)
            self.assertTrue(name.endswith(f"-linux_{NODE.machine}.whl"), name)

        venv = f"{NODE.seen(self.farm.folder)}/venv"
        NODE.say(PYTHON, "-m", "venv", venv, environment=site.environment)
        NODE.say(f"{venv}/bin/pip", "--isolated", "install", "--no-cache-dir", "--index-url", self.farm.simple_url(), *PACKAGES,
                 environment=site.environment)
        NODE.say(f"{venv}/bin/python", "-c", "import " + ", ".join(PACKAGES.values()))
        self.farm.check_tree()


if __name__ == "__main__":
    if not (NODE.can_run and can_mount()):
        not_here(f"no root {NODE.folder}, or its programs cannot be started: scripts/install-deps --full, scripts/other-nodes, as root on x86_64")
    if subprocess.run([sys.executable, "-m", "pip", "index", "versions", "markupsafe"], stdout=subprocess.DEVNULL).returncode != 0:
        not_here("the index that pip is configured to use does not answer")
    main()
