"""From one name to the whole tree: what a want needs to run and to be built becomes wheels of the site's index, each once, in the order
of the graph; a job installs from that index alone; a leaf that fails stops what needs it and nothing else."""

import subprocess
import sys
import tomllib

from support.case import FarmCase, main
from support.clients import installed_value
from support.farm import CLIENTS, COMMAND_TIMEOUT_S, Farm
from support.full import full
from support.package_index import FAST_C, PackageIndex, write_sdist
from support.sdists import Sdist
from support.site import Site
from support.wheels import Wheel, sha256_of

TOP = "from ._fast import answer\nimport yard_low\nvalue = answer() + yard_low.value\n"


def read_lock(text: str):
    """By the PyPA's reader, which refuses what PEP 751 does not allow."""
    sys.path.insert(0, str(next((CLIENTS / "wheels").glob("packaging-*.whl"))))
    from packaging.pylock import Pylock
    return Pylock.from_dict(tomllib.loads(text))


class ClosureTest(FarmCase):
    def setUp(self):
        super().setUp()
        self.sources = self.enterContext(PackageIndex(self.folder / "sources"))

    def site(self, package: str, closure: str, farm=None, name: str = "site") -> Site:
        site = Site(farm or self.farm, self.sources, self.token, {package: "latest"}, name=name)
        site.file.write_text(site.file.read_text() + f'closure = "{closure}"\n')
        return site

    def install_with_all_it_needs(self, package: str):
        self.assert_ran(subprocess.run([CLIENTS / "pip-debian/bin/python", "-m", "pip", "--isolated", "install", "--no-cache-dir", "--index-url",
                                        self.farm.simple_url(), "--target", self.folder / "t", package],
                                       env=self.farm.environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S))

    def write_tree(self, tool_setup: str | None = None):
        """yard-top: an extension; runs with yard-low, and is built by setuptools with yard-tool. Only setuptools has a wheel."""
        write_sdist(self.sources.folder, "yard-top", "1.0", c_source=FAST_C, module_source=TOP, requires=("yard-low>=1", "absent; python_version < '3'"),
                    back_end='setuptools>=61", "yard-tool>=2')
        Sdist("yard_low", "1.5", value=8).write(self.sources.folder)
        write_sdist(self.sources.folder, "yard-tool", "2.0", value=3, c_source=tool_setup)

    def test_one_name_becomes_the_whole_tree_and_pip_installs_it_from_that_index_alone(self):
        self.write_tree()
        site = self.site("yard-top", "compiled")
        lock = self.folder / "pylock.toml"
        self.assert_ran(site.builder("closure", "yard-top", "--lock", str(lock)), "yard-low==1.5", "setuptools==", "needed by yard-top 1.0, to build")
        self.assert_ran(site.builder("closure", "yard-top", "--explain", "setuptools"), "yard-tool==2.0 (build): setuptools>=61", "you (wanted)")
        locked = {one.name: one for one in read_lock(lock.read_text()).packages}
        self.assertEqual(sorted(locked), ["yard-low", "yard-top"])
        self.assertEqual(locked["yard-low"].sdist.hashes, {"sha256": sha256_of(self.sources.folder / "yard_low-1.5.tar.gz")})

        cells = site.plan()
        self.assertEqual(sorted(cells), ["setuptools", "yard-low", "yard-tool", "yard-top"])
        self.assertEqual({name: cell["state"] for name, cell in cells.items()},
                         {"yard-top": "held", "yard-tool": "held", "yard-low": "wanted", "setuptools": "wanted"})
        self.assertIn("needed by yard-top 1.0, to run", cells["yard-low"]["reason"])

        self.assert_ran(site.builder("run"))
        self.assertEqual({cell["state"] for cell in site.plan().values()}, {"have"})
        attempts = {attempt["package"]: attempt for attempt in site.attempts()}
        [tool] = self.farm.files("yard-tool").values()
        [setuptools] = self.farm.files("setuptools").values()
        self.assertEqual(sorted(attempts["yard-top"]["closure"]["lock"]),
                         [f"setuptools=={setuptools['filename'].split('-')[1]} --hash=sha256:{setuptools['hashes']['sha256']}",
                          f"yard-tool==2.0 --hash=sha256:{tool['hashes']['sha256']}"])
        self.assertEqual((attempts["setuptools"]["source"]["kind"], attempts["setuptools"]["closure"]["taken"]), ("upstream", True))
        self.install_with_all_it_needs("yard-top")
        self.assertEqual(installed_value("pip-debian", self.folder / "t", "yard_top"), "50")

        downloads = len(self.sources.downloads)
        self.assert_ran(site.builder("run"))  # builds nothing
        self.assertEqual((len(site.attempts()), len(self.sources.downloads)), (4, downloads))

    @full
    def test_a_leaf_that_fails_stops_what_needs_it_and_nothing_else(self):
        self.write_tree(tool_setup="#include <this_cluster_has_not.h>\n")
        Wheel("yard-tool", version="2.0").write(self.sources.folder)  # by which pip reads what the others need
        site = self.site("yard-top", "source", self.fresh_farm())
        done = site.builder("run")
        self.assert_failed(done, "waits for yard-tool 2.0, needed to build: given up", "this_cluster_has_not.h")
        self.assertEqual(list(site.farm.files("yard-low")), ["yard_low-1.5-py3-none-any.whl"])
        self.assertEqual(site.farm.files("yard-top"), {})
        self.assertEqual(site.plan()["yard-top"]["state"], "held")

    def test_what_cannot_be_resolved_is_said_with_pips_reason(self):
        write_sdist(self.sources.folder, "yard-lost", "1.0", requires=("no-such-thing>=3",))
        site = self.site("yard-lost", "source", self.fresh_farm())
        self.assert_failed(site.builder("run"), "No matching distribution found for no-such-thing>=3")
        self.assertEqual(site.plan()["yard-lost"]["state"], "given up")

    def fresh_farm(self) -> Farm:
        farm = Farm()
        self.addCleanup(farm.__exit__)
        self.token = farm.create_token()
        return farm.start()


if __name__ == "__main__":
    main()
