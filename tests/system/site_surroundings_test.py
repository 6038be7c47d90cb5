"""What surrounds a site: a login node that reaches the registry and nothing else (docs/how-to/build-without-a-way-out.md), and libraries that
a view of Spack or a module of EasyBuild provides, laid out as those two write them (docs/how-to/build-against-site-libraries.md)."""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support.case import FarmCase, main
from support.farm import COMMAND_TIMEOUT_S, INDEX, ROOT, Farm
from support.network import Network, enter_network, why_none
from support.package_index import FAST_C, PackageIndex, write_sdist
from support.site import PYTHON, Site
from support.user_files import LMOD

SOURCES = "sources"
RECIPE = """[build]
requires = ["yard-tool"]

[test]
command = '''python -c 'from yard_fast._fast import answer; assert answer() == 42' '''
"""


class HubFarm(Farm):
    host = "10.77.0.1"  # of the namespace in which this program runs


class Elsewhere:
    """Nothing in the environment names an index: pip.conf does."""
    pip_environment: dict[str, str] = {}


@unittest.skipIf(why_none(), why_none())
class LoginNodeTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        network = Network("login")
        cls.login = network.wrapper("login")
        network.__enter__()
        cls.addClassCleanup(network.__exit__)
        public = Path(tempfile.mkdtemp(prefix="wheelyard-public-"))
        cls.addClassCleanup(shutil.rmtree, public)
        cls.public = cls.enterClassContext(PackageIndex(public))  # on this namespace's loopback: the registry reaches it, the login node cannot
        write_sdist(public, "yard-fast", "1.0", c_source=FAST_C)
        write_sdist(public, "yard-tool", "2.0")
        cls.farm = HubFarm((SOURCES, INDEX), index_settings={
            SOURCES: f'sdists = true\n[[index.upstream]]\nname = "public"\nurl = "{cls.public.url}"\nprivate_hosts = ["127.0.0.1"]\n'})
        cls.addClassCleanup(cls.farm.__exit__)
        cls.token = cls.farm.create_token(INDEX)
        cls.farm.start()

    def on_login_node(self, site: Site, *command) -> subprocess.CompletedProcess:
        return subprocess.run([*self.login, *map(str, command)], env=site.environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)

    def test_sdists_and_build_requirements_come_through_the_registry_alone(self):
        site = Site(self.farm, Elsewhere(), self.token, {"yard-fast": "1.0"}, recipes={"yard-fast": RECIPE})
        for port in (self.public.port, self.farm.port):  # neither is there: this loopback is another
            self.assert_failed(self.on_login_node(site, "bash", "-c", f"exec 3<> /dev/tcp/127.0.0.1/{port}"))
        self.assert_failed(self.on_login_node(site, "bash", "-c", f"exec 3<> /dev/tcp/10.77.0.1/{self.public.port}"))
        self.assertEqual(self.on_login_node(site, "ip", "route", "show", "default").stdout, "")
        for key, value in (("index-url", self.farm.simple_url(SOURCES)), ("trusted-host", self.farm.host)):
            self.assert_ran(self.on_login_node(site, PYTHON, "-m", "pip", "config", "--user", "set", f"global.{key}", value))
        self.assert_ran(self.on_login_node(site, *site.command("site", "check")))
        self.assert_ran(self.on_login_node(site, *site.command("run")), "published")
        [wheel] = self.farm.files("yard-fast")
        self.assertTrue(wheel.startswith("yard_fast-1.0-cp"), wheel)
        self.assertTrue({"yard_fast-1.0.tar.gz", "yard_tool-2.0.tar.gz"} <= set(self.public.downloads), self.public.downloads)
        self.assertTrue(any(name.startswith("setuptools-") for name in self.public.downloads), self.public.downloads)


HASH = "4vxrzqrfq7iqzbrdhkwd2o5ncbnlzvtp"
EXTENSION = r"""
import shlex, subprocess
from setuptools import Extension, setup
words = shlex.split(subprocess.check_output(["pkg-config", "--cflags", "--libs", "yard"], text=True))
def after(flag):
    return [word[2:] for word in words if word.startswith(flag)]
setup(name="yard-user", version="VERSION", packages=["yard_user"], ext_modules=[
    Extension("yard_user._fast", ["fast.c"], include_dirs=after("-I"), library_dirs=after("-L"), libraries=after("-l"))])
"""


# As EasyBuild's module generator writes them.
MODULE = """help([==[ Description ]==])
whatis([==[Description: x]==])
local root = "@ROOT@"
conflict("libyard")
prepend_path("CMAKE_PREFIX_PATH", root)
prepend_path("CPATH", pathJoin(root, "include"))
prepend_path("LD_LIBRARY_PATH", pathJoin(root, "lib"))
prepend_path("LIBRARY_PATH", pathJoin(root, "lib"))
prepend_path("PATH", pathJoin(root, "bin"))
prepend_path("PKG_CONFIG_PATH", pathJoin(root, "lib/pkgconfig"))
prepend_path("XDG_DATA_DIRS", pathJoin(root, "share"))
setenv("EBROOTLIBYARD", root)
setenv("EBVERSIONLIBYARD", "1.2")
setenv("EBDEVELLIBYARD", pathJoin(root, "easybuild/libyard-1.2-GCCcore-12.2.0-easybuild-devel"))
"""


class LibrariesTest(FarmCase):
    """libyard 1.2, whose yard_answer() the package yard-user calls."""

    @classmethod
    def setUpClass(cls):
        cls.root = Path(tempfile.mkdtemp(prefix="wheelyard-libraries-"))
        cls.addClassCleanup(shutil.rmtree, cls.root)
        cls.index_settings = f'[index.policy]\nrpath_prefixes = ["{cls.root}"]\n'
        super().setUpClass()
        cls.sources = cls.enterClassContext(PackageIndex(cls.root / "sources"))

    def install(self, prefix: Path) -> None:
        """As its own `make install` does: the prefix is the installation's, never that of a view."""
        for name in ("bin", "include", "lib/pkgconfig", "share"):
            (prefix / name).mkdir(parents=True)
        (prefix / "include/yard.h").write_text("int yard_answer(void);\n")
        (self.folder / "yard.c").write_text("int yard_answer(void) { return 42; }\n")
        subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-soname,libyard.so.1", "-o", prefix / "lib/libyard.so.1", self.folder / "yard.c"], check=True)
        (prefix / "lib/libyard.so").symlink_to("libyard.so.1")
        (prefix / "bin/yard-tool").write_text("#!/bin/sh\necho 1.2\n")
        (prefix / "bin/yard-tool").chmod(0o755)
        (prefix / "lib/pkgconfig/yard.pc").write_text(
            f"prefix={prefix}\nName: yard\nDescription: x\nVersion: 1.2\nLibs: -L${{prefix}}/lib -lyard\nCflags: -I${{prefix}}/include\n")

    def project(self, name: str, version: str) -> str:
        folder = self.folder / name
        (folder / "yard_user").mkdir(parents=True)
        (folder / "yard_user/__init__.py").write_text("")
        (folder / "pyproject.toml").write_text('[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n')
        (folder / "setup.py").write_text(EXTENSION.replace("VERSION", version))
        (folder / "fast.c").write_text("#include <yard.h>\n" + FAST_C.replace("PyLong_FromLong(42)", "PyLong_FromLong(yard_answer())"))
        return f'''[source]
kind = "path"
path = "{folder}"
[build]
before = ["test $(yard-tool) = 1.2"]
[test]
command = """python -c 'from yard_user._fast import answer; assert answer() == 42'"""
'''

    def build(self, name: str, version: str, words: dict[str, str]) -> None:
        """With the block of the page, in which `words` replace its examples."""
        page = (ROOT / "docs/how-to/build-against-site-libraries.md").read_text()
        block = re.search(rf"^## {name}\n.*?^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[1]
        for example, word in words.items():
            self.assertIn(example, block)
            block = block.replace(example, word)
        site = Site(self.farm, self.sources, self.token, {"yard-user": version}, recipes={"yard-user": self.project(name, version)},
                    name=f"site-{name}")
        site.file.write_text(site.file.read_text() + block)
        self.assert_ran(site.builder("site", "check"))
        self.assert_ran(site.builder("run"), "published")

    def test_a_view_of_spack_provides_a_library(self):
        store = self.root / "spack/opt/spack"
        installed = store / f"linux-debian12-x86_64/gcc-12.2.0/libyard-1.2-{HASH}"
        view = self.root / "view"
        self.install(installed)
        for file in [one for one in installed.rglob("*") if not one.is_dir()]:  # folders of its own, links to files
            place = view / file.relative_to(installed)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(file)
        self.build("Spack", "1.1", {"/project/view": str(view), "/project/spack/opt/spack": str(store)})

    @unittest.skipUnless(LMOD.exists(), "Lmod is missing: scripts/install-deps --test")
    def test_a_module_of_easybuild_provides_a_library(self):
        software = self.root / "easybuild/software/libyard/1.2-GCCcore-12.2.0"
        self.install(software)
        module = self.root / "easybuild/modules/all/libyard/1.2-GCCcore-12.2.0.lua"
        module.parent.mkdir(parents=True)
        module.write_text(MODULE.replace("@ROOT@", str(software)))
        self.build("EasyBuild", "1.2", {"/project/easybuild": str(self.root / "easybuild"), "EBROOTHDF5": "EBROOTLIBYARD",
                                        "HDF5/1.14.0-gompi-2022b": "libyard/1.2-GCCcore-12.2.0"})


if __name__ == "__main__":
    enter_network()
    main()
