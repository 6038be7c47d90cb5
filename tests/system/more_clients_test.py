"""Uploads by the other clients that speak the form: an old twine, flit, pdm, poetry, and curl by hand. Each wheel is installed by pip.

Only with WHEELYARD_FULL=1 (scripts/test --full), which also has scripts/prepare-clients fetch them; clients_test.py has the ones
that every run tries.
"""

import subprocess
from pathlib import Path

from support.case import FarmCase, main
from support.clients import installed_value, pip_install
from support.farm import CLIENTS, COMMAND_TIMEOUT_S
from support.full import full
from support.wheels import Wheel, sha256_of

MODULE = '"""Made for a test."""\n__version__ = "1.0"\nvalue = 7\n'
PROJECT = '[project]\nname = "{name}"\nversion = "1.0"\ndescription = "Made for a test."\n'
FLIT = '[build-system]\nrequires = ["flit_core >=3.2,<4"]\nbuild-backend = "flit_core.buildapi"\n'


@full
class MoreClientsTest(FarmCase):
    def run_client(self, *words: str | Path, **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run(words, env=self.farm.environment | environment, cwd=self.folder, capture_output=True, text=True,
                              timeout=COMMAND_TIMEOUT_S)

    def wheel(self, project: str) -> Path:
        return Wheel(project, value=7).write(self.folder / "dist")

    def write_project(self, project: str, more: str = ""):
        (self.folder / "pyproject.toml").write_text(more + PROJECT.format(name=project))

    def assert_installable(self, project: str):
        self.assert_ran(pip_install(self.farm, "pip-new", self.folder / "target", project))
        self.assertEqual(installed_value("pip-new", self.folder / "target", project), "7")

    def test_an_old_twine(self):
        wheel = self.wheel("by_old_twine")
        for _ in range(2):  # the same bytes again are no error
            self.assert_ran(self.run_client(
                CLIENTS / "twine-old/bin/python", "-m", "twine", "upload", "--non-interactive", "--disable-progress-bar",
                "--repository-url", self.farm.upload_url(), wheel, TWINE_USERNAME="__token__", TWINE_PASSWORD=self.token))
        self.assert_installable("by_old_twine")

    def test_flit(self):
        (self.folder / "by_flit.py").write_text(MODULE)
        self.write_project("by_flit", FLIT)
        done = self.run_client(CLIENTS / "flit/bin/flit", "publish", "--format", "wheel", FLIT_INDEX_URL=self.farm.upload_url(),
                               FLIT_USERNAME="__token__", FLIT_PASSWORD=self.token)
        self.assert_ran(done)
        self.assert_installable("by_flit")

    def test_pdm(self):
        self.wheel("by_pdm")
        self.write_project("by_pdm")
        done = self.run_client(CLIENTS / "pdm/bin/pdm", "publish", "--no-build", PDM_PUBLISH_REPO=self.farm.upload_url(),
                               PDM_PUBLISH_USERNAME="__token__", PDM_PUBLISH_PASSWORD=self.token, PDM_CHECK_UPDATE="0")
        self.assert_ran(done)
        self.assert_installable("by_pdm")

    def test_poetry(self):
        wheel = self.wheel("by_poetry")
        self.write_project("by_poetry")
        poetry = {"POETRY_REPOSITORIES_FARM_URL": self.farm.upload_url(), "POETRY_HTTP_BASIC_FARM_USERNAME": "__token__",
                  "POETRY_HTTP_BASIC_FARM_PASSWORD": self.token, "POETRY_KEYRING_ENABLED": "false"}
        self.assert_ran(self.run_client(CLIENTS / "poetry/bin/poetry", "publish", "--repository", "farm", "--no-interaction",
                                        "--dist-dir", wheel.parent, **poetry))
        self.assert_installable("by_poetry")

    def test_bandersnatch_mirrors_the_index_and_fetches_only_what_is_new(self):
        first = self.wheel("by_mirror")
        self.assert_ran(pip_upload := self.run_client(CLIENTS / "twine/bin/python", "-m", "twine", "upload", "--non-interactive",
                                                      "--disable-progress-bar", "--repository-url", self.farm.upload_url(), first,
                                                      TWINE_USERNAME="__token__", TWINE_PASSWORD=self.token))
        self.assertIn("by_mirror", pip_upload.stdout)
        mirror = self.folder / "mirror"
        (self.folder / "bandersnatch.conf").write_text(
            f"[mirror]\ndirectory = {mirror}\nmaster = {self.farm.simple_url().removesuffix('/simple/')}\napi-method = simple\n"
            "allow-non-https = true\nworkers = 2\nstop-on-error = true\nhash-index = false\njson = true\n")
        bandersnatch = (CLIENTS / "bandersnatch/bin/bandersnatch", "-c", self.folder / "bandersnatch.conf", "mirror")
        self.assert_ran(self.run_client(*bandersnatch))
        [kept] = (mirror / "web/packages").rglob(first.name)
        self.assertEqual(sha256_of(kept), sha256_of(first))
        page = (mirror / "web/simple/by-mirror/index.html").read_text()
        self.assertIn(sha256_of(first), page)
        stamp = kept.stat().st_mtime_ns
        again = self.run_client(*bandersnatch)
        self.assert_ran(again)
        self.assertEqual(kept.stat().st_mtime_ns, stamp)

    def test_curl(self):
        wheel = self.wheel("by_curl")
        (self.folder / "token-header").write_text(f"Authorization: Bearer {self.token}\n")
        form = {":action": "file_upload", "protocol_version": "1", "name": "by_curl", "version": "1.0", "filetype": "bdist_wheel",
                "pyversion": "py3", "sha256_digest": sha256_of(wheel), "content": f"@{wheel}"}
        done = self.run_client("curl", "--silent", "--show-error", "--fail-with-body", "--header", "@token-header",
                               *(word for name, value in form.items() for word in ("--form", f"{name}={value}")),
                               self.farm.upload_url())
        self.assert_ran(done)
        self.assert_installable("by_curl")


if __name__ == "__main__":
    main()
