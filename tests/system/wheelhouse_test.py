"""Jobs that need no network, for every kind of source: an sdist of an index, a tarball by its digest, a Git repository, a folder. What they
install was gathered on the login node, by the interpreter that builds, from an index that has part of it only as an sdist. The agent stops
before it starts the job; the job's script then runs where there is no network at all, and the agent goes on with what it left."""

import hashlib
import json
import subprocess
import tarfile
import unittest
from pathlib import Path

from support.case import FarmCase, main
from support.farm import COMMAND_TIMEOUT_S
from support.full import full
from support.island import CAN_CUT, NO_NETWORK, WHY_NOT
from support.package_index import PackageIndex
from support.sdists import Sdist
from support.site import PYTHON_VERSION, Site
from support.wheels import Wheel

# setup.py cannot even be read without what its build asks for, and only it knows what the wheel asks for.
PYPROJECT = '[build-system]\nrequires = ["setuptools", "yard-tool"]\nbuild-backend = "setuptools.build_meta"\n'
SETUP = """
import yard_tool
from setuptools import setup
setup(name="{name}", version="1.0", packages=["{module}"], install_requires=["yard-part>=" + str(yard_tool.value)])
"""
MODULE = "import yard_part\nvalue = yard_part.value\n"
OFFLINE = 'kind = "local"\n\n[governor]\nuse = false\n\n[network]\noffline_jobs = true\n'


def write_project(folder: Path, name: str) -> Path:
    module = name.replace("-", "_")
    for member, text in {"pyproject.toml": PYPROJECT, "setup.py": SETUP.format(name=name, module=module), f"{module}/__init__.py": MODULE}.items():
        (folder / member).parent.mkdir(parents=True, exist_ok=True)
        (folder / member).write_text(text)
    return folder


def pack(project: Path, archive: Path) -> str:
    """Its digest."""
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(project, archive.name.removesuffix(".tar.gz"))
    return hashlib.sha256(archive.read_bytes()).hexdigest()


@unittest.skipUnless(CAN_CUT, WHY_NOT)
class WheelhouseTest(FarmCase):
    def setUp(self):
        super().setUp()
        self.sources = self.enterContext(PackageIndex(self.folder / "sources"))
        # Neither has a wheel anywhere; their back ends need no setuptools, which the projects bring.
        Sdist("yard_tool", "2.0", value=3).write(self.sources.folder)
        Sdist("yard_part", "3.1", requires=("yard-deep",),
              **{"yard_part.py": b"import yard_deep\nvalue = yard_deep.value\n"}).write(self.sources.folder)
        Wheel("yard-deep", value=77).write(self.sources.folder)

    def build_without_network(self, name: str, source: str, gathered: str = "yard_tool yard_part yard_deep", command: tuple[str, ...] = ("run",)):
        """From plan to published wheel, with the job alone in a place that has no network. `command` makes the wheelhouse."""
        module = name.replace("-", "_")
        recipe = f"""[source]
{source}
[test]
command = '''
if (exec 3<> /dev/tcp/127.0.0.1/{self.sources.server.server_port}) 2> /dev/null; then
    echo "there is a network"
    exit 1
fi
python -c 'import {module}; assert {module}.value == 77'
'''
"""
        site = self.offline_site(name, recipe)
        stopped = site.builder(*command, failpoint="journal.prepared")
        [attempt] = (site.folder / "work" / "attempts").iterdir()
        report = stopped.stdout + stopped.stderr + "".join(path.read_text() for path in attempt.glob("*.log"))
        self.assertTrue((attempt / "script.sh").exists(), report)
        wheels = sorted(path.name for path in (attempt / "wheelhouse").iterdir())
        self.assertTrue(all(wheel.endswith(".whl") for wheel in wheels), wheels)
        self.assertLessEqual(set(gathered.split()), {wheel.split("-")[0] for wheel in wheels}, report)

        with open(attempt / "log", "ab") as log:
            subprocess.run([*NO_NETWORK, "/bin/bash", attempt / "script.sh"], env=site.farm.environment, stdout=log, stderr=log,
                           timeout=COMMAND_TIMEOUT_S, check=False)
        self.assertIn("exit=0 phase=done", (attempt / "log").read_text())
        self.assert_ran(site.builder("run"))
        self.assertEqual([one["id"] for one in site.attempts()], [attempt.name])  # no second one
        self.assertEqual(list(self.farm.files(name)), [f"{module}-1.0-py3-none-any.whl"])

    def test_an_sdist_of_an_index_is_built_without_network_and_one_tick_that_stays_makes_its_wheelhouse(self):
        digest = pack(write_project(self.folder / "p", "yard-sdist"), self.sources.folder / "yard_sdist-1.0.tar.gz")
        self.build_without_network("yard-sdist", f'kind = "sdist"\nsha256 = {{ "1.0" = "{digest}" }}\n', command=("tick", "--stay"))

    @full
    def test_a_tarball_is_built_without_network(self):
        digest = pack(write_project(self.folder / "p", "yard-tarball"), self.sources.folder / "somewhere-1.0.tar.gz")
        url = self.sources.url.replace("/simple/", "/files/somewhere-{version}.tar.gz")
        self.build_without_network("yard-tarball", f'kind = "tarball"\nurl = "{url}"\nsha256 = {{ "1.0" = "{digest}" }}\n')

    def test_a_git_repository_is_built_without_network(self):
        project = write_project(self.folder / "p", "yard-git")
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"], ["tag", "v1.0"]):
            subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main", "-C", project, *words],
                           env=self.farm.environment, check=True)
        self.build_without_network("yard-git", f'kind = "git"\nurl = "{project.as_uri()}"\n')

    @full
    def test_a_folder_is_built_without_network_also_with_what_hashes_let_pass_only_as_an_sdist(self):
        project = write_project(self.folder / "p", "yard-hashed")
        (project / "pyproject.toml").write_text('[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n')
        tool = self.sources.folder / "yard_tool-2.0.tar.gz"
        digest = hashlib.sha256(tool.read_bytes()).hexdigest()
        (project / "locked.txt").write_text(f"# by its sdist\nyard-tool==2.0 \\\n    --hash=sha256:{digest}\n")
        self.build_without_network("yard-hashed", f'kind = "path"\npath = "{project}"\n[build]\nrequirements_files = ["locked.txt"]\n',
                                   gathered="yard_part yard_deep")
        [outcome] = (self.farm.folder / "site-yard-hashed" / "state" / "outcomes").iterdir()
        requirements = json.loads(outcome.read_text())["provenance"]["requirements"]
        self.assertEqual(list(requirements), ["yard_tool-2.0-py3-none-any.whl"])
        self.assertRegex(requirements["yard_tool-2.0-py3-none-any.whl"], "^sha256:[0-9a-f]{64}$")
        self.assertNotIn(digest, requirements["yard_tool-2.0-py3-none-any.whl"])  # the wheel's, not the sdist's

    def test_bytes_that_do_not_match_a_hash_are_reported_before_any_job(self):
        project = write_project(self.folder / "p", "yard-other")
        (project / "locked.txt").write_text(f"yard-tool==2.0 --hash=sha256:{'0' * 64}\n")
        site = self.offline_site("yard-other", f'[source]\nkind = "path"\npath = "{project}"\n[build]\nrequirements_files = ["locked.txt"]\n')
        task = "yard-other-1.0-cp" + PYTHON_VERSION.replace(".", "")
        self.assert_failed(site.builder("run"), "does not have the pinned hash")
        attempt, = site.attempts()  # one: a person must look
        self.assertEqual((attempt["failure"]["phase"], attempt["failure"]["cause"]), ("prepare", "source.hash"))
        self.assert_ran(site.builder("logs", task), "THESE PACKAGES DO NOT MATCH THE HASHES")  # what the login node said

    def offline_site(self, name: str, recipe: str) -> Site:
        return Site(self.farm, self.sources, self.token, {name: "1.0"}, recipes={name: recipe}, scheduler=OFFLINE, name=f"site-{name}")

    @full
    def test_an_upstreams_wheel_from_where_pip_looks_is_taken_without_network(self):
        Wheel("yard-upstream", value=77, metadata_lines=("Requires-Dist: yard-part",)).write(self.sources.folder)
        self.build_without_network("yard-upstream", 'kind = "upstream"', gathered="yard_upstream yard_part yard_deep")


if __name__ == "__main__":
    main()
