"""An uploaded source distribution becomes a wheel after an approval, built where it can read nothing of the agent."""

import json
import os
import shutil
import socket
import subprocess
import sys
import unittest
import zipfile

from support.asker import Asker
from support.case import FarmCase, main
from support.clients import RawUpload, installed_value, pip_install, twine_upload
from support.farm import BIN, CLIENTS, INDEX, Farm, for_all_users
from support.full import full
from support.package_index import PackageIndex, write_sdist
from support.sdists import Sdist, back_end
from support.site import PYTHON, PYTHON_VERSION, Site

OURS = "ours"  # takes the sdists
DECOY = "/tmp/decoy"  # a token that the spy has to find
OTHERS = ("/proc", "/sys", "/dev", "/usr", "/etc", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
BWRAP = shutil.which("bwrap") or ""
# A back end that looks for secrets, also before it is asked to build, and puts what it finds into its wheel.
SPY = '''
import os, pathlib, re, subprocess, urllib.request

SECRET = re.compile(rb"wy_[0-9a-f]{{12}}_[0-9a-f]{{64}}")

def look(what):
    try:
        return what()
    except Exception as error:
        return type(error).__name__

def search():  # but the kernel's and the distribution's folders, of which /lib is a mount, no link
    found = []
    pathlib.Path("{decoy}").write_text("_".join(["wy", "0" * 12, "0" * 64]))
    for base, folders, files in os.walk("/"):
        folders[:] = [name for name in folders if os.path.join(base, name) not in {others}]
        for path in (pathlib.Path(base, file) for file in files):
            text = look(lambda: path.read_bytes() if path.is_file() and path.stat().st_size < 1 << 20 else b"")
            if isinstance(text, bytes) and SECRET.search(text):
                found.append(str(path))
    return found

ATTEMPT = pathlib.Path.cwd().parents[1]
for name in ("tmp", "scratch", "patches", "beside"):  # the agent, or the next namespace, may follow them
    look(lambda: os.symlink("{site}", ATTEMPT / name))

SEEN = {{
    "linked": look(lambda: pathlib.Path("/tmp/token").read_text()),
    "token": look(lambda: pathlib.Path("{site}/token").read_text()),
    "state": look(lambda: os.listdir("{site}/state")),
    "attempts": look(lambda: os.listdir("{site}/work/attempts")),
    "trees": look(lambda: os.listdir("{site}/work/trees")),
    "home": look(lambda: os.listdir("{home}")),
    "run": look(lambda: [name for name in os.listdir("/run")]),
    "variable": os.environ.get("AGENTS_SECRET"),
    "agents": look(lambda: [pid for pid in os.listdir("/proc") if pid.isdigit()
                            and b"wheelyard-builder" in pathlib.Path("/proc", pid, "cmdline").read_bytes()]),
    "root": look(lambda: subprocess.run(["mount", "-o", "remount,rw", "/usr"], capture_output=True).returncode != 0),
    "written": look(lambda: pathlib.Path("/usr/wheelyard-was-here").write_text("x")),
    "tokens": search(),
    "loopback": look(lambda: urllib.request.urlopen("{url}", timeout=5).status),
    "registry": look(lambda: urllib.request.urlopen(urllib.request.Request(
        "{url}/{index}/legacy/", b"", {{"Authorization": "Bearer " + "{token}"[::-1]}}), timeout=5).status),
    "shm": look(lambda: pathlib.Path("/dev/shm/x").write_bytes(bytes(32 << 20))),
    "outside": [look(lambda: pathlib.Path(path).write_text("x")) for path in ("/x", "/dev/x", "/etc/x")],
    "wheelhouse": look(lambda: pathlib.Path(ATTEMPT / "wheelhouse/x").write_text("x")),
}}
pathlib.Path("yard_spy.py").write_text("value = 7\\nseen = %r\\n" % (SEEN,))
'''


def why_no_namespace() -> str:
    if not BWRAP:
        return "no bubblewrap"
    tried = subprocess.run([BWRAP, "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "true"], capture_output=True, text=True)
    return "" if tried.returncode == 0 else f"bubblewrap makes no namespace here: {tried.stderr.strip()}"


# What the agent runs as where the tests run as root: root builds no uploaded sources.
NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if os.geteuid() == 0 else []
ALONE = f'[uploaded_sources]\nbubblewrap = "{BWRAP}"\n'
# The quick Python of scripts/prepare-clients lies outside what such builds may read.
READABLE = for_all_users(CLIENTS, "python", "pip-debian")
UPLOADED_SOURCES = f'{ALONE}readable = ["{READABLE}"]\n'
LIMITS = "processes = 150\nmemory_mib = 400\ndisk_gib = 1\nshm_mib = 16\n"


class UsersSite(Site):
    """A site whose agent is no root."""

    def hand_over(self, user: int = NOBODY) -> "UsersSite":
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        if AS_NOBODY:
            self.farm.folder.chmod(0o755)
            for path in (self.folder, *self.folder.rglob("*")):
                os.chown(path, user, user)
        return self

    @property
    def environment(self) -> dict[str, str]:
        home = str(self.folder / "home")
        return super().environment | {"HOME": home, "TMPDIR": home}

    def command(self, command: str, *arguments: str) -> list[str]:
        _, *words = super().command(command, *arguments)
        return [*AS_NOBODY, str(for_all_users(BIN, "wheelyard-builder", "wheelyard-governor") / "wheelyard-builder"), *words]


def attack(name: str, code: str, at_import: bool = False, **members: bytes) -> Sdist:
    """A project whose back end runs `code` when it builds, or already when it is asked what it needs."""
    own = back_end(name, "1.0")
    text = f"{code}\n{own}" if at_import else own.replace("    name, version =", f"    exec({code!r})\n    name, version =")
    return Sdist(name, **({"own.py": text.encode()} | members))


FORKS = "import os, time\nwhile True:\n  try: os.fork()\n  except OSError: time.sleep(0.01)"
MEMORY = "held = []\nwhile True: held.append(b'x' * (16 << 20))"
DISK = "import os\nfor number in range(100):\n  with open(str(number), 'wb') as file: os.posix_fallocate(file.fileno(), 0, 64 << 20)"
DAEMON = ("import os, time\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0: time.sleep(3600)\n  os._exit(0)\nos.wait()")


@unittest.skipIf(why_no_namespace(), why_no_namespace())
class UploadedSourcesTest(FarmCase):
    def setUp(self):
        super().setUp()
        self.sources = self.enterContext(PackageIndex(self.folder / "sources"))
        builds = f'[[index.build]]\nindex = "{INDEX}"\npythons = ["{PYTHON_VERSION}"]'
        self.farm = self.enterContext(Farm((INDEX, OURS), index_settings={OURS: f"sdists = true\n{builds}"}))
        self.build_token = self.farm.create_token(INDEX, name="agent", actions=("build",))
        self.upload_token = self.farm.create_token(OURS, name="author", actions=("upload",))
        self.asker = Asker(self.farm)
        self.approver = Asker(self.farm, "bert", actions=("approve",))
        self.farm.start()

    def agent(self, more: str = UPLOADED_SOURCES, name: str = "site") -> Site:
        python = str(READABLE / "python") if str(READABLE) in more else PYTHON
        site = UsersSite(self.farm, self.sources, self.build_token, {}, registry='claim_tasks = "any"', name=name, python=python)
        site.file.write_text(site.file.read_text() + "\n" + more)
        return site.hand_over()

    def upload(self, sdist: Sdist, by_twine: bool = False) -> dict:
        """The request that the upload became."""
        path = sdist.write(self.folder)
        if by_twine:
            self.assert_ran(twine_upload(self.farm, self.upload_token, path, index=OURS))
        else:
            self.assertEqual(RawUpload(self.farm, self.upload_token, path, OURS).send()[0], 200)
        rows = [json.loads(line) for line in self.asker.say("list", INDEX, "--state", "awaits_approval", "--json").splitlines()]
        task, = [row for row in rows if row["package"] == sdist.name.replace("_", "-")]
        sha256 = self.farm.files(task["package"], OURS)[path.name]["hashes"]["sha256"]
        self.assertEqual(task["source"], {"index": OURS, "filename": path.name, "sha256": sha256})
        return task

    def build(self, site: Site, task: dict) -> dict:
        self.approver.say("approve", task["id"])
        done = subprocess.run(site.command("run"), env=site.environment | {"AGENTS_SECRET": "secret"}, capture_output=True, text=True)
        report = self.asker.show(task["id"])
        self.assertEqual(report["state"], "done", f"{report}\n{done.stdout}\n{done.stderr}\n{self.asker.run('log', task['id']).stdout}")
        return report

    def spy(self, site: Site) -> Sdist:
        text = SPY.format(others=(*OTHERS, str(READABLE)), decoy=DECOY, site=site.folder, home=site.environment["HOME"], url=self.farm.url, index=INDEX, token=self.build_token[::-1]) + back_end("yard_spy", "1.0")
        return Sdist("yard_spy", **{"own.py": text.encode()})

    def seen_by_spy(self) -> dict:
        target = self.folder / "installed"
        self.assert_ran(pip_install(self.farm, "pip-new", target, "yard-spy", options=("--only-binary", ":all:")))
        printed = subprocess.run([sys.executable, "-c", "import json, yard_spy; print(json.dumps(yard_spy.seen))"],
                                 env={"PYTHONPATH": str(target)}, capture_output=True, text=True, check=True).stdout
        return json.loads(printed)

    def test_twine_approval_build_and_pip(self):
        task = self.upload(Sdist("yard_up", value=42), by_twine=True)
        self.assertEqual((task["asked_by"], task["approved_by"]), ("author", ""))
        words = ("add", INDEX, "yard-up", "1.0", "--python", PYTHON_VERSION, "--source", OURS)
        self.assertEqual(json.loads(self.asker.say(*words, "--json"))["id"], task["id"])  # asked for by hand, it is the same
        site = self.agent(ALONE)  # with the machine's own Python, and nothing else to read
        self.assert_ran(site.builder("run"))
        self.assertEqual((self.asker.show(task["id"])["state"], site.attempts()), ("awaits_approval", []))
        self.assert_failed(self.asker.run("approve", task["id"]), "does not permit this action")

        report = self.build(site, task)
        self.assertEqual((report["approved_by"], report["attempts"]), ("bert", 1))
        self.assertEqual(report["outcome"]["source"]["sha256"], task["source"]["sha256"])
        wheel, = self.farm.files("yard-up")
        provenance = self.farm.run("wheelyard-registry", "provenance", INDEX, wheel, "--config", self.farm.config)
        self.assert_ran(provenance, task["source"]["sha256"])
        target = self.folder / "installed"
        self.assert_ran(pip_install(self.farm, "pip-new", target, "yard-up", options=("--only-binary", ":all:")))
        self.assertEqual(installed_value("pip-new", target, "yard_up"), "42")
        self.assert_ran(site.builder("plan", "--explain"), "Tasks with uploaded sources are claimed")

    def test_a_malicious_build_sees_no_secret_and_no_other_attempt(self):
        site = self.agent(UPLOADED_SOURCES + LIMITS)
        write_sdist(self.sources.folder, "yard-one", "1.0")  # an ordinary build of this agent, before
        self.asker.ask_for("yard-one")
        self.assert_ran(site.builder("run"))
        self.assertEqual(len(site.attempts()), 1)
        self.build(site, self.upload(self.spy(site)))
        own, = [attempt["id"] for attempt in site.attempts() if attempt["package"] == "yard-spy"]
        self.assertEqual(self.seen_by_spy(), {
            "linked": "FileNotFoundError", "token": "FileNotFoundError", "state": "FileNotFoundError", "attempts": [own], "trees": "FileNotFoundError",
            "home": "FileNotFoundError", "run": "FileNotFoundError", "variable": None, "agents": [], "root": True,
            "written": "OSError", "tokens": [DECOY],
            # No network, not even the loopback of the machine; /dev/shm ends at its size; nothing else takes a byte.
            "loopback": "URLError", "registry": "URLError", "shm": "OSError", "outside": ["OSError"] * 3, "wheelhouse": "OSError"})

    def test_hostile_builds_end_at_their_limits_and_the_next_build_goes_on(self):
        site = self.agent(UPLOADED_SOURCES + LIMITS)
        listener = self.enterContext(socket.create_server(("127.0.0.1", 0)))
        listener.setblocking(False)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/x-1.0-py3-none-any.whl"
        own = '[build-system]\nrequires = [%s]\nbuild-backend = "own"\nbackend-path = ["."]\n'
        hostile = {
            "more processes and threads than its limit of 150": attack("yard_forks", FORKS),
            "more memory than its limit of 400 MiB": attack("yard_memory", MEMORY, at_import=True),
            "more disk than its limit of 1 GiB": attack("yard_disk", DISK),
            "a requirement must be a name with versions": attack("yard_address", "", **{"pyproject.toml": (own % f'"x @ {address}"').encode()}),
            "the metadata of a wheel may not require an address": attack("yard_lured", "", **{"pyproject.toml": (own % '"yard-lure"').encode()}),
        }
        lure = {"yard_lure.py": "", "yard_lure-1.0.dist-info/RECORD": "",
                "yard_lure-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: yard-lure\nVersion: 1.0\nRequires-Dist: x @ {address}\n",
                "yard_lure-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
        with zipfile.ZipFile(self.sources.folder / "yard_lure-1.0-py3-none-any.whl", "w") as wheel:
            for path, text in lure.items():
                wheel.writestr(path, text)
        tasks = {words: self.upload(sdist) for words, sdist in hostile.items()}
        left_behind = self.upload(attack("yard_daemon", DAEMON))
        for task in tasks.values():
            self.approver.say("approve", task["id"])
        for _ in tasks:  # a run claims as many as it builds at once
            self.assert_failed(site.builder("run"), "given up")
            if all(self.asker.show(task["id"])["state"] == "failed" for task in tasks.values()):
                break
        self.build(site, left_behind)
        self.assertIn("was left behind and held the output", self.asker.say("log", left_behind["id"]))
        for words, task in tasks.items():
            with self.subTest(words):
                report = self.asker.show(task["id"])
                self.assertEqual((report["state"], report["attempts"]), ("failed", 1), report)
                self.assertIn(words, json.dumps(report["outcome"]))
        self.assertRaises(BlockingIOError, listener.accept)

    @unittest.skipUnless(AS_NOBODY, "the tests do not run as root")
    def test_an_agent_that_runs_as_root_builds_none(self):
        task = self.upload(Sdist("yard_up"))
        self.approver.say("approve", task["id"])
        site = self.agent()
        site.command = lambda *words: Site.command(site, *words)
        refused = site.builder("run")
        self.assertEqual(refused.returncode, 2, refused)
        self.assertIn("belongs to another user", refused.stderr)
        site.hand_over(user=0)
        self.assert_ran(site.builder("run"))
        self.assertEqual((self.asker.show(task["id"])["state"], site.attempts()), ("queued", []))
        self.assertIn("runs as root", self.asker.show(task["id"])["reason"])
        line, = [line for line in site.builder("site", "check", timeout=300).stdout.splitlines() if "uploaded sources" in line]
        self.assertIn("runs as root", line)

    def test_a_site_that_does_not_separate_takes_nothing_and_says_why(self):
        task = self.upload(Sdist("yard_up"))
        self.approver.say("approve", task["id"])
        site = self.agent(more="")
        self.assert_ran(site.builder("run"))
        report = self.asker.show(task["id"])
        self.assertEqual((report["state"], report["attempts"], site.attempts()), ("queued", 0, []))
        self.assertIn("does not build uploaded sources", report["reason"])
        self.assertIn("does not say how uploaded sources are separated", report["reason"])
        self.assert_ran(site.builder("plan", "--explain"), "Tasks with uploaded sources are not claimed", "add [uploaded_sources]")
        with self.subTest("its token would be readable"):
            other = self.agent(ALONE + f'readable = ["{self.farm.folder}"]\n', name="other")
            self.assert_ran(other.builder("run"))
            self.assertIn("could read the", self.asker.show(task["id"])["reason"])
            self.assertEqual(other.attempts(), [])

    def test_a_rejected_one_is_not_built(self):
        task = self.upload(Sdist("yard_up"))
        self.assertIn("rejected by bert: not ours", self.approver.say("reject", task["id"], "--reason", "not ours"))
        site = self.agent()
        self.assert_ran(site.builder("run"))
        self.assertEqual((self.asker.show(task["id"])["state"], site.attempts()), ("cancelled", []))

    @full
    def test_an_offline_site_fetches_for_it_in_the_namespace_too(self):
        site = self.agent(UPLOADED_SOURCES + "[network]\noffline_jobs = true\n")
        before = sorted(path.name for path in site.folder.iterdir())
        self.build(site, self.upload(self.spy(site)))
        seen = self.seen_by_spy()
        self.assertEqual((seen["linked"], seen["token"], seen["tokens"]), ("FileNotFoundError", "FileNotFoundError", [DECOY]))
        self.assertEqual(sorted({path.name for path in site.folder.iterdir()} - {"state", "work"}), before)

    def test_the_check_of_a_site_tries_the_namespace(self):
        checked = self.agent().builder("site", "check", timeout=300)
        line, = [line for line in checked.stdout.splitlines() if "uploaded sources" in line]
        self.assertIn("built in a namespace", line)


if __name__ == "__main__":
    main()
