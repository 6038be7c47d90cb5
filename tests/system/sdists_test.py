"""Source distributions: real clients upload them beside wheels, pip installs from them; and what is refused."""

import os
import subprocess
import tarfile
import time
from pathlib import Path

from support.case import FarmCase, main
from support.clients import RawUpload, installed_value, pip_install, twine_upload, uv_publish
from support.farm import CLIENTS, COMMAND_TIMEOUT_S
from support.full import full
from support.sdists import Sdist
from support.wheels import Wheel, sha256_of

PLAIN = "plain"
MODULE = '"""Made for a test."""\n__version__ = "1.0"\nvalue = 7\n'
PROJECT = '[project]\nname = "{name}"\nversion = "1.0"\ndescription = "Made for a test."\nrequires-python = ">=3.8"\n'


class SdistsCase(FarmCase):
    indexes = ("debian12", PLAIN)
    index_settings = {"debian12": "sdists = true\nmax_file_mib = 8"}

    def tearDown(self):
        self.assertEqual(self.farm.staging_leftovers(), [])

    def run_client(self, *words: str | Path, **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run(words, env=self.farm.environment | environment, cwd=self.folder, capture_output=True, text=True,
                              timeout=COMMAND_TIMEOUT_S)


class SdistsTest(SdistsCase):
    def assert_both(self, project: str):
        """Wheel and sdist are on the page, and pip installs from either."""
        files = self.farm.files(project.replace("_", "-"))
        self.assertEqual(sorted(files), [f"{project}-1.0-py3-none-any.whl", f"{project}-1.0.tar.gz"])

    def install_from_sdist(self, project: str, *options: str) -> None:
        target = self.folder / "from-sdist"
        self.assert_ran(pip_install(self.farm, "pip-new", target, project, options=("--no-binary", ":all:", *options)))
        self.assertEqual(installed_value("pip-new", target, project), "7")

    def test_twine_uploads_both_and_pip_installs_either(self):
        wheel, sdist = Wheel("by_twine", value=7).write(self.folder), Sdist("by_twine").write(self.folder)
        for _ in range(2):  # the same bytes again are no error
            self.assert_ran(twine_upload(self.farm, self.token, sdist, wheel))
        self.assert_both("by_twine")
        entry = self.farm.files("by-twine")[sdist.name]
        self.assertEqual((entry["hashes"]["sha256"], entry["size"]), (sha256_of(sdist), sdist.stat().st_size))
        self.assertEqual(entry["requires-python"], ">=3.8")
        self.assert_ran(pip_install(self.farm, "pip-new", self.folder / "t", "by_twine"))
        self.install_from_sdist("by_twine")

    def test_metadata_is_offered_only_where_it_holds_for_every_wheel(self):
        dynamic = "Metadata-Version: 2.2\nName: dynamic\nVersion: 1.0\nDynamic: Requires-Dist\n"
        old = "Metadata-Version: 2.1\nName: old\nVersion: 1.0\n"
        for name, metadata in (("static", None), ("dynamic", dynamic), ("old", old)):
            with self.subTest(name):
                sdist = Sdist(name, metadata=metadata).write(self.folder)
                self.assert_ran(twine_upload(self.farm, self.token, sdist))
                entry = self.farm.files(name)[sdist.name]
                page = self.farm.get(f"/debian12/simple/{name}/", accept="text/html")[2].decode()
                self.assertEqual("core-metadata" in entry, name == "static")
                self.assertEqual("data-core-metadata" in page, name == "static")
                self.install_from_sdist(name)

    def test_uv_publishes_both(self):
        wheel, sdist = Wheel("by_uv", value=7).write(self.folder), Sdist("by_uv").write(self.folder)
        self.assert_ran(uv_publish(self.farm, self.token, wheel, sdist))
        self.assert_both("by_uv")
        self.install_from_sdist("by_uv")

    def test_the_project_page_lists_sdists_and_avail_wheels_does_not(self):
        self.assert_ran(twine_upload(self.farm, self.token, Wheel("listed").write(self.folder), Sdist("listed").write(self.folder)))
        deadline = time.monotonic() + COMMAND_TIMEOUT_S
        page = ""
        while "Source distributions" not in page and time.monotonic() < deadline:  # the web UI comes after those of installers
            time.sleep(0.1)
            page = self.farm.get("/debian12/project/listed/", accept="text/html")[2].decode()
        self.assertIn("Source distributions", page)
        self.assertIn("listed-1.0.tar.gz", page)
        self.farm.wait_for_wheel_list("listed-1.0-py3-none-any.whl")
        done = self.farm.run("avail_wheels", "--index-url", self.farm.simple_url(), "listed")
        self.assert_ran(done, "listed")
        self.assertNotIn("tar.gz", done.stdout + done.stderr)

    def test_what_is_refused(self):
        def metadata(name: str, version: str) -> str:
            return f"Metadata-Version: 2.2\nName: {name}\nVersion: {version}\n"

        rows = [
            ("a path upwards", Sdist("evil").add("evil-1.0/../../evil"), "sdist.member_unsafe"),
            ("an absolute path", Sdist("evil").add("/etc/evil"), "sdist.member_unsafe"),
            ("a link upwards", Sdist("evil").add("evil-1.0/a", tarfile.SYMTYPE, "../../evil"), "sdist.member_unsafe"),
            ("a file below a link", Sdist("evil").add("evil-1.0/a", tarfile.SYMTYPE, "..").add("evil-1.0/a/b"), "sdist.member_unsafe"),
            ("another top folder", Sdist("evil", folder="good-1.0"), "sdist.folder"),
            ("another name", Sdist("evil", metadata=metadata("good", "1.0")), "metadata.name_mismatch"),
            ("another version", Sdist("evil", metadata=metadata("evil", "2.0")), "metadata.version_mismatch"),
            ("a bomb", Sdist("evil").add("evil-1.0/zeros", size=80 << 20), "sdist.bomb"),
            ("a member twice", Sdist("evil").add("evil-1.0/own.py"), "sdist.member_duplicate"),
        ]
        for what, sdist, code in rows:
            with self.subTest(what):
                path = sdist.write(self.folder)
                self.assert_refused(RawUpload(self.farm, self.token, path), 400, code)
                self.assertEqual(self.farm.files("evil"), {})
                checked = self.farm.run("wheelyard-registry", "check", path)
                self.assert_failed(checked, code)

    def test_names_archives_and_sizes_that_are_refused(self):
        zipped = Sdist("evil").write(self.folder, "evil-1.0.zip")
        self.assert_refused(RawUpload(self.farm, self.token, zipped), 400, "upload.sdist_archive")
        unnormal = Sdist("evil", "v1.0").write(self.folder)
        self.assert_refused(RawUpload(self.farm, self.token, unnormal), 400, "upload.name_not_normalized", "evil-1.0.tar.gz")
        as_wheel = Sdist("evil").write(self.folder)
        self.assert_refused(RawUpload(self.farm, self.token, as_wheel, filetype="bdist_wheel"), 400, "upload.filetype_differs")
        large = Sdist("large", blob=os.urandom(9 << 20)).write(self.folder)
        self.assert_refused(RawUpload(self.farm, self.token, large), 413, "upload.too_large")

    def test_an_index_without_the_switch_takes_none(self):
        sdist = Sdist("plainly").write(self.folder)
        self.assert_refused(RawUpload(self.farm, self.token, sdist, index=PLAIN), 400, "upload.sdist", "sdists = true")
        self.assertEqual(self.farm.files("plainly", PLAIN), {})
        self.assert_ran(twine_upload(self.farm, self.token, sdist))
        promoter = self.farm.create_token(name="promoter", actions=("promote",))
        token_file = self.folder / "token"
        token_file.touch(mode=0o600)
        token_file.write_text(promoter)
        done = self.farm.run("wheelyard-registry", "promote", "debian12", sdist.name, "--to", PLAIN, "--url", self.farm.url,
                             "--token-file", token_file)
        self.assert_failed(done, "takes no source distributions")
        self.assertEqual(self.farm.files("plainly", PLAIN), {})

    def test_a_folder_is_imported_with_its_sdists(self):
        dist = self.folder / "dist"
        dist.mkdir()
        Wheel("imported", value=7).write(dist)
        Sdist("imported").write(dist)
        done = self.farm.run("wheelyard-registry", "import", "debian12", dist, "--config", self.farm.config)
        self.assert_ran(done)
        self.assert_both("imported")

    def test_the_tree_is_whole_after_all_that(self):
        self.farm.check_tree()

    def test_verify_reads_sdists_and_reports_a_damaged_one(self):
        sdist = Sdist("verified").write(self.folder)
        self.assert_ran(twine_upload(self.farm, self.token, sdist))
        verify = ("wheelyard-registry", "verify", "--config", self.farm.config)
        self.assert_ran(self.farm.run(*verify))
        sha256 = sha256_of(sdist)
        blob = self.farm.data / "blobs/sha256" / sha256[:2] / sha256
        blob.chmod(0o644)
        blob.write_bytes(b"x" + sdist.read_bytes()[1:])
        self.addCleanup(blob.write_bytes, sdist.read_bytes())
        self.assert_failed(self.farm.run(*verify), sha256)


@full
class BuildToolsTest(SdistsCase):
    """The tools that build and upload in one command, unchanged. Their build requirements are in their own environments."""

    def write_project(self, project: str, build_system: str) -> None:
        (self.folder / "pyproject.toml").write_text(build_system + PROJECT.format(name=project))
        (self.folder / f"{project}.py").write_text(MODULE)

    def test_flit(self):
        self.write_project("by_flit", '[build-system]\nrequires = ["flit_core >=3.2,<4"]\nbuild-backend = "flit_core.buildapi"\n')
        self.assert_ran(self.run_client(CLIENTS / "flit/bin/flit", "publish", FLIT_INDEX_URL=self.farm.upload_url(),
                                        FLIT_USERNAME="__token__", FLIT_PASSWORD=self.token))
        files = self.farm.files("by-flit")
        self.assertEqual(sorted(file.rsplit(".", 1)[1] for file in files), ["gz", "whl"])

    def test_hatch(self):
        self.write_project("by_hatch", '[build-system]\nrequires = []\nbuild-backend = "hatchling.build"\n')
        built = self.run_client(CLIENTS / "hatch/bin/python", "-m", "hatchling", "build")
        self.assert_ran(built)
        self.assert_ran(self.run_client(CLIENTS / "hatch/bin/hatch", "publish", "--no-prompt", HATCH_INDEX_REPO=self.farm.upload_url(),
                                        HATCH_INDEX_USER="__token__", HATCH_INDEX_AUTH=self.token))
        self.assertEqual(sorted(file.rsplit(".", 1)[1] for file in self.farm.files("by-hatch")), ["gz", "whl"])

    def test_poetry(self):
        self.write_project("by_poetry", '[build-system]\nrequires = ["poetry-core"]\nbuild-backend = "poetry.core.masonry.api"\n')
        poetry = {"POETRY_REPOSITORIES_FARM_URL": self.farm.upload_url(), "POETRY_HTTP_BASIC_FARM_USERNAME": "__token__",
                  "POETRY_HTTP_BASIC_FARM_PASSWORD": self.token, "POETRY_KEYRING_ENABLED": "false"}
        self.assert_ran(self.run_client(CLIENTS / "poetry/bin/poetry", "publish", "--build", "--repository", "farm",
                                        "--no-interaction", **poetry))
        self.assertEqual(sorted(file.rsplit(".", 1)[1] for file in self.farm.files("by-poetry")), ["gz", "whl"])


if __name__ == "__main__":
    main()
