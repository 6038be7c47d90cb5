"""Indexes change without a restart: `wheelyard-registry apply` shows what a changed registry.toml changes, and the running server applies all
of it or nothing. A kill at any moment leaves the old state or the new one."""

import json
import os
import pwd
import re
import signal
import time
import urllib.error
import urllib.request

from support.case import FarmPerTestCase, main
from support.clients import PIPS_WITH_REPORT, RawUpload, installed_value, pip_install, twine_upload
from support.wheels import Wheel

FIRST, SECOND, THIRD, HIDDEN = "first", "second", "third", "hidden"
PATIENCE_S = 240
KILL_DELAYS_S = (0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)


class ApplyTest(FarmPerTestCase):
    indexes = (FIRST,)

    def configure(self, **settings: str) -> None:
        """One [[index]] for each name, with more lines."""
        self.farm.indexes = tuple(settings)
        self.farm.index_settings = settings
        self.farm.write_config(self.farm.port)

    def audit(self, index: str) -> list[dict]:
        done = self.farm.run("wheelyard-registry", "audit", "-c", self.farm.config, "--index", index, "--json")
        self.assert_ran(done)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def front_page(self) -> str:
        return self.farm.get("/", accept="text/html")[2].decode()

    def wait_until(self, holds) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not holds():
            self.assertLess(time.monotonic(), deadline, self.farm.log.read_text())
            time.sleep(0.02)

    def test_an_index_is_created_limited_and_archived_while_the_server_runs(self):
        process = self.farm.process.pid
        self.configure(first="", second='title = "The second"')
        self.assert_ran(self.apply("--check"), "second: created")
        self.assertEqual(self.farm.get(f"/{SECOND}/simple/")[0], 404)
        self.assert_ran(self.apply(), "second: created", "applied")
        self.assertEqual(self.farm.get(f"/{SECOND}/simple/")[0], 200)
        self.wait_until(lambda: "The second" in self.front_page())

        token = self.farm.create_token(SECOND)
        self.assert_ran(twine_upload(self.farm, token, Wheel("wombat").write(self.folder), index=SECOND))
        target = self.folder / "target"
        pip = PIPS_WITH_REPORT[0]
        self.assert_ran(pip_install(self.farm, pip, target, "wombat", index=SECOND))
        self.assertTrue(installed_value(pip, target, "wombat"))

        self.configure(first="", second='title = "The second"\nquota_files = 1')
        self.assert_ran(self.apply(), "second: quota_files: 0 -> 1")
        self.assert_refused(RawUpload(self.farm, token, Wheel("koala").write(self.folder), SECOND), 403, "upload.quota")

        self.configure(first="", second='title = "The second"\nquota_files = 9\narchived = true')
        self.assert_ran(self.apply(), "second: archived: false -> true")
        self.assert_refused(RawUpload(self.farm, token, Wheel("koala").write(self.folder), SECOND), 403, "index.archived")
        self.assertEqual(self.farm.get(f"/{SECOND}/simple/wombat/")[0], 200)
        self.wait_until(lambda: "The second" not in self.front_page())  # the web UI follows the answer
        self.assert_ran(self.apply(), "no index changes")

        self.assertEqual(self.farm.process.pid, process)
        self.assertIsNone(self.farm.process.poll())
        events = [event for event in self.audit(SECOND) if event["kind"] == "index_changed"]
        reasons = [event.get("reason", "") for event in events]
        self.assertEqual(reasons, ["created", "quota_files: 0 -> 1", "archived: false -> true; quota_files: 1 -> 9"])
        self.assertEqual({event["actor"] for event in events}, {f"local:{pwd.getpwuid(os.geteuid()).pw_name}"})

    def index(self, *words: str):
        return self.farm.run("wheelyard-registry", "index", *words, "-c", self.farm.config)

    def test_an_archived_index_refuses_promotion_import_and_tasks_and_keeps_its_files(self):
        archived = "archived = true"
        self.assert_ran(self.set_index(SECOND, archived), "second: created", "applied")
        token = self.farm.create_token("*", name="operator", actions=("promote", "task"))
        wheel = Wheel("wombat").write(self.folder)
        self.assertEqual(RawUpload(self.farm, self.farm.create_token(FIRST), wheel, FIRST).send()[0], 200)
        promote = ("promote", FIRST, wheel.name, "--to", SECOND)
        self.assert_failed(self.farm.run("wheelyard-registry", *promote, "-c", self.farm.config), "archived")
        self.assert_failed(self.farm.run("wheelyard-registry", "import", SECOND, wheel, "-c", self.farm.config), "archived")
        self.assert_failed(self.farm.run("wheelyard-registry", "task", "add", SECOND, "six", "1.16.0", "--python", "3.12",
                                         "-c", self.farm.config), "archived")
        token_file = self.folder / "token"
        token_file.write_text(token)
        remote = ("--url", self.farm.url, "--token-file", token_file)
        self.assert_failed(self.farm.run("wheelyard-registry", *promote, "--url", f"{self.farm.url}/{FIRST}/simple/",
                                         "--token-file", token_file), f"leave off `/{FIRST}/simple`")
        self.assert_failed(self.farm.run("wheelyard-registry", *promote, *remote), "archived")
        self.assert_failed(self.farm.run("wheelyard-registry", "task", "add", SECOND, "six", "1.16.0", "--python", "3.12",
                                         *remote), "archived")
        # Wheels of tasks go to the staging index: neither a new task nor a claim of an older one begins a build for nothing.
        self.assert_ran(self.set_index(THIRD, f'staging = "{FIRST}"'))
        task = ("task", "add", THIRD, "six", "1.16.0", "--python", "3.12", *remote)
        self.assert_ran(self.farm.run("wheelyard-registry", *task))
        self.assert_ran(self.set_index(THIRD, f'staging = "{SECOND}"'))
        self.assert_failed(self.farm.run("wheelyard-registry", *task), "archived")
        claim = {"format": "wheelyard.claim/2", "index": THIRD, "agent": "a.login1", "pythons": ["3.12"], "accelerators": [], "room": 1}
        builder = self.farm.create_token("*", name="builder", actions=("build",))
        request = urllib.request.Request(self.farm.url + "/api/v1/tasks/claim", json.dumps(claim).encode(), method="POST",
                                         headers={"Authorization": f"Bearer {builder}"})
        with self.assertRaises(urllib.error.HTTPError) as refusal:
            urllib.request.urlopen(request, timeout=240)
        self.assertEqual((refusal.exception.code, json.load(refusal.exception)["code"]), (409, "index.archived"))
        self.assert_ran(self.set_index(SECOND), "archived: true -> false", "applied")
        self.assert_ran(self.farm.run("wheelyard-registry", *promote, *remote))

    def test_what_is_in_force_is_shown_as_the_file_may_have_it(self):
        self.assert_ran(self.set_index(SECOND, 'title = "The second"\nquota_mib = 5\n[index.policy]\npreset = "mirror"'))
        shown = self.index("show")
        self.assert_ran(shown, "[[index]]", 'title = "The second"', "[index.policy]")
        self.assert_ran(self.index("list"), "5 MiB", "The second")
        settings = self.farm.config.read_text().split("\n[[index]]")[0]
        self.farm.config.write_text(settings + "\n" + shown.stdout)
        self.assert_ran(self.apply("--check"), "no index changes")
        self.farm.config.write_text(settings + "\n" + shown.stdout.replace("The second", "Another title"))
        self.assert_ran(self.apply("--json"), '"change":"title: \\"The second\\" -> \\"Another title\\""')

    def test_commands_beside_a_server_go_by_what_is_applied(self):
        self.farm.set_index(THIRD)
        wheel = Wheel("wombat").write(self.folder)
        self.assert_failed(self.farm.run("wheelyard-registry", "import", THIRD, wheel, "-c", self.farm.config),
                           "There is no index with this name")
        self.assert_ran(self.apply(), "third: created")
        self.assert_ran(self.farm.run("wheelyard-registry", "import", THIRD, wheel, "-c", self.farm.config), "imported")
        self.assertEqual(self.farm.get(f"/{THIRD}/simple/wombat/")[0], 200)

    def test_a_private_index_is_private_from_its_first_request_on(self):
        self.configure(first="", hidden='read = "token"')
        self.assert_ran(self.apply(), "hidden: created")
        token = self.farm.create_token(HIDDEN)
        status, problem = RawUpload(self.farm, token, Wheel("quokka").write(self.folder), HIDDEN).send()
        self.assertEqual(status, 200, problem)
        self.assertEqual(self.farm.get(f"/{HIDDEN}/simple/quokka/")[0], 401)
        self.assertFalse((self.farm.tree / HIDDEN).exists())
        self.assertNotRegex(self.front_page(), rf'"{HIDDEN}/|>{HIDDEN}<')

    def test_a_signal_names_the_other_keys_that_wait_for_a_restart(self):
        self.configure(first='title = "The first"')
        config = self.farm.config.read_text()
        self.farm.config.write_text(config + '[notify]\ncommand = "true"\n')
        self.farm.process.send_signal(signal.SIGHUP)
        self.wait_until(lambda: re.search(r"serve\.restart_needed keys=.*notify\.command", self.farm.log.read_text()))
        self.wait_until(lambda: "The first" in self.front_page())

    def test_a_file_with_one_wrong_change_changes_nothing(self):
        self.configure(first='inherits = ["nobody"]', second="")
        self.assert_failed(self.apply(), "nobody")
        for _ in range(2):  # the server refuses by itself what the command would not have asked for
            self.farm.process.send_signal(signal.SIGHUP)
        self.wait_until(lambda: "indexes.not_applied" in self.farm.log.read_text())
        self.assertEqual(self.farm.get(f"/{SECOND}/simple/")[0], 404)
        self.assertEqual(self.farm.get(f"/{FIRST}/simple/")[0], 200)

    def test_after_a_kill_the_start_shows_the_new_indexes_whole_and_logs_them(self):
        names = {FIRST: ""}
        for number, delay_s in enumerate(KILL_DELAYS_S):
            name = f"new-{number}"
            names[name] = f'read = "token"\ninherits = ["{FIRST}"]' if number % 2 else f'inherits = ["{FIRST}"]'
            self.configure(**names)
            self.farm.process.send_signal(signal.SIGHUP)
            time.sleep(delay_s)  # when the kill comes; any moment must do
            self.farm.kill()
            self.farm.start()
            with self.subTest(delay_s=delay_s):
                self.assertEqual(self.farm.get(f"/{name}/simple/")[0], 401 if number % 2 else 200)
                self.assertEqual((self.farm.tree / name).exists(), number % 2 == 0)
                self.assertIn("created", [event.get("reason") for event in self.audit(name)])
        self.farm.check_tree()

    def test_without_a_server_the_next_start_applies_the_file(self):
        self.farm.stop()
        self.configure(first="", second="")
        self.assert_ran(self.apply(), "no server runs")
        self.farm.start()
        self.assertEqual(self.farm.get(f"/{SECOND}/simple/")[0], 200)


if __name__ == "__main__":
    main()
