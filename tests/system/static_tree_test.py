"""The published tree is the whole product of the indexer: a web server that knows nothing of packages serves it as it is, and pip and uv
install from it. The JSON page is served at its own path, as any client that negotiates would get it."""

import functools
import http.server
import json
import re
import subprocess
import threading

from support.case import FarmCase, main
from support.clients import CLIENTS, PIPS, installed_value, pip_install, twine_upload
from support.farm import COMMAND_TIMEOUT_S, INDEX
from support.live_tree import paths_in
from support.wheels import Wheel, sha256_of


class PlainFiles(http.server.SimpleHTTPRequestHandler):
    """Files from a folder, index.html for a folder; `.json` pages get the type that PEP 691 asks for."""

    extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {
        ".json": "application/vnd.pypi.simple.v1+json"}

    def do_GET(self):
        if self.server.prefers_json and self.path.endswith("/"):
            self.path += "index.json"
        super().do_GET()

    def log_message(self, *_):
        pass


class PlainServer:
    """The tree under a prefix of its own, so that an absolute link would be found out."""

    def __init__(self, parent, prefers_json=False):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(PlainFiles, directory=str(parent)))
        self.server.prefers_json = prefers_json
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class StaticFarm:
    """What pip_install needs to know of a farm."""

    def __init__(self, farm, simple_url):
        self.environment = farm.environment
        self._simple_url = simple_url

    def simple_url(self, _index):
        return self._simple_url


class StaticTreeTest(FarmCase):
    def publish(self, *wheels):
        for wheel in wheels:
            self.assert_ran(twine_upload(self.farm, self.token, wheel))
        done = self.farm.run("wheelyard-indexer", "publish", "--store", self.farm.data,
                             "--to", self.folder / "deep/wheels", "--index", INDEX, "--json")
        self.assert_ran(done)
        self.assert_ran(self.farm.run("wheelyard-indexer", "check", "--to", self.folder / "deep/wheels"), "every link is valid")
        return json.loads(done.stdout)

    def test_every_pip_installs_from_plain_files_by_html_and_by_json(self):
        # One whose METADATA spells its Name otherwise than normalised, one that does not: the older name of the metadata's attribute
        # is in HTML for the second alone, and Debian's pip can bear both.
        report = self.publish(Wheel("Yard.Static", "1.0+site.1", value=5).write(self.folder), Wheel("yard-plain").write(self.folder))
        self.assertGreaterEqual(report["files_linked"], 2)
        for project, has_old_name in (("yard-static", False), ("yard-plain", True)):
            page = (self.folder / "deep/wheels" / INDEX / "simple" / project / "index.html").read_text()
            self.assertIn(' data-core-metadata="sha256=', page)
            self.assertEqual(' data-dist-info-metadata="sha256=' in page, has_old_name)
        for prefers_json in (False, True):
            with PlainServer(self.folder, prefers_json) as url:
                farm = StaticFarm(self.farm, f"{url}/deep/wheels/{INDEX}/simple/")
                for pip in PIPS:
                    if prefers_json and pip == "pip-old":
                        continue  # older than PEP 691
                    with self.subTest(pip, json=prefers_json):
                        target = self.folder / f"{pip}-{prefers_json}"
                        self.assert_ran(pip_install(farm, pip, target, "yard-static==1.0", "yard-plain"))
                        self.assertEqual(installed_value(pip, target, "yard_static"), "5")
                        self.assertEqual(installed_value(pip, target, "yard_plain"), "1")

    def uv_install(self, target, *arguments):
        return subprocess.run([CLIENTS / "uv/bin/uv", "pip", "install", "--no-config", "--no-cache", "--no-deps",
                               "--python", CLIENTS / "pip-new/bin/python", "--target", target, *arguments],
                              env=self.farm.environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)

    def test_uv_installs_from_plain_files_by_html_and_by_json(self):
        wheel = Wheel("yard-static-uv", "2.0+site.1", value=6).write(self.folder)
        self.publish(wheel)
        for prefers_json in (False, True):
            with self.subTest(json=prefers_json), PlainServer(self.folder, prefers_json) as url:
                target = self.folder / f"uv-{prefers_json}"
                self.assert_ran(self.uv_install(target, "--index-url", f"{url}/deep/wheels/{INDEX}/simple/", "yard-static-uv"))
                self.assertEqual(installed_value("pip-new", target, "yard_static_uv"), "6")

    def test_the_page_of_all_files_is_enough_behind_a_plain_server(self):
        self.publish(Wheel("Yard.Flat", "1.0+site.1", value=7).write(self.folder))
        with PlainServer(self.folder) as url:
            page = f"{url}/deep/wheels/{INDEX}/find-links/"
            self.assert_ran(self.uv_install(self.folder / "flat-uv", "--no-index", "--find-links", page, "yard-flat"))
            self.assertEqual(installed_value("pip-new", self.folder / "flat-uv", "yard_flat"), "7")
            self.assert_ran(subprocess.run([CLIENTS / "pip-debian/bin/python", "-m", "pip", "--isolated", "install", "--no-cache-dir", "--no-index",
                                            "--find-links", page, "--target", self.folder / "flat-pip", "yard-flat"], env=self.farm.environment,
                                           capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S))
            self.assertEqual(installed_value("pip-debian", self.folder / "flat-pip", "yard_flat"), "7")

    def test_uv_with_a_cooldown_installs_from_a_folder_and_from_a_plain_server(self):
        """There it reads HTML: the times are in it, and are those of the JSON."""
        self.publish(Wheel("yard-timed", "1.0").write(self.folder))
        simple = self.folder / "deep/wheels" / INDEX / "simple"
        [file] = json.loads((simple / "yard-timed/index.json").read_text())["files"]
        self.assertIn(f' data-upload-time="{file["upload-time"]}"', (simple / "yard-timed/index.html").read_text())
        with PlainServer(self.folder) as url:
            for at, index in (("file", f"file://{simple}/"), ("http", f"{url}/deep/wheels/{INDEX}/simple/")):
                asked = ("--index-url", index, "yard-timed")
                self.assert_ran(self.uv_install(self.folder / f"uv-timed-{at}", "--exclude-newer", "2099-01-01T00:00:00Z", *asked))
                self.assert_failed(self.uv_install(self.folder / f"uv-old-{at}", "--exclude-newer", "2020-01-01T00:00:00Z", *asked),
                                   "yard-timed")

    def test_a_page_written_without_times_gets_them_at_the_next_publish(self):
        self.publish(Wheel("yard-before", "1.0").write(self.folder))
        state = self.folder / "deep/wheels/.wheelyard/published.json"
        page = self.folder / "deep/wheels" / INDEX / "simple/yard-before/index.html"
        document = json.loads(state.read_text())
        document["views"].remove("upload-times")  # as an older program leaves it
        state.write_text(json.dumps(document))
        page.write_text(re.sub(' data-upload-time="[^"]*"', "", page.read_text()))
        self.publish()
        self.assertIn("data-upload-time", page.read_text())

    def test_own_wheels_come_first_and_all_the_rest_from_another_index_without_a_server(self):
        ours = [Wheel("yard-torch", version, value=1).write(self.folder) for version in ("2.4.0+site.1", "2.5.0+site.1")]
        self.publish(*ours, Wheel("yard-named").write(self.folder))
        for wheel in (Wheel("yard-torch", "9.0", value=2), Wheel("yard-rest", "3.0", metadata_lines=("Requires-Dist: yard-torch",))):
            page = self.folder / "theirs/simple" / wheel.name
            page.mkdir(parents=True)
            (page / "index.html").write_text(f'<a href="{wheel.write(page).name}">{wheel.filename}</a>')
        theirs = self.enterContext(PlainServer(self.folder / "theirs")) + "/simple/"
        client = self.folder / "client"
        self.assert_ran(self.farm.run("wheelyard-indexer", "client-config", "--node", f"main={self.folder}/deep/wheels/{INDEX}", "--to", client,
                                      "--fallback", theirs))
        held = (client / "main/constraints.txt").read_text().splitlines()
        self.assertEqual([line for line in held if line.startswith(("yard-named", "yard-torch"))], ["yard-named==1.0", "yard-torch==2.5.0+site.1"])
        for name, command, setting in (("pip", [CLIENTS / "pip-new/bin/python", "-m", "pip", "install"], {"PIP_CONFIG_FILE": str(client / "main/pip.conf")}),
                                       ("uv", [CLIENTS / "uv/bin/uv", "pip", "install", "--python", CLIENTS / "pip-new/bin/python"],
                                        {"UV_CONFIG_FILE": str(client / "main/uv.toml")})):
            with self.subTest(name):
                target = self.folder / f"into-{name}"
                done = subprocess.run([*command, "--target", target, "yard-rest"], env=self.farm.environment | setting, text=True,
                                      capture_output=True, timeout=COMMAND_TIMEOUT_S)
                self.assert_ran(done)
                self.assertEqual(sorted(path.name for path in target.glob("*.dist-info")),
                                 ["yard_rest-3.0.dist-info", "yard_torch-2.5.0+site.1.dist-info"])
        refused = self.farm.run("wheelyard-indexer", "client-config", "--node", f"main={self.farm.simple_url()}", "--to", client,
                                "--fallback", theirs)
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("[[index.upstream]]", refused.stderr)

    def test_a_second_tree_is_published_beside_the_registrys_own_and_costs_no_space(self):
        wheel = Wheel("yard-linked", "1.0").write(self.folder)
        self.publish(wheel)
        sha256 = sha256_of(wheel)
        copies = list((self.folder / "deep/wheels").rglob(f"{sha256}/*.whl"))
        self.assertEqual(len(copies), 1)
        if copies[0].stat().st_dev == self.farm.data.stat().st_dev:
            self.assertEqual(copies[0].stat().st_ino, next(path for path in paths_in(self.farm.tree) if path.parent.name == sha256).stat().st_ino)
        again = self.farm.run("wheelyard-indexer", "publish", "--store", self.farm.data,
                              "--to", self.folder / "deep/wheels", "--json")
        self.assert_ran(again)
        report = json.loads(again.stdout)
        for count in ("events", "files_linked", "project_pages", "root_pages"):
            self.assertEqual(report[count], 0, report)


if __name__ == "__main__":
    main()
