"""A cluster and a server as newcomers install them: the registry from its Debian package on Debian 12, and on Debian 11, with its Python
3.9, an agent that pip installed from that registry. The agent builds a wheel, and pip on Debian 11 installs it.

Label `full`: needs root, scripts/other-nodes, and what `scripts/package all` made.

    WHEELYARD_PACKAGES=build/package python3 tests/system/installed_agent_test.py
"""

import shutil
import tempfile
import unittest
from pathlib import Path

from support.booted_root import NODES, BootedRoot, can_boot
from support.case import main
from support.deb_registry import URL, install, package, set_up
from support.island import move_to_island
from support.package_index import FAST_C, PackageIndex, write_sdist
from support.packages import PACKAGES
from support.skips import not_here

SERVER, CLUSTER = "bookworm", "bullseye"
WHEELS = NODES / f"{CLUSTER}-wheels"  # setuptools for its Python
MODULE = "from ._fast import answer\nvalue = answer()\n"


class InstalledAgentTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-installed-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.sources = self.enterContext(PackageIndex(self.folder / "sources", WHEELS))
        write_sdist(self.sources.folder, "yard-fast", "1.0", c_source=FAST_C, module_source=MODULE)
        self.server = self.enterContext(BootedRoot(SERVER, self.folder / SERVER))
        self.cluster = self.enterContext(BootedRoot(CLUSTER, self.folder / CLUSTER))

    def test_an_agent_from_the_farm_builds_a_wheel_through_the_packaged_registry(self):
        install(self.server, package("wheelyard-registry"))
        token = set_up(self.server)
        self.cluster.shell(f"""cd /root
            python3 -m venv agent
            agent/bin/pip install --quiet --index-url {URL}/tools/simple/ wheelyard
            umask 077; echo {token} > token""")
        self.assertEqual(self.cluster.say("/root/agent/bin/python", "-c", "import sys; print(*sys.version_info[:2])"), "3 9")
        # What `site init` proposes to build is on the public index alone.
        self.cluster.shell(f"""cd /root
            agent/bin/wheelyard-builder site init --yes --name debian11 --registry {URL} --index main --token-file token
            sed -i 's/"markupsafe"/"yard-fast"/; s/^versions = .*/versions = ["1.0"]/' site.toml
            export PIP_INDEX_URL={self.sources.url}
            agent/bin/wheelyard-builder site check --site site.toml
            agent/bin/wheelyard-builder run --site site.toml""")
        self.cluster.shell(f"""cd /root
            python3 -m venv user
            user/bin/pip install --quiet --index-url {URL}/main/simple/ yard-fast""")
        self.assertEqual(self.cluster.say("/root/user/bin/python", "-c", "import yard_fast; print(yard_fast.value)"), "42")
        self.assertIn("yard_fast-1.0-cp39-cp39-", self.cluster.say("/root/agent/bin/avail_wheels", "yard-fast", "--index-url", f"{URL}/main/simple/",
                                                                  "--json"))
        self.server.say("wheelyard-registry", "verify", "-q")


if __name__ == "__main__":
    if not can_boot(SERVER, CLUSTER) or not WHEELS.is_dir() or not package("wheelyard-registry"):
        not_here(f"{PACKAGES} has no Debian packages, or scripts/other-nodes made no roots, or this is not root; scripts/package all")
    move_to_island()
    main()
