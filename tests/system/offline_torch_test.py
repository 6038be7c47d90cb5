"""A site without a way out, with a real torch: what it needs is prefetched for nodes of another machine type, the network is cut, and pip of such
a node installs it from the farm and computes. The node is aarch64: its pip and its Python run in an emulator (label `full`: minutes).

    scripts/install-deps --full; scripts/other-nodes; WHEELYARD_FULL=1 scripts/prepare-clients      # once

prefetch_test.py has small wheels, and what `prefetch` refuses.
"""

import subprocess
import unittest

from support import emulated
from support.case import FarmCase, main
from support.clients import CLIENTS
from support.farm import Farm
from support.island import CAN_CUT, WHY_NOT, on_island
from support.skips import not_here
from support.upstream import Upstream

BASE, SITE = "base", "bede-gh200"
WHEELS = CLIENTS / "torch-aarch64"
VERSION = "2.4.0"
PLATFORM = "manylinux_2_36_aarch64"
LONG_S = 1800  # everything on the node is emulated
OUTSIDE = "import socket, sys\ntry: socket.create_connection(('192.0.2.1', 9), 5)\nexcept OSError: sys.exit(0)\nsys.exit('the way out is open')"
COMPUTE = "import platform, torch; print(torch.__version__, platform.machine(), torch.ones(64, 64).matmul(torch.ones(64, 64)).sum().item())"
COMPUTED = f"{VERSION} aarch64 262144.0"


class OfflineTorchTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        cls.upstream = cls.enterClassContext(Upstream())
        for wheel in WHEELS.glob("*.whl"):
            cls.upstream.offer(wheel)
        cls.farm = cls.enterClassContext(Farm((BASE, SITE), index_settings={
            BASE: f'[[index.upstream]]\nname = "public"\nurl = "{cls.upstream.url}"\nprivate_hosts = ["127.0.0.1"]\n', SITE: 'inherits = ["base"]'}))
        cls.farm.start()

    @unittest.skipUnless(CAN_CUT, WHY_NOT)
    def test_a_node_of_another_machine_type_installs_torch_without_a_way_out_and_computes(self):
        lock = self.folder / "pylock.toml"
        self.assert_ran(subprocess.run(
            [CLIENTS / "uv/bin/uv", "pip", "compile", "-", "--python-version", emulated.PYTHON_VERSION, "--python-platform", "aarch64-manylinux_2_36",
             "--only-binary", ":all:", "--no-config", "--no-cache", "--no-python-downloads", "--format", "pylock.toml", "--default-index",
             self.farm.simple_url(SITE), "-o", lock],
            input=f"torch=={VERSION}", capture_output=True, text=True, env=self.farm.environment, timeout=LONG_S))
        done = self.farm.run("wheelyard-registry", "prefetch", SITE, "--lock", lock, "--python", emulated.PYTHON_VERSION, "--platform", PLATFORM,
                             "-c", self.farm.config, timeout=LONG_S)
        self.assert_ran(done)
        self.upstream.stop()
        python, venv = emulated.make_python(self.folder / "python"), self.folder / "venv"
        script = self.folder / "node"
        script.write_text(f"set -eu\n{python} -c \"{OUTSIDE}\"\n{python} -m venv {venv}\n"
                          f"{venv}/bin/python -m pip --isolated install --no-cache-dir --no-compile --only-binary :all: "
                          f"--index-url {self.farm.simple_url(SITE)} torch\n{venv}/bin/python -c '{COMPUTE}'\n")
        installed = on_island(self.farm, "bash", script, timeout=LONG_S)
        self.assert_ran(installed, f"torch-{VERSION}", COMPUTED)


if __name__ == "__main__":
    missing = [str(path) for path in (emulated.NODE, WHEELS) if not path.exists()]
    if missing:
        not_here(f"{', '.join(missing)}: missing; scripts/install-deps --full, scripts/other-nodes, WHEELYARD_FULL=1 scripts/prepare-clients")
    main()
