"""The builder turns real sdists into wheels that pip installs from the farm; and says why where it cannot."""

import json
import os
import socket
import subprocess
import time
from pathlib import Path

from support.case import FarmCase, main
from support.clients import PIPS, installed_value, pip_install, uv_install
from support.file_reads import FileReads
from support.package_index import FAST_C, PackageIndex, write_sdist
from support.site import Site

WAIT_LIMIT_S = 240

# Some 450 MiB of compiler for two seconds, far past any limit below: 2^20 numbers by macros that double.
HEAVY_C = ("#define E0 __LINE__ + 1,\n" + "".join(f"#define E{i} E{i - 1} E{i - 1}\n" for i in range(1, 21)) +
           "static const int numbers[] = { E20 };\nint number(int i) { return numbers[i]; }\n")


class BuilderTest(FarmCase):
    def setUp(self):
        super().setUp()
        self.sources = PackageIndex(self.folder / "sources")
        self.sources.__enter__()
        self.addCleanup(self.sources.__exit__)

    def site(self, farm=None, **wants: str) -> Site:
        return Site(farm or self.farm, self.sources, self.token,
                    {name.replace("_", "-"): version for name, version in wants.items()}, recipes=self.recipes)

    recipes: dict[str, str] = {}

    def test_from_sdists_to_pip_install(self):
        write_sdist(self.sources.folder, "yard-pure", "1.0", value=5)
        write_sdist(self.sources.folder, "yard-fast", "2.0", c_source=FAST_C,
                    module_source="from ._fast import answer\nvalue = answer()\n")
        self.recipes = {"yard-fast": "[test]\nimport = ['yard_fast._fast']\n"
                                     "command = 'python -c \"import yard_fast; assert yard_fast.value == 42\"'\n"}
        site = self.site(yard_pure="1.0", yard_fast="2.0")

        self.assert_ran(site.builder("plan", "--explain"), "yard-pure", "yard-fast", self.sources.url)
        self.assertEqual(self.farm.files("yard-pure"), {})  # plan changes nothing
        self.assert_ran(site.builder("run"))

        governed = {attempt["package"]: attempt["job"]["governor"] for attempt in site.attempts()}
        self.assertEqual(governed["yard-pure"]["compiles"], 0)
        self.assertGreaterEqual(governed["yard-fast"]["compiles"], 1)  # gcc, as setuptools calls it
        self.assertGreater(governed["yard-fast"]["limit_bytes"], 0)

        pure, = self.farm.files("yard-pure")
        fast, = self.farm.files("yard-fast")
        self.assertEqual(pure, "yard_pure-1.0-py3-none-any.whl")
        self.assertRegex(fast, r"^yard_fast-2\.0-cp3\d+-cp3\d+-linux_\w+\.whl$")
        self.assert_ran(pip_install(self.farm, "pip-debian", self.folder / "t", "yard-pure", "yard-fast"))
        self.assertEqual(installed_value("pip-debian", self.folder / "t", "yard_pure"), "5")
        self.assertEqual(installed_value("pip-debian", self.folder / "t", "yard_fast"), "42")
        self.farm.wait_for_wheel_list(fast)
        listed = self.farm.run("avail_wheels", "yard-fast", "--why", "--index-url", self.farm.simple_url()).stdout
        self.assertRegex(listed, r"(?m)^yard_fast +2\.0 .* yes\b", listed)
        self.assertEqual({cell["state"] for cell in site.plan().values()}, {"have"})

        downloads = len(self.sources.downloads)
        self.assert_ran(site.builder("run"))  # nothing is left to do
        self.assertEqual(len(self.sources.downloads), downloads)
        self.assert_no_secret(site)

    def test_pip_and_uv_prefer_another_build_of_a_version(self):
        write_sdist(self.sources.folder, "yard-pure", "1.0", value=5)
        farm = self.fresh_farm()
        site = self.site(farm, yard_pure="1.0")
        self.assert_ran(site.builder("run"))
        before = farm.files("yard-pure")
        for build, value in (("1", 6), ("2", 7)):
            write_sdist(self.sources.folder, "yard-pure", "1.0", value=value)
            asked = site.builder("retry", "--rebuild", "yard-pure")
            self.assert_ran(asked)
            self.assertIn(f"build {build}, which pip prefers to yard_pure-1.0-", asked.stdout)
            self.assertEqual({cell["state"] for cell in site.plan().values()}, {"active"})
            self.assert_ran(site.builder("run"), f"yard_pure-1.0-{build}-py3-none-any.whl")
            with self.subTest("the WHEEL file has the build tag, and no rule finds a difference"):
                self.assertEqual(site.attempts()[-1]["verdicts"], site.attempts()[0]["verdicts"])
            for client in (*PIPS, "uv"):
                folder = self.folder / f"{client}-{build}"
                install = uv_install if client == "uv" else pip_install
                self.assert_ran(install(farm, client, folder, "yard-pure==1.0"))
                self.assertEqual(installed_value(client, folder, "yard_pure"), str(value))
        after = farm.files("yard-pure")
        self.assertEqual(len(after), 3)
        self.assertLessEqual(before.items(), after.items())  # a published file never changes

    def assert_no_secret(self, site: Site):
        secret = self.token.rpartition("_")[2]
        for path in (site.folder / "state", site.folder / "work"):
            for file in path.rglob("*"):
                if file.is_file():
                    self.assertNotIn(secret.encode(), file.read_bytes(), file)

    def test_a_build_is_governed_and_asks_for_more_memory_once_a_compile_did_not_fit(self):
        write_sdist(self.sources.folder, "yard-heavy", "1.0", c_source=HEAVY_C + FAST_C)
        site = Site(self.fresh_farm(), self.sources, self.token, {"yard-heavy": "1.0"},
                    scheduler='kind = "local"\ncores = 2\nmemory_mib = 60\nmax_memory_mib = 80\nmax_attempts = 2\n')
        self.assert_failed(site.builder("run"), "did not fit into memory", "fast.c")
        first, second = sorted(site.attempts(), key=lambda attempt: attempt["number"])
        self.assertEqual((first["job"]["memory_mib"], second["job"]["memory_mib"]), (60, 80))
        for attempt in (first, second):
            report = attempt["job"]["governor"]
            outcome = json.loads((site.folder / "state/outcomes" / (attempt["id"] + ".json")).read_text())
            self.assertEqual(outcome["governor"], report)
            self.assertEqual(outcome["request"]["memory_mib"], attempt["job"]["memory_mib"])
            self.assertLessEqual(report["limit_bytes"], attempt["job"]["memory_mib"] << 20)
            self.assertEqual(report["could_not_fit"], 1)
            self.assertEqual(attempt["failure"]["code"], "job.out_of_memory")
        self.assertIn("could not fit", site.builder("status").stdout)
        self.assertIn("governed: ", site.builder("logs", "yard-heavy-1.0-cp" + self.python_tag()).stderr)

    def test_a_build_that_fails_is_reported_with_its_cause_and_blocks_no_other(self):
        write_sdist(self.sources.folder, "bad-c", "1.0", c_source="#include <this_cluster_has_not.h>\n")
        write_sdist(self.sources.folder, "good-one", "1.0")
        site = Site(self.fresh_farm(), self.sources, self.token, {"bad-c": "1.0", "good-one": "1.0"},
                    scheduler='kind = "local"\nmax_jobs = 2\nmax_attempts = 2\n')
        (site.folder / "doctor.d").mkdir()
        (site.folder / "doctor.d/own.toml").write_text('[[rule]]\ncode = "compiler.missing_header"\noverride = true\n'
                                                       'remedy = "Ask the desk of this cluster."\n[[rule]]\ncode = "bad"\n')
        task = "bad-c-1.0-cp" + self.python_tag()
        done = site.builder("run")
        self.assert_failed(done, "bad-c", "this_cluster_has_not.h: No such file")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(site.farm.files("bad-c"), {})
        self.assertEqual(list(site.farm.files("good-one")), ["good_one-1.0-py3-none-any.whl"])
        self.assertIn("header was not found", str(site.plan()["bad-c"]))
        self.assert_ran(site.builder("logs", "-f", task), "this_cluster_has_not.h")  # it is over, so this ends

        report = site.builder("explain", task, "--json")
        self.assert_ran(report)
        attempt, = json.loads(report.stdout)["attempts"]  # one: only a person can fix this
        self.assertEqual(attempt["failure"]["cause"], "compiler.missing_header")
        self.assertIn("Ask the desk of this cluster.", attempt["failure"]["advice"])
        self.assert_ran(site.builder("explain", attempt["id"]), task + ": given up", "what to do  Ask the desk of this cluster.\n")
        log = site.folder / "work/attempts" / attempt["id"] / "log"
        report = site.farm.run("wheelyard-builder", "doctor", "--json", log)
        self.assertEqual(report.returncode, 1)
        seen = json.loads(report.stdout)
        self.assertEqual((seen["findings"][0]["code"], seen["phase"]), ("compiler.missing_header", "build"))
        self.assertRegex(seen["first_error"]["file"], r"\.c$")
        self.assertEqual(site.farm.run("wheelyard-builder", "doctor", log.parent / "none").returncode, 2)

    def test_what_needs_a_person_is_reported_and_not_waited_for(self):
        write_sdist(self.sources.folder, "yard-base", "1.0", c_source="#include <this_cluster_has_not.h>\n")
        write_sdist(self.sources.folder, "yard-above", "1.0")
        site = Site(self.fresh_farm(), self.sources, self.token, {"yard-base": "1.0", "yard-above": "1.0"}, scheduler='kind = "local"\n',
                    recipes={"yard-above": '[against]\npackage = "yard-base"\n[against.versions]\n"1.0" = "==1.0"\n'})
        tag = "-1.0-cp" + self.python_tag()
        done = site.builder("run")  # within the time limit of commands, which is well below the patience of `run`
        self.assert_failed(done, f"Not waiting for yard-above{tag}: after yard-base{tag}", "not before `retry`")
        self.assertEqual({name: cell["state"] for name, cell in site.plan().items()}, {"yard-base": "given up", "yard-above": "held"})

    def test_the_line_for_cron_works_on_a_site_that_was_never_ticked(self):
        site = Site(self.fresh_farm(), self.sources, "wy_wrong", {})
        line = site.builder("cron-line")
        self.assert_ran(line)
        command = line.stdout.splitlines()[-1].partition("env ")
        done = subprocess.run(["/bin/sh", "-c", (command[1] + command[2]).replace("\\%", "%")], env={"HOME": str(self.folder)},
                              capture_output=True, text=True, timeout=WAIT_LIMIT_S, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        log = (site.folder / "state" / "tick.log").read_text().splitlines()
        self.assertTrue(log)
        for line in log:
            self.assertRegex(line, r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ \S")

    def test_where_there_is_no_cron_a_run_ticks_by_itself(self):
        write_sdist(self.sources.folder, "yard-steady", "1.0")
        site = Site(self.fresh_farm(), self.sources, self.token, {"yard-steady": "1.0"}, scheduler='kind = "local"\n')
        run = site.start("run", "--interval", "1")
        try:
            deadline = time.monotonic() + WAIT_LIMIT_S
            while not site.farm.files("yard-steady"):
                self.assertLess(time.monotonic(), deadline, "no wheel came")
                time.sleep(0.2)  # until a tick has uploaded it: nothing announces it
            self.assertIsNone(run.poll(), "it goes on when all is settled")
        finally:
            run.terminate()
            output, _ = run.communicate()
        self.assertIn("yard-steady", output)

    def test_a_wheel_that_does_not_import_is_not_uploaded(self):
        write_sdist(self.sources.folder, "bad-import", "1.0", module_source="raise RuntimeError('not on this CPU')\n")
        site = Site(self.fresh_farm(), self.sources, self.token, {"bad-import": "1.0"},
                    scheduler='kind = "local"\nmax_attempts = 1\n')
        self.assert_failed(site.builder("run"), "not on this CPU")
        self.assertEqual(site.farm.files("bad-import"), {})
        self.assert_ran(site.builder("logs", "bad-im"), "not on this CPU")  # any part that names one cell
        site.file.write_text(site.file.read_text() + "\n[this is no TOML\n")
        self.assert_failed(site.builder("status"), "site.toml", "bad-import-1.0")

    def test_a_wheel_is_tested_by_its_own_modules_whatever_the_package_is_called(self):
        write_sdist(self.sources.folder, "yard-named", "1.0", value=7, module="another_name")
        write_sdist(self.sources.folder, "yard-broken", "1.0", module="broken_name", module_source="raise RuntimeError('not on this CPU')\n")
        site = Site(self.fresh_farm(), self.sources, self.token, {"yard-named": "1.0", "yard-broken": "1.0"},
                    scheduler='kind = "local"\nmax_attempts = 1\n')
        self.assert_failed(site.builder("run"), "not on this CPU")
        self.assertEqual(list(site.farm.files("yard-named")), ["yard_named-1.0-py3-none-any.whl"])
        self.assertEqual(site.farm.files("yard-broken"), {})
        self.assert_ran(site.builder("logs", "yard-named"), "importing another_name")

    def test_a_request_and_a_run_wait_for_a_tick_that_holds_the_lock(self):
        site = Site(self.fresh_farm(), self.sources, self.token, {"yard-pure": "1.0"})
        state = site.folder / "state"
        (state / "attempts").mkdir(parents=True)
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        lock = state / "agent.lock"
        held = (f"wheelyard-lock 1\nhost {os.uname().nodename}\npid {os.getpid()}\nprocess_start {fields[19]}\n"
                "refreshed 2026-01-01T00:00:00Z\ntoken 00ff\n")
        lock.write_text(held)
        with FileReads(lock) as reads:
            asked = site.start("retry", "nobody-wants-this")
            reads.wait(WAIT_LIMIT_S)
        self.assertIsNone(asked.poll(), "it did not wait")
        lock.unlink()
        text, _ = asked.communicate(timeout=WAIT_LIMIT_S)
        self.assertEqual(asked.returncode, 1, text)
        self.assertIn("No attempt of this name has ended", text)

        lock.write_text(held)
        with site.start("run") as second:
            first_line = second.stdout.readline()
            next_tick = state / "agent.lock.next"
            next_tick.write_text(held.replace("2026-01-01", "2026-01-02"))  # the same holder's
            with FileReads(next_tick) as reads:
                next_tick.replace(lock)
                reads.wait(WAIT_LIMIT_S)
            lock.unlink()
            followed = second.stdout.read()
        self.assertIn("Another run or tick of this site is at work; following its progress", first_line)
        self.assertNotIn("Another run or tick", followed)
        self.assertNotIn("end it", first_line + followed)  # it waits by itself

    def test_a_package_whose_url_is_dead_waits_and_the_others_are_built(self):
        write_sdist(self.sources.folder, "yard-pure", "1.0")
        with socket.socket() as dead:  # a port without a listener
            dead.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{dead.getsockname()[1]}/yard-dead-{{version}}.tar.gz"
            site = Site(self.fresh_farm(), self.sources, self.token, {"yard-dead": "1.0", "yard-pure": "1.0"},
                        recipes={"yard-dead": f'[source]\nkind = "tarball"\nurl = "{url}"\nsha256 = {{"1.0" = "{"0" * 64}"}}\n'},
                        scheduler='kind = "local"\n')
            deadline = time.monotonic() + WAIT_LIMIT_S
            while not site.farm.files("yard-pure"):  # with one slot for jobs
                self.assertLess(time.monotonic(), deadline, "no wheel came")
                self.assert_ran(site.builder("tick"))
            dead_attempt, = (attempt for attempt in site.attempts() if attempt["package"] == "yard-dead")
            self.assertIn(str(dead.getsockname()[1]), dead_attempt["waiting"]["reason"])
            self.assertEqual(site.plan()["yard-pure"]["state"], "have")
            self.assert_ran(site.builder("plan", "--explain"), "yard-dead", "127.0.0.1")

    def test_a_package_that_no_index_has_is_reported(self):
        site = Site(self.fresh_farm(), self.sources, self.token, {"nobody-has-this": "1.0"})
        self.assert_failed(site.builder("run"), "nobody-has-this")
        self.assertIn("nobody-has-this", site.plan())

    def test_a_sdist_with_another_hash_than_the_recipe_states_is_not_built(self):
        write_sdist(self.sources.folder, "pinned", "1.0")
        site = Site(self.fresh_farm(), self.sources, self.token, {"pinned": "1.0"},
                    recipes={"pinned": f'[source]\nkind = "sdist"\n[source.sha256]\n"1.0" = "{"0" * 64}"\n'},
                    scheduler='kind = "local"\nmax_attempts = 1\n')
        tick = site.builder("tick", "--json")
        self.assertEqual(json.loads(tick.stdout)["format"], "wheelyard.plan/1")
        self.assertIn("0" * 64, tick.stderr)  # the report goes to stderr, not into the document
        self.assert_failed(site.builder("run"), "0" * 64)
        self.assertEqual(site.farm.files("pinned"), {})

    def test_a_wrong_token_is_reported_before_anything_is_built(self):
        write_sdist(self.sources.folder, "late-token", "1.0")
        farm = self.fresh_farm()
        site = Site(farm, self.sources, "wy_000000000000_" + "0" * 64, {"late-token": "1.0"},
                    scheduler='kind = "local"\nmax_attempts = 1\n')
        self.assert_failed(site.builder("run"), "403")
        self.assertEqual(farm.files("late-token"), {})
        self.assertFalse([path for path in self.sources.downloads if "late" in str(path)], "the source was fetched")
        self.assert_failed(site.builder("site", "check"), "upload of late-token", "does not know this token")
        (site.folder / "token").write_text(farm.create_token(name="other", projects=("other",)) + "\n")
        self.assert_failed(site.builder("run"), "The token may upload only other")
        (site.folder / "token").write_text(farm.create_token(name="right") + "\n")
        self.assert_ran(site.builder("run"))
        self.assertEqual(len(farm.files("late-token")), 1)

    def test_below_a_url_that_is_no_registrys_nothing_counts_as_missing(self):
        write_sdist(self.sources.folder, "yard-pure", "1.0")
        farm = self.fresh_farm()
        site = self.site(farm, yard_pure="1.0")
        settings = site.file.read_text()
        for more in (f"/{site.index}/simple", f"/{site.index}", "/pypi"):
            site.file.write_text(settings.replace(farm.url, farm.url + more))
            cell = site.plan()["yard-pure"]
            self.assertEqual(cell["state"], "unknown", cell)
            self.assertIn(f"There is no registry at {farm.url}{more} (leave off `{more}`)", cell["reason"])
            self.assert_failed(site.builder("site", "check"), f"leave off `{more}`")
            self.assert_failed(site.builder("run"), f"leave off `{more}`")
            self.assertEqual(site.attempts(), [])

    def fresh_farm(self):
        from support.farm import Farm
        farm = Farm()
        self.addCleanup(farm.__exit__)
        self.token = farm.create_token()
        return farm.start()

    def python_tag(self) -> str:
        from support.site import PYTHON_VERSION
        return PYTHON_VERSION.replace(".", "")


if __name__ == "__main__":
    main()
