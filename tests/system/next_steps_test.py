"""Commands that our programs print for the reader to paste run as printed, in a shell that has only the programs on its PATH."""

import html
import re
import subprocess
import time
from pathlib import Path

from support.case import FarmCase, main
from support.clients import RawUpload
from support.farm import BIN, COMMAND_TIMEOUT_S, INDEX, ROOT
from support.package_index import PackageIndex, write_sdist
from support.site import VENV_PYTHON, Site
from support.wheels import Wheel


class NextStepsTest(FarmCase):
    def paste(self, command: str, environment: dict[str, str], folder: Path) -> str:
        """A command that is no usage error, and that this program knows."""
        done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S,
                              env=environment | {"PATH": f"{BIN}:/usr/bin:/bin"})
        self.assertIn(done.returncode, (0, 1), f"{command}\n{done.stdout}\n{done.stderr}")
        self.assertNotIn("No cell or attempt", done.stderr, command)
        return done.stdout + done.stderr

    def test_what_site_init_prints(self):
        folder = self.folder / "a folder's name"
        folder.mkdir()
        done = self.farm.run("wheelyard-builder", "site", "init", "--yes", "--to", "my site.toml", cwd=folder)
        [command] = re.findall(r"^next: (.*)$", done.stdout, re.MULTILINE)
        self.assertRegex(self.paste(command, self.farm.environment, folder), "(?m)^(ok|FAIL)")

    def test_what_a_failed_run_prints(self):
        with PackageIndex(self.folder / "sources") as sources:
            write_sdist(sources.folder, "yard-broken", "1.0", c_source="this is no C\n")
            site = Site(self.farm, sources, self.farm.create_token(), {"yard-broken": "1.0"})
            self.assert_failed(site.builder("logs", "yard-broken"), "nothing was built here for this cell yet", ": wanted",
                               f"wheelyard-builder run --site {site.file}")
            site.builder("run")
            shown = [site.builder(*words).stdout for words in (("plan",), ("explain", f"yard-broken-1.0-cp{site.python_version.replace('.', '')}"))]
            commands = set(re.findall(r"wheelyard-builder (?:retry|logs|explain|reproduce)[^`;.\n]*site\.toml", "\n".join(shown)))
            self.assertTrue(commands, shown)
            for command in sorted(commands):
                self.paste(command, site.environment, self.folder)

    def test_what_the_pages_show(self):
        self.assertEqual(RawUpload(self.farm, self.token, Wheel("yard-shown").write(self.folder)).send()[0], 200)
        self.assertEqual(RawUpload(self.farm, self.token, Wheel("yard-shown", "0.9").write(self.folder)).send()[0], 200)
        subprocess.run([VENV_PYTHON, "-m", "venv", self.folder / "venv"], check=True, timeout=COMMAND_TIMEOUT_S)

        def typed(command: str) -> subprocess.CompletedProcess:
            path = f"{self.folder}/venv/bin:{BIN}:/usr/bin:/bin"
            return subprocess.run(["sh", "-c", command], cwd=self.folder, env=self.farm.environment | {"PATH": path}, capture_output=True,
                                  text=True, timeout=COMMAND_TIMEOUT_S)

        def shown(path: str, pattern: str) -> str:
            deadline = time.monotonic() + COMMAND_TIMEOUT_S
            while not (found := re.search(pattern, self.farm.get(path)[2].decode(), re.DOTALL)):  # a page comes a moment after its upload
                self.assertLess(time.monotonic(), deadline, path)
                time.sleep(0.05)
            return html.unescape(found.group(1))

        of_index = shown(f"/{INDEX}/", "<code>(pip install .*?)</code>")
        self.assert_ran(typed(of_index.replace("PACKAGE", "yard-shown")), "Successfully installed yard-shown-1.0")
        of_project = shown(f"/{INDEX}/project/yard-shown/", '<code id="install-line"[^>]*>(.*?)</code>')
        self.assert_ran(typed(of_project.replace("https://THIS-SERVER", self.farm.url)), "Requirement already satisfied: yard-shown")
        configuration = shown(f"/{INDEX}/", r"<summary>pip: .*?<code>(.*?)</code>")
        (self.folder / "pip.conf").write_text(configuration)
        self.assert_ran(typed("PIP_CONFIG_FILE=pip.conf pip install --force-reinstall yard-shown==0.9"), "Successfully installed yard-shown-0.9")
        modules = shown(f"/{INDEX}/", "<code>(wheelyard-indexer client-config .*?)</code>")
        self.assert_ran(typed(modules.replace("FOLDER", "made")))
        self.assertTrue(any((self.folder / "made").iterdir()))
        request = shown(f"/{INDEX}/builds/", "<pre>(avail_wheels --request .*?)</pre>")
        self.paste(f"PIP_INDEX_URL={self.farm.simple_url()} {request}", self.farm.environment, self.folder)

    def test_what_the_demo_prints_that_is_kept(self):
        """Its last block, for the farm of this test, with a wheel from elsewhere instead of the public index's."""
        text = (ROOT / "scripts/demo").read_text()
        block = re.search(r"    cat <<TEXT\n(.*?)\nTEXT\n", text, re.DOTALL).group(1)
        (self.folder / "elsewhere").mkdir()
        Wheel("can-ada").write(self.folder / "elsewhere")
        Wheel("six").write(self.folder / "elsewhere")
        subprocess.run([VENV_PYTHON, "-m", "venv", self.folder / "venv"], check=True, timeout=COMMAND_TIMEOUT_S)
        with PackageIndex(self.folder / "sources") as sources:
            site = Site(self.farm, sources, self.farm.create_token(), {}, name="demo")
            self.assert_ran(self.farm.run("wheelyard-registry", "import", INDEX, *(self.folder / "elsewhere").glob("can_ada*"),
                                          "-c", self.farm.config))
            values = {"url": self.farm.url, "index": INDEX, "bin": BIN, "farm": self.folder, "registry_pid": "PID"}
            printed = re.sub(r"\$(\w+)", lambda name: str(values[name.group(1)]), block)
            printed = printed.replace(f"{self.folder}/site/site.toml", str(site.file))
            printed = printed.replace(f"{self.folder}/registry/registry.toml", str(self.farm.config))
            commands = [line.strip() for line in printed.splitlines()]
            self.assertEqual(len(commands), 6, commands)
            pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.folder / "elsewhere"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
            for command in commands[:-1]:  # the last one ends the registry and removes the folder
                environment = self.farm.environment | (pip if " download " in command else {"PIP_CONFIG_FILE": "/dev/null"})
                done = subprocess.run(["sh", "-ec", command], env=environment | {"PATH": "/usr/bin:/bin"}, capture_output=True, text=True,
                                      timeout=COMMAND_TIMEOUT_S)
                self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}\n{done.stderr}")
            self.assertRegex(commands[-1], r"^kill PID && rm -r \S+ +#")
            self.farm.wait_for_wheel_list(Wheel("six").filename)
            self.assertIn("six", self.farm.run("avail_wheels", "--refresh", "--index-url", self.farm.simple_url()).stdout)


if __name__ == "__main__":
    main()
