"""What pip and uv choose from our index is what they choose from a plain one made of the same wheels, and the ways of installing that
hang on details of an index: extras, lock files with hashes, folders without any server, names and reasons full of odd characters."""

import functools
import html
import http.server
import json
import platform
import re
import shutil
import subprocess
import threading
from pathlib import Path

from support.case import FarmCase, main
from support.clients import CLIENTS, RawUpload, installed_value
from support.farm import COMMAND_TIMEOUT_S, INDEX
from support.wheels import Wheel, sha256_of

LMOD = "/usr/share/lmod/lmod/libexec/lmod"
YANKED = "broken <script>alert('&amp;')</script> \"für alle\" 100% + ☃"

# The wheels of both indexes; a yank's reason beside those that are yanked.
SCENARIO = [
    (Wheel("choice", "1.0"), None),
    (Wheel("choice", "1.1"), YANKED),
    (Wheel("choice", "2.0rc1"), None),
    (Wheel("local", "2.0"), None),
    (Wheel("local", "2.0+site.1"), None),
    (Wheel("local", "2.0+site.2"), "rebuilt"),
    (Wheel("epochal", "2024.1"), None),
    (Wheel("epochal", "1!0.1"), None),
    (Wheel("Req.Python", "1.0"), None),
    (Wheel("Req.Python", "2.0", requires_python=">=99"), None),
    (Wheel("tagged", "1.0"), None),
    (Wheel("tagged", "2.0", tags=("cp39-cp39-linux_nowhere",)), None),
    (Wheel("Extra_Ful", "1.0", metadata_lines=("Provides-Extra: more", 'Requires-Dist: choice<2; extra == "more"')), None),
    (Wheel("only-yanked", "1.0"), "gone"),
    (Wheel("only-early", "1.0a1"), None),
]

# Each is asked of every client at both indexes: (requirements, options of pip, options of uv). An empty list is "there is none".
QUESTIONS = [
    (("choice", "local", "epochal", "req-python", "tagged", "extra-ful[more]", "only-early"), (), ()),
    (("choice==1.1", "local==2.0", "epochal<1!0", "REQ_python", "only-yanked==1.0"), (), ()),
    (("choice>=1.1,<2",), (), ()),
    (("choice", "local==2.0+site.1"), ("--pre",), ("--prerelease", "allow")),
    (("local==2.0+site.2",), (), ()),
    (("only-yanked",), (), ()),
    (("Extra.Ful", "tagged<2"), (), ()),
    (("tagged==2.0",), (), ()),
]


def plain_index(folder: Path, wheels: list[tuple[Path, str | None, str | None]]) -> None:
    """The least that PEP 503 asks for: a folder a project, an anchor a file."""
    pages: dict[str, str] = {}
    for path, requires_python, reason in wheels:
        project = re.sub(r"[-_.]+", "-", path.name.split("-")[0]).lower()
        (folder / project).mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / project)
        attributes = f' data-requires-python="{html.escape(requires_python)}"' if requires_python else ""
        attributes += f' data-yanked="{html.escape(reason)}"' if reason is not None else ""
        link = path.name.replace("+", "%2B") + f"#sha256={sha256_of(path)}"
        pages[project] = pages.get(project, "") + f'<a href="{link}"{attributes}>{path.name}</a>\n'
    for project, anchors in pages.items():
        (folder / project / "index.html").write_text(f"<!DOCTYPE html><html><body>{anchors}</body></html>")


class QuietFiles(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class IndexClientsTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.wheels = cls.farm.folder / "scenario"
        paths = []
        for wheel, reason in SCENARIO:
            path = wheel.write(cls.wheels)
            status, problem = RawUpload(cls.farm, cls.token, path).send()
            assert status == 200, problem
            if reason is not None:
                cls.change("yank", path.name, reason)
            paths.append((path, wheel.requires_python, reason))
        cls.tree = cls.farm.folder / "tree"
        done = cls.farm.run("wheelyard-indexer", "publish", "--store", cls.farm.data, "--to", cls.tree)
        assert done.returncode == 0, done.stderr
        plain_index(cls.farm.folder / "plain", paths)
        cls.plain = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(QuietFiles, directory=str(cls.farm.folder / "plain")))
        threading.Thread(target=cls.plain.serve_forever, daemon=True).start()
        cls.addClassCleanup(cls.plain.server_close)
        cls.addClassCleanup(cls.plain.shutdown)

    @classmethod
    def change(cls, verb: str, filename: str, reason: str) -> None:
        done = cls.farm.run("wheelyard-registry", verb, INDEX, filename, "--reason", reason, "-c", cls.farm.config)
        assert done.returncode == 0, done.stderr

    def run_client(self, *command, **options) -> subprocess.CompletedProcess:
        return subprocess.run([str(word) for word in command], env=self.farm.environment, capture_output=True, text=True,
                              timeout=COMMAND_TIMEOUT_S, **options)

    def addresses(self) -> dict[str, str]:
        return {"ours": self.farm.simple_url(INDEX), "ours, from a folder": (self.tree / INDEX / "simple").as_uri() + "/",
                "plain": f"http://127.0.0.1:{self.plain.server_port}/"}

    # --- the same answers ----------------------------------------------------------------------------------------------

    def pip_answer(self, pip: str, url: str, requirements, options) -> list[str]:
        done = self.run_client(CLIENTS / pip / "bin/python", "-m", "pip", "--isolated", "install", "--dry-run", "--quiet",
                               "--ignore-installed", "--no-cache-dir", "--disable-pip-version-check", "--report", "-",
                               "--index-url", url, *options, *requirements)
        if done.returncode != 0:
            self.assertRegex(done.stderr, "No matching distribution found|Could not find a version|ResolutionImpossible")
            return []
        return sorted(item["download_info"]["url"].rsplit("/", 1)[1].replace("%2B", "+")
                      + " " + item["download_info"]["archive_info"]["hashes"]["sha256"] for item in json.loads(done.stdout)["install"])

    def uv_answer(self, url: str, requirements, options) -> list[str]:
        done = self.run_client(CLIENTS / "uv/bin/uv", "pip", "compile", "--no-config", "--no-cache", "--no-header", "--quiet",
                               "--no-annotate", "--generate-hashes", "--python", CLIENTS / "pip-new/bin/python", "--index-url", url,
                               *options, "-", input="\n".join(requirements))
        if done.returncode != 0:
            self.assertIn("No solution found", done.stderr)
            return []
        return sorted(" ".join(found) for found in re.findall(r"^(\S+==\S+) \\\n((?: +--hash=\S+(?: \\)?\n)+)", done.stdout, re.M))

    def test_pip_and_uv_choose_from_our_index_what_they_choose_from_a_plain_one(self):
        answered = 0
        for requirements, pip_options, uv_options in QUESTIONS:
            for client in ("pip-debian", "pip-new", "uv"):
                with self.subTest(client, requirements=requirements):
                    answers = {name: self.uv_answer(url, requirements, uv_options) if client == "uv" else
                               self.pip_answer(client, url, requirements, pip_options) for name, url in self.addresses().items()}
                    self.assertEqual(answers["ours"], answers["plain"])
                    self.assertEqual(answers["ours, from a folder"], answers["plain"])
                    answered += bool(answers["ours"])
        self.assertGreater(answered, 9, "nearly every question has no answer: the scenario is broken")

    # --- ways to install -----------------------------------------------------------------------------------------------

    def install(self, pip: str, *words) -> subprocess.CompletedProcess:
        return self.run_client(CLIENTS / pip / "bin/python", "-m", "pip", "--isolated", "install", "--no-cache-dir",
                               "--disable-pip-version-check", "--target", self.folder / f"target-{pip}", *words)

    def test_a_lock_file_of_uv_is_installed_by_every_pip_and_by_uv_itself(self):
        lock = self.folder / "lock.txt"
        url = self.farm.simple_url(INDEX)
        self.assert_ran(self.run_client(CLIENTS / "uv/bin/uv", "pip", "compile", "--no-config", "--no-cache", "--generate-hashes",
                                        "--python", CLIENTS / "pip-new/bin/python", "--index-url", url, "--output-file", lock, "-",
                                        input="extra_ful[more]\nlocal==2.0+site.1\n"))
        self.assertIn("choice==1.0", lock.read_text())
        for pip in ("pip-old", "pip-debian", "pip-new"):
            self.assert_ran(self.install(pip, "--require-hashes", "--index-url", url, "-r", lock))
            self.assertEqual(installed_value(pip, self.folder / f"target-{pip}", "choice"), "1")
        self.assert_ran(self.run_client(CLIENTS / "uv/bin/uv", "pip", "install", "--no-config", "--no-cache", "--require-hashes",
                                        "--python", CLIENTS / "pip-new/bin/python", "--target", self.folder / "uv",
                                        "--index-url", url, "-r", lock))
        lock.write_text(re.sub(r"sha256:[0-9a-f]{4}", "sha256:0000", lock.read_text()))
        self.assert_failed(self.install("pip-new", "--upgrade", "--require-hashes", "--index-url", url, "-r", lock), "HASH")

    def test_pip_without_a_server_installs_from_the_flat_view(self):
        flat = self.tree / INDEX / "find-links"
        self.assertEqual({path.name for path in flat.iterdir()}, {wheel.filename for wheel, _ in SCENARIO} | {"index.html"})
        for pip in ("pip-old", "pip-debian", "pip-new"):
            self.assert_ran(self.install(pip, "--no-index", "--find-links", flat, "extra-ful[more]", "local==2.0+site.1"))
            self.assertEqual(installed_value(pip, self.folder / f"target-{pip}", "extra_ful"), "1")
        self.assert_ran(self.run_client(CLIENTS / "uv/bin/uv", "pip", "install", "--no-config", "--no-cache", "--no-index",
                                        "--find-links", flat, "--python", CLIENTS / "pip-new/bin/python", "--target",
                                        self.folder / "uv", "extra-ful[more]"))

    def test_the_page_of_all_files_is_enough_for_find_links(self):
        """Requires-Python holds there, and for pip yanks, which names of files cannot say."""
        page = f"{self.farm.url}/{INDEX}/find-links/"
        wanted = ("choice", "req-python", "local==2.0+site.1")
        answers = {}
        for pip, place in (("pip-old", page), ("pip-debian", page), ("pip-new", page),
                           ("pip-new", (self.tree / INDEX / "find-links/index.html").as_uri())):
            target = self.folder / f"flat-{len(answers)}"
            self.assert_ran(self.run_client(CLIENTS / pip / "bin/python", "-m", "pip", "--isolated", "install", "--no-cache-dir",
                                            "--disable-pip-version-check", "--no-index", "--find-links", place, "--target", target, *wanted))
            answers[pip, place] = {path.name for path in target.glob("*.dist-info")}
        target = self.folder / "flat-uv"
        self.assert_ran(self.run_client(CLIENTS / "uv/bin/uv", "pip", "install", "--no-config", "--no-cache", "--no-index", "--find-links", page,
                                        "--python", CLIENTS / "pip-new/bin/python", "--target", target, *wanted))
        answers["uv", page] = {path.name for path in target.glob("*.dist-info")}
        for client, found in answers.items():
            with self.subTest(client):
                choice = "1.1" if client[0] == "uv" else "1.0"  # uv reads no yanks of --find-links
                self.assertEqual(found, {f"choice-{choice}.dist-info", "req_python-1.0.dist-info", "local-2.0+site.1.dist-info"})

    def test_pip_reads_metadata_without_the_wheel(self):
        done = self.install("pip-new", "--index-url", self.farm.simple_url(INDEX), "--dry-run", "--ignore-installed", "-v", "extra-ful[more]")
        self.assert_ran(done)
        self.assertIn(".whl.metadata", done.stdout)
        self.assertNotRegex(done.stdout, r"Downloading \S+\.whl \(")

    def test_a_reason_full_of_odd_characters_arrives_as_it_was_given(self):
        done = self.install("pip-new", "--index-url", self.farm.simple_url(INDEX), "choice==1.1")
        self.assert_ran(done, YANKED)
        page = self.farm.get(f"/{INDEX}/simple/choice/", accept="application/vnd.pypi.simple.v1+json")
        self.assertIn(YANKED, [entry["yanked"] for entry in json.loads(page[2])["files"]])

    def configure(self, *nodes: str) -> Path:
        """What `client-config` writes for these kinds of nodes."""
        made = self.folder / "client"
        self.assert_ran(self.farm.run("wheelyard-indexer", "client-config", "--site", "yard", "--to", made, *nodes))
        return made

    def installed_by(self, configured: Path, client: str) -> list[str]:
        """The versions of `choice` that a client installs with only the files in the folder `configured`."""
        target = self.folder / f"{configured.name}-{client}"
        python = CLIENTS / ("pip-new" if client == "uv" else client) / "bin/python"
        command = [CLIENTS / "uv/bin/uv", "pip", "install", "--no-cache", "--python", python] if client == "uv" else \
            [python, "-m", "pip", "install", "--no-cache-dir", "--disable-pip-version-check"]
        self.assert_ran(subprocess.run([*map(str, command), "--target", str(target), "choice"], capture_output=True, text=True,
                                       timeout=COMMAND_TIMEOUT_S, env=self.farm.environment | {
                                           "PIP_CONFIG_FILE": str(configured / "pip.conf"), "UV_CONFIG_FILE": str(configured / "uv.toml")}))
        return [path.name.removeprefix("choice-").removesuffix(".dist-info") for path in target.glob("choice-*.dist-info")]

    def test_the_generated_configuration_is_all_that_pip_and_uv_need(self):
        made = self.configure("--node", f"cpu={self.farm.simple_url(INDEX)}")
        for client in ("pip-new", "uv"):
            self.assertEqual(self.installed_by(made / "cpu", client), ["1.0"])
        self.assertIn("index-url = " + self.farm.simple_url(INDEX), html.unescape(self.farm.get(f"/{INDEX}/")[2].decode()))

    def test_the_generated_configuration_needs_no_server(self):
        index = self.tree / INDEX
        made = self.configure("--node", f"pages={(index / 'simple').as_uri()}/", "--host", "pages=a*", "--node", f"index={index}",
                              "--host", "index=b*", "--node", f"flat={index / 'find-links'}")
        self.assertEqual((made / "index/pip.conf").read_text(), (made / "pages/pip.conf").read_text())
        for client in ("pip-old", "pip-debian", "pip-new", "uv"):
            with self.subTest(client):
                # Pages say what is yanked; names of files cannot.
                self.assertEqual(self.installed_by(made / "pages", client), ["1.0"])
                self.assertEqual(self.installed_by(made / "flat", client), ["1.1"])

    def test_a_module_points_pip_at_the_index_for_this_kind_of_node(self):
        made = self.configure(
            "--node", "far=https://wheels.test/far/simple/", "--machine", "far=z80", "--node", "named=https://wheels.test/named/simple/",
            "--machine", f"named={platform.machine()}", "--host", f"named={platform.node()[:1]}*", "--node", "rest=/shared/wheels")
        tcl = self.folder / "tcl"
        tcl.mkdir()
        shutil.copy(made / "modulefiles/yard", tcl)
        for modules in (made / "modulefiles", tcl):  # Lmod prefers the Lua one where both lie side by side
            done = subprocess.run([LMOD, "bash", "load", "yard"], env=self.farm.environment | {"MODULEPATH": str(modules)},
                                  capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
            self.assert_ran(done, f"PIP_CONFIG_FILE={made}/named/pip.conf", f"UV_CONFIG_FILE={made}/named/uv.toml")
        self.assertIn("find-links = /shared/wheels", (made / "rest/pip.conf").read_text())


if __name__ == "__main__":
    main()
