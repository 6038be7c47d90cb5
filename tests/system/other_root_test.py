"""Two environments, one registry: an agent on this machine and one inside Debian's next release (another Python, another glibc, another compiler)
build the same sdist at once, each for its own index (label `full`: minutes, and root).

    scripts/install-deps --full; scripts/other-nodes        # once: build/nodes/
    WHEELYARD_BIN=build/release/bin python3 tests/system/other_root_test.py
"""

import json
import platform
import shutil
import tempfile
from pathlib import Path
from urllib.parse import urljoin

from support.case import FarmCase, main
from support.clients import RawUpload, installed_value, pip_install
from support.farm import CLIENTS, COMMAND_TIMEOUT_S, INDEX, Farm
from support.other_root import OtherRoot, OtherSite
from support.package_index import FAST_C, PackageIndex, write_sdist
from support.site import PYTHON, PYTHON_VERSION, Site
from support.skips import not_here
from support.slurm_cluster import can_mount

OTHER = "trixie"
NODE = OtherRoot(OTHER)
# From glibc 2.38 on, <stdlib.h> gives strtol another name, which no older glibc has.
NEW_NAME_C = FAST_C.replace("<Python.h>", "<Python.h>\n#include <stdlib.h>").replace("FromLong(42)", 'FromLong(strtol("42", 0, 10))')
PROBE = "import platform, sys; print('%d.%d' % sys.version_info[:2], platform.libc_ver()[1])"


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


class OtherRootTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp(prefix="wheelyard-", dir=NODE.folder / "tmp"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.farm = cls.enterClassContext(Farm((INDEX, OTHER), folder=folder))
        cls.tokens = {index: cls.farm.create_token(index, name=index) for index in cls.farm.indexes}
        cls.farm.start()
        sources = cls.enterClassContext(PackageIndex(folder / "sources"))
        write_sdist(sources.folder, "yard-fast", "1.0", c_source=NEW_NAME_C, module_source="from ._fast import answer\nvalue = answer()\n")

        cls.python, cls.glibc = NODE.say("python3", "-c", PROBE).split()
        common = {"farm": cls.farm, "sources": sources, "wants": {"yard-fast": "1.0"}}
        cls.here = Site(token=cls.tokens[INDEX], name="here", **common)
        cls.there = OtherSite(token=cls.tokens[OTHER], name="there", index=OTHER, python_version=cls.python, python=PYTHON, root=NODE, **common)
        for agent in [site.start("run") for site in (cls.here, cls.there)]:
            output, _ = agent.communicate(timeout=COMMAND_TIMEOUT_S)
            print(output)
            if agent.returncode != 0:
                raise AssertionError(f"{agent.args}: {agent.returncode}\n{output}")

    def wheel(self, index: str) -> Path:
        [(name, entry)] = self.farm.files("yard-fast", index).items()
        path = self.folder / name
        path.write_bytes(self.farm.get(urljoin(f"/{index}/simple/yard-fast/", entry["url"]))[2])
        return path

    def test_each_index_has_the_wheel_of_its_own_environment_alone(self):
        machine = platform.machine()
        self.assertNotEqual(self.python, PYTHON_VERSION)
        for index, python in ((INDEX, PYTHON_VERSION), (OTHER, self.python)):
            tag = "cp" + python.replace(".", "")
            self.assertEqual(list(self.farm.files("yard-fast", index)), [f"yard_fast-1.0-{tag}-{tag}-linux_{machine}.whl"])
        for site in (self.here, self.there):
            self.assertEqual({cell["state"] for cell in site.plan().values()}, {"have"})
            self.assertEqual([attempt["state"] for attempt in site.attempts()], ["done"])
        self.farm.check_tree()

    def test_each_wheel_asks_for_no_more_than_the_glibc_of_its_environment_and_the_newer_one_for_more_than_the_older_has(self):
        reports = self.farm.run("wheelyard-registry", "check", "--json", "--facts", self.wheel(INDEX), self.wheel(OTHER))
        self.assert_ran(reports)
        here, there = (numbers(report["facts"]["symbol_floors"]["GLIBC"]) for report in json.loads(reports.stdout)["wheels"])
        own = numbers(platform.libc_ver()[1])
        print(f"glibc {platform.libc_ver()[1]}: asks for {here}; {self.glibc}: for {there}")
        self.assertLessEqual(here, own)
        self.assertLess(own, there)
        self.assertLessEqual(there, numbers(self.glibc))

    def test_pip_in_each_environment_installs_from_its_own_index_and_imports(self):
        self.assert_ran(pip_install(self.farm, "pip-debian", self.folder / "t", "yard-fast"))
        self.assertEqual(installed_value("pip-debian", self.folder / "t", "yard_fast"), "42")

        venv = f"{NODE.seen(self.farm.folder)}/venv"
        NODE.say("python3", "-m", "venv", venv, environment=self.there.environment)
        pip = [f"{venv}/bin/pip", "install", "--quiet", "--index-url"]
        self.assert_failed(NODE.run(*pip, self.farm.simple_url(INDEX), "yard-fast", environment=self.there.environment), "No matching distribution")
        NODE.say(*pip, self.farm.simple_url(OTHER), "yard-fast", environment=self.there.environment)
        self.assertEqual(NODE.say(f"{venv}/bin/python", "-c", "import yard_fast; print(yard_fast.value)"), "42")

    def test_the_token_of_one_agent_does_not_open_the_other_ones_index(self):
        status, _ = RawUpload(self.farm, self.tokens[OTHER], self.wheel(OTHER), index=INDEX).send()
        self.assertEqual(status, 403)
        self.assertEqual(len(self.farm.files("yard-fast", INDEX)), 1)


if __name__ == "__main__":
    if not (NODE.folder.is_dir() and CLIENTS.is_dir() and can_mount()):
        not_here(f"{NODE.folder} does not exist, or no mount namespace can be made; scripts/install-deps --full, scripts/other-nodes, as root")
    main()
