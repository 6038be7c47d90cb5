"""Public reports about other registries, tried on ours: public_reports.tsv says which report each test is about; what other suites show
is not repeated here. One index, in four forms: the server, nginx over the published tree, a plain file server, and a folder."""

import functools
import gzip
import hashlib
import http.client
import http.server
import json
import re
import subprocess
import threading
import urllib.parse
import zipfile
from pathlib import Path

from support.case import FarmCase, OwnFarmsCase, main
from support.clients import CLIENTS, PIPS, RawUpload, twine_upload, uv_publish
from support.farm import COMMAND_TIMEOUT_S, INDEX, Farm
from support.full import IS_FULL, full
from support.sdists import Sdist
from support.upstream import JSON, Upstream
from support.web_servers import TreeServer
from support.wheels import Wheel, sha256_of

INSTALLERS = (*(PIPS if IS_FULL else ("pip-old", "pip-new")), "uv")
NEVER = "2099-01-01T00:00:00Z"
BEFORE = "2020-01-01T00:00:00Z"


class PlainFiles(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class ClientsCase(FarmCase):
    def run_client(self, *words: object, folder: Path | None = None, **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run([str(word) for word in words], env=self.farm.environment | environment, cwd=folder or self.folder,
                              capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)

    def install(self, client: str, target: Path, *words: object, **environment: str) -> subprocess.CompletedProcess:
        if client == "uv":
            return self.run_client(CLIENTS / "uv/bin/uv", "pip", "install", "--no-config", "--no-cache", "--python", CLIENTS / "pip-new/bin/python",
                                   "--target", target, *words, **environment)
        return self.run_client(CLIENTS / client / "bin/python", "-m", "pip", "--isolated", "install", "--no-cache-dir",
                               "--disable-pip-version-check", "--target", target, *words, **environment)

    def installed(self, target: Path) -> list[str]:
        return sorted(path.name.removesuffix(".dist-info") for path in target.glob("*.dist-info"))

    def upload(self, *files: Path, index: str = INDEX) -> None:
        for file in files:
            status, problem = RawUpload(self.farm, self.token, file, index).send()
            self.assertEqual(status, 200, problem)


class EveryFormTest(ClientsCase):
    index_settings = "sdists = true"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        made = cls.farm.folder / "made"
        made.mkdir()
        cls.files = {file.name: file for file in (
            Wheel("Yard.Names_Here", "1.0").write(made), Wheel("yard-epoch", "2024.1").write(made), Wheel("yard-epoch", "1!2.0").write(made),
            Wheel("yard-plus", "1.0+site.1", metadata_lines=("Classifier: Topic :: Software Development",) * 400).write(made),
            Wheel("yard-both", "1.0").write(made), Sdist("yard_both").write(made),
            *(Wheel("yard-many", f"1.{number}").write(made) for number in range(9)))}
        for file in cls.files.values():
            status, problem = RawUpload(cls.farm, cls.token, file).send()
            assert status == 200, problem
        cls.tree = cls.farm.folder / "tree"
        done = cls.farm.run("wheelyard-indexer", "publish", "--store", cls.farm.data, "--to", cls.tree)
        assert done.returncode == 0, done.stderr
        cls.farm.folder.chmod(0o755)
        nginx = TreeServer(cls.tree, cls.farm.folder / "nginx")
        cls.enterClassContext(nginx)
        plain = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(PlainFiles, directory=str(cls.tree)))
        threading.Thread(target=plain.serve_forever, daemon=True).start()
        cls.addClassCleanup(plain.server_close)
        cls.addClassCleanup(plain.shutdown)
        cls.web = {"server": cls.farm.url, "nginx": nginx.url, "http.server": f"http://127.0.0.1:{plain.server_port}"}
        cls.forms = {name: f"{url}/{INDEX}/simple/" for name, url in cls.web.items()} | {"file": (cls.tree / INDEX / "simple").as_uri() + "/"}

    def ask(self, form: str, path: str, method: str = "GET", **headers: str) -> tuple[int, http.client.HTTPMessage, bytes]:
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.web[form]).netloc, timeout=COMMAND_TIMEOUT_S)
        try:
            connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def path_of(self, file: Path, quoted: bool = True) -> str:
        sha256 = sha256_of(file)
        return f"/{INDEX}/files/{sha256[:2]}/{sha256}/" + (urllib.parse.quote(file.name) if quoted else file.name)

    def test_odd_names_epochs_local_versions_and_pairs_install_with_their_hashes_in_every_form(self):
        wanted = ("yard.names-here==1.0", "yard-epoch==1!2.0", "yard-plus==1.0+site.1", "yard-both==1.0")
        lines = []
        for requirement in wanted:
            stem = re.sub(r"[-.]", "_", requirement.split("==")[0]) + "-" + requirement.split("==")[1]
            hashes = " ".join(f"--hash=sha256:{sha256_of(file)}" for name, file in self.files.items() if name.startswith(stem))
            lines.append(f"{requirement} {hashes}\n")
        requirements = self.folder / "requirements.txt"
        requirements.write_text("".join(lines))
        for form, url in self.forms.items():
            for client in INSTALLERS:
                with self.subTest(form, client=client):
                    target = self.folder / f"{form}-{client}"
                    self.assert_ran(self.install(client, target, "--no-deps", "--require-hashes", "--index-url", url, "-r", requirements))
                    self.assertEqual(self.installed(target), ["yard_both-1.0", "yard_epoch-1!2.0", "yard_names_here-1.0", "yard_plus-1.0+site.1"])

    def test_a_cooldown_of_uv_and_of_pip_finds_the_times_in_every_form_that_has_them(self):
        for form, url in self.forms.items():
            for client, option in (("uv", "--exclude-newer"), ("pip-new", "--uploaded-prior-to")):
                if client == "pip-new" and form == "http.server":
                    continue  # pip takes times from JSON alone; of a folder it asks none
                with self.subTest(form, client=client):
                    target = self.folder / f"{form}-{client}"
                    self.assert_ran(self.install(client, target, option, NEVER, "--index-url", url, "yard-plus"))
                    if (client, form) != ("pip-new", "file"):
                        self.assert_failed(self.install(client, target, option, BEFORE, "--index-url", url, "yard-many"), "yard-many")

    def test_the_page_of_a_project_is_a_page_of_links_too(self):
        page = self.tree / INDEX / "simple/yard-both/index.html"
        for client in INSTALLERS:
            for name, links in (("file", page), ("server", self.forms["server"] + "yard-both/"), ("nginx", self.forms["nginx"] + "yard-both/")):
                with self.subTest(client, links=name):
                    target = self.folder / f"{client}-{name}"
                    self.assert_ran(self.install(client, target, "--no-deps", "--no-index", "--find-links", links, "yard-both"))

    def test_files_are_never_compressed_or_decompressed_on_their_way(self):
        for form in self.web:
            for name in ("yard_both-1.0.tar.gz", "yard_both-1.0-py3-none-any.whl"):
                with self.subTest(form, file=name):
                    status, headers, body = self.ask(form, self.path_of(self.files[name]), Accept_Encoding="gzip, deflate, zstd")
                    self.assertEqual((status, headers["Content-Encoding"], body), (200, None, self.files[name].read_bytes()))

    def test_a_page_says_the_same_compressed_and_not(self):
        for form in ("server", "nginx"):
            for accept in ("text/html", JSON):
                with self.subTest(form, accept=accept):
                    path = f"/{INDEX}/simple/yard-many/"
                    _, plain, body = self.ask(form, path, Accept=accept)
                    _, packed, compressed = self.ask(form, path, Accept=accept, Accept_Encoding="gzip")
                    self.assertEqual((plain["Content-Encoding"], packed["Content-Encoding"]), (None, "gzip"))
                    self.assertEqual(gzip.decompress(compressed), body)
                    self.assertIn("Accept-Encoding", ", ".join(packed.get_all("Vary")))

    def test_ranges_beyond_the_ends_of_a_file(self):
        file = self.files["yard_plus-1.0+site.1-py3-none-any.whl"]
        data = file.read_bytes()
        for form in ("server", "nginx"):
            with self.subTest(form):
                status, headers, body = self.ask(form, self.path_of(file), "HEAD")
                self.assertEqual((status, headers["Accept-Ranges"], headers["Content-Length"], body), (200, "bytes", str(len(data)), b""))
                status, headers, body = self.ask(form, self.path_of(file), Range="bytes=-20")
                self.assertEqual((status, headers["Content-Range"], body), (206, f"bytes {len(data) - 20}-{len(data) - 1}/{len(data)}", data[-20:]))
                self.assertEqual(self.ask(form, self.path_of(file), Range=f"bytes=-{len(data) + 1000}")[2], data)
                self.assertEqual(self.ask(form, self.path_of(file), Range=f"bytes=5-{len(data) + 1000}")[2], data[5:])
                status, headers, _ = self.ask(form, self.path_of(file), Range=f"bytes={len(data)}-")
                self.assertEqual((status, headers["Content-Range"]), (416, f"bytes */{len(data)}"))

    def test_plus_and_exclamation_mark_are_the_same_literal_and_encoded(self):
        for form in self.web:
            for name in ("yard_plus-1.0+site.1-py3-none-any.whl", "yard_epoch-1!2.0-py3-none-any.whl"):
                for quoted in (True, False):
                    with self.subTest(form, file=name, quoted=quoted):
                        self.assertEqual(self.ask(form, self.path_of(self.files[name], quoted))[2], self.files[name].read_bytes())

    def test_whoever_prefers_neither_form_gets_the_same_from_both_servers(self):
        html = "application/vnd.pypi.simple.v1+html"
        for accept, kind in (("*/*", "text/html"), (f"{JSON}, {html}, text/html;q=0.01", JSON), (f"{html}, {JSON}", JSON)):
            for form in ("server", "nginx"):
                with self.subTest(form, accept=accept):
                    self.assertEqual(self.ask(form, f"/{INDEX}/simple/yard-both/", Accept=accept)[1]["Content-Type"].split(";")[0], kind)

    @full
    def test_poetry_locks_and_installs_from_every_form_that_is_served(self):
        for form, url in self.forms.items():
            if form == "file":
                continue  # it has no adapter for such an address
            with self.subTest(form):
                project = self.folder / f"poetry-{form}"
                project.mkdir()
                (project / "pyproject.toml").write_text(
                    '[project]\nname = "demo"\nversion = "1"\nrequires-python = ">=3.9,<4"\ndependencies = ["yard-plus==1.0+site.1", "yard.names-here"]\n'
                    f'[[tool.poetry.source]]\nname = "farm"\nurl = "{url}"\npriority = "primary"\n')
                poetry = {"POETRY_VIRTUALENVS_IN_PROJECT": "1", "POETRY_KEYRING_ENABLED": "false", "VIRTUAL_ENV": ""}
                for words in (("lock",), ("install", "--no-root")):
                    self.assert_ran(self.run_client(CLIENTS / "poetry/bin/poetry", *words, "--no-interaction", "--no-cache", folder=project, **poetry))
                self.assertIn(sha256_of(self.files["yard_plus-1.0+site.1-py3-none-any.whl"]), (project / "poetry.lock").read_text())

    @full
    def test_pex_locks_and_resolves_from_every_form(self):
        for form, url in self.forms.items():
            with self.subTest(form):
                lock, root = self.folder / f"{form}.json", self.folder / "pex-root"
                pex = ("--no-pypi", "--index", url, "--pex-root", root)
                self.assert_ran(self.run_client(CLIENTS / "pex/bin/pex3", "lock", "create", *pex, "yard-plus==1.0+site.1", "yard-both", "-o", lock))
                self.assertIn(sha256_of(self.files["yard_plus-1.0+site.1-py3-none-any.whl"]), lock.read_text())
                self.assert_ran(self.run_client(CLIENTS / "pex/bin/pex", *pex, "--lock", lock, "--", "-c", "import yard_plus, yard_both"))

    @full
    def test_pipenv_locks_the_hashes_of_all_files_of_a_version(self):
        for form, url in self.forms.items():
            if form == "file":
                continue
            with self.subTest(form):
                project = self.folder / f"pipenv-{form}"
                project.mkdir()
                (project / "Pipfile").write_text(f'[[source]]\nname = "farm"\nurl = "{url}"\nverify_ssl = false\n\n[packages]\nyard-both = "*"\n')
                pipenv = {"PIPENV_VENV_IN_PROJECT": "1", "PIPENV_IGNORE_VIRTUALENVS": "1", "PIPENV_NOSPIN": "1"}
                self.assert_ran(self.run_client(CLIENTS / "pipenv/bin/pipenv", "lock", folder=project, **pipenv))
                locked = json.loads((project / "Pipfile.lock").read_text())["default"]["yard-both"]["hashes"]
                self.assertEqual(set(locked), {f"sha256:{sha256_of(file)}" for name, file in self.files.items() if name.startswith("yard_both-")})
                self.assert_ran(self.run_client(CLIENTS / "pipenv/bin/pipenv", "sync", folder=project, **pipenv))


class Spelled(Wheel):
    """Named as its project is, as old build backends name wheels."""

    @property
    def module(self) -> str:
        return self.name.replace("-", "_")


class UploadsTest(ClientsCase):
    def test_the_same_bytes_again_are_no_error_and_other_bytes_are_told_apart(self):
        first, other = (Wheel("yard-again", value=value).write(self.folder / str(value)) for value in (1, 2))
        for _ in range(2):
            self.assert_ran(twine_upload(self.farm, self.token, first))
        self.assert_failed(twine_upload(self.farm, self.token, other), "409", "File already exists")
        check = ("--check-url", self.farm.simple_url())
        self.assert_ran(uv_publish(self.farm, self.token, first, options=check), "already exists, skipping")
        self.assert_failed(uv_publish(self.farm, self.token, other, options=check), "do not match")
        self.assert_ran(uv_publish(self.farm, self.token, Wheel("yard-first").write(self.folder), options=check))  # its project has no page yet
        self.assertEqual(self.farm.files("yard-again")[first.name]["hashes"]["sha256"], sha256_of(first))

    def test_a_name_is_taken_in_each_spelling_and_its_file_once(self):
        for wheel in (Spelled("Pygments", "2.13.0"), Spelled("hydrotools._restclient"), Wheel("simplepackage.py"), Wheel("yard-zero", "2.14")):
            self.assert_ran(twine_upload(self.farm, self.token, wheel.write(self.folder)))
        for again, reason in ((Wheel("pygments", "2.13.0", value=2), "409"), (Wheel("pygments", "02.13.0"), "400"), (Wheel("yard-zero", "2.14.0"), "409")):
            self.assert_failed(twine_upload(self.farm, self.token, again.write(self.folder)), reason)
        for client in INSTALLERS:
            target = self.folder / client
            self.assert_ran(self.install(client, target, "--index-url", self.farm.simple_url(), "pygments", "Hydrotools.-RestClient", "simplepackage_py"))
            self.assertEqual(len(self.installed(target)), 3)

    def test_the_metadata_of_a_wheel_is_not_that_of_what_it_bundles(self):
        own = Wheel("yard-bundles", extra_members={"yard_bundles/_vendor/pip-24.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: pip\nVersion: 24.0\n"})
        path = own.write(self.folder)
        with zipfile.ZipFile(path, "w") as archive:  # the other one first
            for name, data in sorted(own.members().items(), key=lambda member: "_vendor" not in member[0]):
                archive.writestr(name, data)
        self.upload(path)
        sha256 = sha256_of(path)
        body = self.farm.get(f"/{INDEX}/files/{sha256[:2]}/{sha256}/{path.name}.metadata")[2]
        self.assertEqual(body, own.members()["yard_bundles-1.0.dist-info/METADATA"])

    @full
    def test_an_old_twine_skips_what_is_there(self):
        for value in (1, 2):
            done = self.run_client(CLIENTS / "twine-old/bin/python", "-m", "twine", "upload", "--non-interactive", "--disable-progress-bar",
                                   "--skip-existing", "--repository-url", self.farm.upload_url(), Wheel("yard-skipped", value=value).write(self.folder),
                                   TWINE_USERNAME="__token__", TWINE_PASSWORD=self.token)
            self.assert_ran(done, *(("Skipping",) if value == 2 else ()))


class MirrorTest(ClientsCase, OwnFarmsCase):
    """`mirror` has an upstream; `closed`, with one of its own, is read with a token only."""

    def setUp(self):
        super().setUp()
        self.upstream = self.enterContext(Upstream())

    def open_farm(self, *urls: str) -> str:
        """Of the first index; `mirror1` … have the upstreams at `urls`."""
        def lines(url: str) -> str:
            return f'[[index.upstream]]\nname = "up"\nurl = "{url}"\nprivate_hosts = ["127.0.0.1"]\n'

        indexes = {"mirror": lines(self.upstream.url), "closed": 'read = "token"\n' + lines(self.upstream.url),
                   **{f"mirror{number}": lines(url) for number, url in enumerate(urls, 1)}}
        self.farm = self.enterContext(Farm(tuple(indexes), index_settings=indexes))
        self.token = self.farm.create_token("closed", actions=("read",))
        self.farm.start()
        return self.farm.simple_url("mirror")

    def offer(self, wheel: Wheel, **more):
        return self.upstream.offer(wheel.write(self.folder / "upstream"), **more)

    def test_metadata_is_that_of_the_upstream_with_its_hash_and_resolves_without_the_wheel(self):
        for number in range(3):
            wheel = Wheel("yard-meta", f"1.{number}", metadata_lines=("Requires-Dist: yard-absent",) if number else ())
            self.offer(wheel, metadata=wheel.members()[f"yard_meta-1.{number}.dist-info/METADATA"])
        url = self.open_farm()
        for client in ("pip-new", "uv"):  # they look at 1.2 and 1.1 first, whose requirement nobody has
            self.assert_ran(self.install(client, self.folder / client, "--index-url", url, "yard-meta"))
            self.assertEqual(self.installed(self.folder / client), ["yard_meta-1.0"])
        self.assertEqual(self.upstream.count("/files/yard_meta-1.2-py3-none-any.whl"), 0)
        for name, entry in self.farm.files("yard-meta", "mirror").items():
            body = self.farm.get("/mirror/" + entry["url"].removeprefix("../../") + ".metadata")[2]
            self.assertEqual(entry["core-metadata"]["sha256"], hashlib.sha256(body).hexdigest(), name)

    def test_what_an_upstream_says_of_a_file_is_said_in_both_forms(self):
        self.offer(Wheel("yard-said", "1.0"), upload_time="2021-05-05T01:02:03Z")
        self.offer(Wheel("yard-said", "2.0"), more={"requires-python": ">=99"})
        self.offer(Wheel("yard-said", "3.0"), more={"yanked": "broken"})
        url = self.open_farm()
        for client in INSTALLERS:
            target = self.folder / client
            self.assert_ran(self.install(client, target, "--index-url", url, "yard-said"))
            self.assertEqual(self.installed(target), ["yard_said-1.0"])
        for client, option in (("uv", "--exclude-newer"), ("pip-new", "--uploaded-prior-to")):
            asked = ("--index-url", url, "yard-said")
            self.assert_ran(self.install(client, self.folder / f"late-{client}", option, "2021-05-06T00:00:00Z", *asked))
            self.assert_failed(self.install(client, self.folder / f"early-{client}", option, "2021-05-05T00:00:00Z", *asked), "yard-said")

    def test_links_of_an_upstream_lead_to_its_files_wherever_its_pages_lie(self):
        """Relative ones, of pages at an address without /simple/, with and without the last slash."""
        offered = self.offer(Wheel("yard-links"), url="../../packages/yard_links-1.0-py3-none-any.whl")
        self.upstream.answers["/packages/yard_links-1.0-py3-none-any.whl"] = (200, {}, offered.body)
        page = self.upstream.page("yard-links")
        self.upstream.answers["/api/pypi/public/yard-links/"] = (200, {"Content-Type": page[0]}, page[1].replace(b"../../packages", b"../packages"))
        self.upstream.answers["/api/pypi/packages/yard_links-1.0-py3-none-any.whl"] = (404, {}, b"")
        self.upstream.answers["/api/pypi/public/packages/yard_links-1.0-py3-none-any.whl"] = (200, {}, offered.body)
        elsewhere = self.upstream.url.removesuffix("simple/") + "api/pypi/public"
        self.open_farm(self.upstream.url.rstrip("/"), elsewhere + "/", elsewhere)
        for client, index in (("pip-new", "mirror"), *(("uv", index) for index in ("mirror", "mirror1", "mirror2", "mirror3"))):
            with self.subTest(index, client=client):
                self.assert_ran(self.install(client, self.folder / f"{index}-{client}", "--index-url", self.farm.simple_url(index), "yard-links"))

    def test_a_wheel_of_another_platform_that_is_gone_is_nobodys_problem(self):
        metadata = Wheel("yard-lock").members()["yard_lock-1.0.dist-info/METADATA"]
        self.offer(Wheel("yard-lock"), metadata=metadata)
        self.offer(Wheel("yard-lock", tags=("cp310-cp310-macosx_10_9_x86_64",)), metadata=metadata, status=404)
        url = self.open_farm()
        (self.folder / "pyproject.toml").write_text('[project]\nname = "demo"\nversion = "1"\nrequires-python = ">=3.9"\ndependencies = ["yard-lock"]\n'
                                                    f'[[tool.uv.index]]\nurl = "{url}"\ndefault = true\n')
        uv = (CLIENTS / "uv/bin/uv", "--no-cache", "--project", self.folder)
        self.assert_ran(self.run_client(*uv, "lock", "--python", CLIENTS / "pip-new/bin/python"))
        self.assertIn("macosx", (self.folder / "uv.lock").read_text())
        self.assert_ran(self.run_client(*uv, "sync", "--locked", "--no-install-project", "--python", CLIENTS / "pip-new/bin/python"))

    def test_credentials_in_the_url_bring_what_was_never_fetched(self):
        self.offer(Wheel("yard-closed"))
        self.open_farm()
        plain = self.farm.simple_url("closed")
        url = plain.replace("://", f"://__token__:{self.token}@")
        for client in ("uv", "pip-new"):
            self.assert_failed(self.install(client, self.folder / f"no-{client}", "--index-url", plain, "yard-closed"), "401")
            self.assert_ran(self.install(client, self.folder / client, "--index-url", url, "yard-closed"))
        self.assert_failed(self.install("uv", self.folder / "next", "--index", plain, "--default-index", self.farm.simple_url("mirror"), "yard-closed"), "401")

    def test_uv_prints_why_a_file_does_not_come(self):
        self.offer(Wheel("yard-refused"), status=404)
        url = self.open_farm()
        done = self.install("uv", self.folder / "uv", "--index-url", url, "yard-refused", UV_HTTP_RETRIES="0")
        self.assert_failed(done, "The upstream answered with status 404")

    def test_a_check_without_credentials_is_told_so_and_not_that_the_project_is_absent(self):
        self.open_farm()
        token = self.farm.create_token("closed", name="uploader", actions=("upload",))
        for value, status in ((1, "200 OK"), (2, "409 Conflict")):  # uv goes on after any answer to its check
            done = self.run_client(CLIENTS / "uv/bin/uv", "publish", "--verbose", "--publish-url", self.farm.upload_url("closed"),
                                   "--check-url", self.farm.simple_url("closed"), Wheel("yard-checked", value=value).write(self.folder),
                                   UV_PUBLISH_TOKEN=token, UV_NO_CONFIG="1", UV_NO_CACHE="1")
            self.assertIn("status code failure: 401 Unauthorized", done.stderr)
            self.assertIn(status, done.stderr)


if __name__ == "__main__":
    main()
