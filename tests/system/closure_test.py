"""From one name to the whole tree: what a want needs to run and to be built becomes wheels of the site's index, each once, in the order
of the graph; a job installs from that index alone."""

import json
import random
import subprocess
import sys
import tomllib
import unittest
from types import SimpleNamespace

from support.case import FarmCase, main
from support.clients import installed_value
from support.farm import CLIENTS, COMMAND_TIMEOUT_S, INDEX, Farm
from support.full import full
from support.island import CAN_CUT, WHY_NOT, on_island
from support.package_index import FAST_C, PackageIndex, write_sdist
from support.sdists import Sdist
from support.site import Site
from support.upstream import Upstream
from support.wheels import Wheel, sha256_of

TOP = "from ._fast import answer\nimport yard_low\nvalue = answer() + yard_low.value\n"
SEED, KILLS, LONGEST_S = 20261129, 20, 3.0


def read_lock(text: str):
    """By the PyPA's reader, which refuses what PEP 751 does not allow."""
    sys.path.insert(0, str(next((CLIENTS / "wheels").glob("packaging-*.whl"))))
    from packaging.pylock import Pylock
    return Pylock.from_dict(tomllib.loads(text))


class ClosureTest(FarmCase):
    def setUp(self):
        super().setUp()
        self.sources = self.enterContext(PackageIndex(self.folder / "sources"))

    def site(self, package: str, closure: str, farm=None, name: str = "site", more: str = "") -> Site:
        site = Site(farm or self.farm, self.sources, self.token, {package: "latest"}, name=name)
        site.file.write_text(site.file.read_text() + f'closure = "{closure}"\n{more}')
        return site

    def install_with_all_it_needs(self, package: str, farm=None):
        self.assert_ran(subprocess.run([CLIENTS / "pip-debian/bin/python", "-m", "pip", "--isolated", "install", "--no-cache-dir", "--index-url",
                                        (farm or self.farm).simple_url(), "--target", self.folder / "t", package],
                                       env=self.farm.environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S))

    def write_pair(self, top: str = "yard-top", tool: str = "yard-tool", **of_tool):
        """The quickest tree: `top` needs `tool` to be built and to run, and each has its own back end."""
        stem = tool.replace("-", "_")
        Sdist(stem, "2.0", value=8, **of_tool).write(self.sources.folder)
        Sdist(top.replace("-", "_"), value=50, requires=(f"{tool}>=1", "absent; python_version < '3'"), build_requires=(f"{tool}>=2",),
              before=f"import {stem}\n").write(self.sources.folder)

    def write_tree(self):
        """yard-top: an extension; runs with yard-low, and is built by setuptools with yard-tool. Only setuptools has a wheel."""
        write_sdist(self.sources.folder, "yard-top", "1.0", c_source=FAST_C, module_source=TOP, requires=("yard-low>=1", "absent; python_version < '3'"),
                    back_end='setuptools>=61", "yard-tool>=2')
        Sdist("yard_low", "1.5", value=8).write(self.sources.folder)
        write_sdist(self.sources.folder, "yard-tool", "2.0", value=3)

    def states(self, site: Site) -> dict[str, str]:
        return {name: cell["state"] for name, cell in site.plan().items()}

    def test_one_name_becomes_the_whole_tree_and_pip_installs_it_from_that_index_alone(self):
        self.write_pair()
        site = self.site("yard-top", "source")
        lock = self.folder / "pylock.toml"
        self.assert_ran(site.builder("closure", "yard-top", "--source", "--lock", str(lock)), "yard-tool==2.0", "needed by yard-top 1.0, to")
        self.assert_ran(site.builder("closure", "yard-top", "--source", "--explain", "yard-tool"), "yard-top==1.0 (build): yard-tool>=2", "you (wanted)")
        locked = {one.name: one for one in read_lock(lock.read_text()).packages}
        self.assertEqual(sorted(locked), ["yard-tool", "yard-top"])
        self.assertEqual(locked["yard-tool"].sdist.hashes, {"sha256": sha256_of(self.sources.folder / "yard_tool-2.0.tar.gz")})
        self.assertEqual(self.states(site), {"yard-top": "held", "yard-tool": "wanted"})

        self.assert_ran(site.builder("run"))
        self.assertEqual(self.states(site), {"yard-top": "have", "yard-tool": "have"})
        attempts = {attempt["package"]: attempt for attempt in site.attempts()}
        [tool] = self.farm.files("yard-tool").values()
        self.assertEqual(attempts["yard-top"]["closure"]["lock"], {tool["filename"]: f"sha256:{tool['hashes']['sha256']}"})
        self.install_with_all_it_needs("yard-top")
        self.assertEqual(installed_value("pip-debian", self.folder / "t", "yard_top"), "50")

        downloads = len(self.sources.downloads)
        self.assert_ran(site.builder("run"))  # builds nothing
        self.assertEqual((len(site.attempts()), len(self.sources.downloads)), (2, downloads))

    @full
    def test_what_has_no_pure_wheel_is_built_with_a_wheel_that_is_taken(self):
        self.write_tree()
        site = self.site("yard-top", "compiled", self.fresh_farm())
        self.assert_ran(site.builder("closure", "yard-top", "--explain", "setuptools"), "yard-tool==2.0 (build): setuptools>=61", "you (wanted)")
        self.assertEqual(self.states(site), {"yard-top": "held", "yard-tool": "held", "yard-low": "wanted", "setuptools": "wanted"})
        self.assertIn("needed by yard-top 1.0, to run", site.plan()["yard-low"]["reason"])
        self.assert_ran(site.builder("run"))
        self.assertEqual(set(self.states(site).values()), {"have"})
        attempts = {attempt["package"]: attempt for attempt in site.attempts()}
        self.assertEqual((attempts["setuptools"]["source"]["kind"], attempts["setuptools"]["closure"]["taken"]), ("upstream", True))
        self.assertEqual(sorted(name.split("-")[0] for name in attempts["yard-top"]["closure"]["lock"]), ["setuptools", "yard_tool"])
        self.install_with_all_it_needs("yard-top", site.farm)
        self.assertEqual(installed_value("pip-debian", self.folder / "t", "yard_top"), "50")

    def test_with_compiled_what_is_wanted_and_what_has_platform_wheels_is_built_and_the_plan_says_which(self):
        self.write_pair(top="yard-own", tool="yard-fast", build_requires=("yard-plain",))
        Sdist("yard_plain").write(self.sources.folder)
        for theirs in (Wheel("yard-own"), Wheel("yard-fast", version="2.0"), Wheel("yard-plain"),
                       Wheel("yard-fast", version="2.0", tags=("cp39-cp39-win_amd64",))):
            theirs.write(self.sources.folder)
        site = self.site("yard-own", "compiled", name="compiled")
        shown = site.builder("closure", "yard-own", "--json")
        self.assert_ran(shown)
        self.assertEqual({one["name"]: one["how"] for one in json.loads(shown.stdout)["releases"]},
                         {"yard-own": "sdist", "yard-fast": "sdist", "yard-plain": "wheel"})
        reasons = {name: cell["reason"] for name, cell in site.plan().items()}
        self.assertTrue(reasons["yard-own"].endswith("; it is built here"), reasons)
        self.assertTrue(reasons["yard-fast"].endswith("needed by yard-own 1.0, to build; it is built here"), reasons)
        self.assertTrue(reasons["yard-plain"].endswith("needed by yard-fast 2.0, to build; its pure wheel is taken"), reasons)

    @full
    def test_a_wheel_of_a_stranger_is_named_in_the_plan_and_in_the_provenance(self):
        self.write_pair()
        (self.sources.folder / "yard_tool-2.0.tar.gz").unlink()
        Wheel("yard-tool", version="2.0").write(self.sources.folder)
        site = self.site("yard-top", "source", self.fresh_farm())
        self.assert_ran(site.builder("run"))
        named = "built with an upstream's yard_tool-2.0-py3-none-any.whl"
        cells = site.plan()
        self.assertIn(named, cells["yard-top"]["reason"])
        self.assertIn("an upstream's wheel: the release has no sdist", cells["yard-tool"]["reason"])
        stated = site.farm.run("wheelyard-registry", "provenance", INDEX, "yard_top-1.0-py3-none-any.whl", "--config", site.farm.config)
        self.assert_ran(stated, f"notice       {named}", "requirement  yard_tool-2.0-py3-none-any.whl: sha256:")

    @full
    def test_what_cannot_be_resolved_is_said_with_pips_reason(self):
        write_sdist(self.sources.folder, "yard-lost", "1.0", requires=("no-such-thing>=3",))
        site = self.site("yard-lost", "source", self.fresh_farm())
        self.assert_failed(site.builder("run"), "No matching distribution found for no-such-thing>=3")
        self.assertEqual(site.plan()["yard-lost"]["state"], "given up")

    @full
    def test_the_code_of_what_is_known_to_be_bad_does_not_run_and_another_version_is_chosen(self):
        ran = self.folder / "ran"
        self.write_pair()
        Sdist("yard_tool", "3.0", before=f"open({str(ran)!r}, 'w')\n").write(self.sources.folder)
        bad = '[[known_bad]]\npackage = "yard-tool"\nversions = ">=3"\nreason = "it breaks here"\n'
        farm = self.fresh_farm()
        self.assert_ran(self.site("yard-top", "source", farm, more=bad).builder("closure", "yard-top", "--source"), "yard-tool==2.0")
        self.assertFalse(ran.exists(), "the known-bad sdist was asked")
        all_bad = self.site("yard-top", "source", farm, name="other", more=bad.replace(">=3", ">=2"))
        self.assert_failed(all_bad.builder("closure", "yard-top", "--source"), "yard-tool >=2 is known to be bad here: it breaks here")
        self.assertFalse(ran.exists())
        self.assert_ran(self.site("yard-top", "source", farm, name="third").builder("closure", "yard-top", "--source"), "yard-tool==3.0")
        self.assertTrue(ran.exists(), "it says nothing: nobody would have asked")

    @full
    def test_of_an_upstreams_wheels_in_a_mirror_the_pure_ones_stay_and_are_named_and_the_others_are_built(self):
        self.write_three()
        upstream = self.enterContext(Upstream())
        for theirs in (Wheel("yard-tool", version="2.0", tags=("py3-none-linux_x86_64",)), Wheel("yard-low")):
            upstream.offer(theirs.write(self.folder / "upstream"))
        site = self.site("yard-top", "source", self.fresh_farm(
            f'[[index.upstream]]\nname = "public"\nurl = "{upstream.url}"\nprivate_hosts = ["127.0.0.1"]\n'))
        self.assertEqual([len(site.farm.files(name)) for name in ("yard-tool", "yard-low")], [1, 1])
        self.assert_ran(site.builder("run"))
        self.assertEqual(list(site.farm.files("yard-tool")), ["yard_tool-2.0-py3-none-any.whl"])
        cells = site.plan()
        self.assertIn("made elsewhere: it has no provenance", cells["yard-low"]["reason"])
        self.assertTrue(cells["yard-top"]["reason"].endswith("built with an upstream's yard_low-1.0-py3-none-any.whl"), cells["yard-top"])

    def assert_each_once(self, farm: Farm):
        for package in ("yard-top", "yard-tool", "yard-low"):
            self.assertEqual(len(farm.files(package)), 1, package)
        farm.check_tree()

    def write_three(self):
        self.write_pair(requires=("yard-low",))
        Sdist("yard_low", value=1).write(self.sources.folder)

    @full
    def test_killed_with_nine_at_any_moment_each_wheel_is_made_once(self):
        self.write_three()
        site = self.site("yard-top", "source", self.fresh_farm())
        moments, killed = random.Random(SEED), 0
        for _ in range(KILLS):
            process = site.start("run")
            try:
                process.wait(moments.uniform(0.02, LONGEST_S))
            except subprocess.TimeoutExpired:
                process.kill()
                killed += 1
            process.communicate()
        self.assertGreater(killed, KILLS // 2, "the agent was done too early")
        self.assert_ran(site.builder("run"))
        self.assertEqual(sorted(attempt["package"] for attempt in site.attempts()), ["yard-low", "yard-tool", "yard-top"])
        self.assert_each_once(site.farm)

    @full
    @unittest.skipUnless(CAN_CUT, WHY_NOT)
    def test_a_login_node_that_reaches_the_registry_alone_resolves_and_makes_the_tree(self):
        """`sources` offers what the registry had seen of the public index before the network went away."""
        self.write_pair()
        farm = self.enterContext(Farm((INDEX, "sources"), index_settings={INDEX: "", "sources": "sdists = true\n[[index.upstream]]\n"
                                      f'name = "public"\nurl = "{self.sources.url}"\nprivate_hosts = ["127.0.0.1"]\n'}))
        self.token = farm.create_token(INDEX)
        farm.start()
        seen_by_pip = SimpleNamespace(pip_environment={"PIP_INDEX_URL": farm.simple_url("sources")})
        before, site = (Site(farm, seen_by_pip, self.token, {"yard-top": "latest"}, name=name) for name in ("before", "site"))
        site.file.write_text(site.file.read_text() + 'closure = "source"\n')
        self.assert_ran(before.builder("closure", "yard-top", "--source"))
        downloads = len(self.sources.downloads)
        self.assert_ran(on_island(farm, *site.command("run"), environment=site.environment))
        farm.start()
        self.assertEqual(self.states(site), {"yard-top": "have", "yard-tool": "have"})
        self.assertEqual(len(self.sources.downloads), downloads)
        files = json.loads(site.builder("closure", "yard-top", "--source", "--json").stdout)["releases"]
        self.assertTrue(all(one["file"]["url"].startswith(farm.simple_url("sources").removesuffix("simple/")) for one in files), files)

    @full
    def test_two_agents_make_one_tree(self):
        self.write_three()
        farm = self.fresh_farm()
        sites = [self.site("yard-top", "source", farm, name=name) for name in ("one", "two")]
        for run in [site.start("run") for site in sites]:
            output, _ = run.communicate(timeout=COMMAND_TIMEOUT_S)
            self.assertEqual(run.returncode, 0, output)
        for site in sites:
            self.assertEqual(set(self.states(site).values()), {"have"})
        self.assert_each_once(farm)

    def fresh_farm(self, index_settings: str = "") -> Farm:
        farm = Farm(index_settings=index_settings)
        self.addCleanup(farm.__exit__)
        self.token = farm.create_token()
        return farm.start()


if __name__ == "__main__":
    main()
