"""Indexes by command and over HTTP, on a running server: created, used by twine and pip, limited, archived; nothing that was
acknowledged is lost by a kill, and `apply` shows what commands changed since."""

import json
import subprocess
import time
import urllib.error
import urllib.request

from support.case import FarmPerTestCase, main
from support.clients import PIPS_WITH_REPORT, RawUpload, installed_value, pip_install, twine_upload
from support.farm import BIN
from support.wheels import Wheel

FIRST, SECOND, THIRD = "first", "second", "third"
KILL_DELAYS_S = (0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)


class IndexesTest(FarmPerTestCase):
    indexes = (FIRST,)

    def index(self, *words: str):
        return self.farm.run("wheelyard-registry", "index", *words, "-c", self.farm.config)

    def admin(self, *actions: str) -> str:
        return self.farm.create_token("*", name="operator", actions=actions or ("index",))

    def ask(self, token: str, method: str, path: str, **members) -> tuple[int, dict]:
        body = json.dumps({"format": "wheelyard.index_change/1"} | members).encode() if members else None
        request = urllib.request.Request(self.farm.url + "/api/v1/indexes" + path, body, method=method,
                                         headers={"Authorization": f"Bearer {token}"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refusal:
            return refusal.code, json.load(refusal)

    def reasons(self, index: str) -> list[tuple[str, str]]:
        """Who changed the index, and what."""
        done = self.farm.run("wheelyard-registry", "audit", "-c", self.farm.config, "--index", index, "--json")
        self.assert_ran(done)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        return [(event["actor"], event["reason"]) for event in events if event["kind"] == "index_changed"]

    def test_an_index_is_created_used_limited_and_archived_over_http(self):
        process = self.farm.process.pid
        token = self.admin()
        status, answer = self.ask(token, "POST", "", keys={"name": SECOND, "title": "The second"}, dry_run=True)
        self.assertEqual((status, answer["changes"]), (200, [{"index": SECOND, "change": "created"}]))
        self.assertEqual(self.farm.get(f"/{SECOND}/simple/")[0], 404)
        status, answer = self.ask(token, "POST", "", keys={"name": SECOND, "title": "The second"})
        self.assertEqual((status, answer["changed"]), (200, True))
        self.assertEqual(self.farm.get(f"/{SECOND}/simple/")[0], 200)
        status, again = self.ask(token, "POST", "", keys={"name": SECOND, "title": "The second"})
        self.assertEqual((status, again["changed"]), (200, False))  # a repeated request
        self.assertEqual(self.ask(token, "POST", "", keys={"name": SECOND})[1]["code"], "index.exists")

        uploader = self.farm.create_token(SECOND)
        self.assert_ran(twine_upload(self.farm, uploader, Wheel("wombat").write(self.folder), index=SECOND))
        pip = PIPS_WITH_REPORT[0]
        target = self.folder / "target"
        self.assert_ran(pip_install(self.farm, pip, target, "wombat", index=SECOND))
        self.assertTrue(installed_value(pip, target, "wombat"))

        status, answer = self.ask(token, "POST", f"/{SECOND}/set", keys={"quota_files": 1}, revision=again["revision"])
        self.assertEqual(status, 200, answer)
        koala = Wheel("koala").write(self.folder)
        self.assert_refused(RawUpload(self.farm, uploader, koala, SECOND), 403, "upload.quota")
        status, lost = self.ask(token, "POST", f"/{SECOND}/set", keys={"quota_files": 9}, revision=again["revision"])
        self.assertEqual((status, lost["code"]), (409, "index.changed"))
        status, wrong = self.ask(token, "POST", f"/{SECOND}/set", keys={"archive": True})
        self.assertEqual((status, wrong["code"]), (400, "config.invalid"))
        self.assertIn("did you mean `archived`", wrong["detail"])

        self.assertEqual(self.ask(token, "POST", f"/{SECOND}/set", keys={"quota_files": None, "sdists": True})[0], 200)
        status, answer = self.ask(token, "GET", f"/{SECOND}")
        self.assertEqual(answer["keys"], {"name": SECOND, "title": "The second", "sdists": True})
        self.assertEqual(RawUpload(self.farm, uploader, koala, SECOND).send()[0], 200)
        self.assertEqual(self.ask(token, "POST", f"/{SECOND}/set", keys={"archived": True})[0], 200)
        numbat = Wheel("numbat").write(self.folder)
        self.assert_refused(RawUpload(self.farm, uploader, numbat, SECOND), 403, "index.archived")
        self.assert_ran(pip_install(self.farm, pip, self.folder / "later", "koala", index=SECOND))

        self.assertEqual((self.farm.process.pid, self.farm.process.poll()), (process, None))
        self.assertEqual(self.reasons(SECOND), [("operator", "created"), ("operator", "quota_files: 0 -> 1"),
                                                ("operator", "sdists: false -> true; quota_files: 1 -> 0"),
                                                ("operator", "archived: false -> true")])

    def test_an_archived_index_refuses_promotion_import_and_tasks_and_keeps_its_files(self):
        self.assert_ran(self.index("create", SECOND), "second: created", "applied")
        token = self.admin("promote", "task", "index")
        wheel = Wheel("wombat").write(self.folder)
        self.assertEqual(RawUpload(self.farm, self.farm.create_token(FIRST), wheel, FIRST).send()[0], 200)
        self.assert_ran(self.index("archive", SECOND), "archived: false -> true")
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
        self.assert_ran(self.index("create", THIRD, f"staging={FIRST}"))
        task = ("task", "add", THIRD, "six", "1.16.0", "--python", "3.12", *remote)
        self.assert_ran(self.farm.run("wheelyard-registry", *task))
        self.assert_ran(self.index("set", THIRD, f"staging={SECOND}"))
        self.assert_failed(self.farm.run("wheelyard-registry", *task), "archived")
        claim = {"format": "wheelyard.claim/1", "claim": "c" * 32, "index": THIRD, "agent": "a", "pythons": ["3.12"], "accelerators": []}
        request = urllib.request.Request(self.farm.url + "/api/v1/tasks/claim", json.dumps(claim).encode(), method="POST",
                                         headers={"Authorization": f"Bearer {self.admin('build')}"})
        with self.assertRaises(urllib.error.HTTPError) as refusal:
            urllib.request.urlopen(request, timeout=60)
        self.assertEqual((refusal.exception.code, json.load(refusal.exception)["code"]), (409, "index.archived"))
        set_back = self.farm.run("wheelyard-registry", "index", "set", SECOND, "archived=false", *remote)
        self.assert_ran(set_back, "archived: true -> false", "applied")
        self.assert_ran(self.farm.run("wheelyard-registry", *promote, *remote))

    def test_commands_decide_until_the_file_is_applied(self):
        self.assert_ran(self.index("create", SECOND, "title=The second", "quota_mib=5", "--dry-run"), "second: created")
        self.assert_ran(self.index("list"), "first", "decided by the configuration file")
        self.assert_ran(self.index("create", SECOND, "title=The second", "quota_mib=5"), "second: created", "applied")
        self.assert_ran(self.index("set", FIRST, 'owns=["Torch"]', "policy.preset=mirror"), "owns", "policy: changed")
        self.assert_failed(self.index("set", FIRST, "quota_mb=5"), "did you mean `quota_mib`")
        self.assert_failed(self.index("set", "nobody", "quota_mib=5"), "There is no index")
        self.farm.stop()
        self.farm.start()
        self.assertEqual(self.farm.get(f"/{SECOND}/simple/")[0], 200)
        self.assertIn("indexes.decided_by_commands", self.farm.log.read_text())
        shown = self.index("show")
        self.assert_ran(shown, "[[index]]", 'title = "The second"', "[index.policy]")

        self.assert_ran(self.apply("--check"), "second: removed")
        settings = self.farm.config.read_text().split("\n[[index]]")[0]
        self.farm.config.write_text(settings + "\n" + shown.stdout)  # as one who keeps the configuration in git
        self.assert_ran(self.apply("--check"), "no index changes")
        self.assert_ran(self.apply(), "applied")
        self.assert_ran(self.index("list"), "decided by the configuration file")
        self.farm.config.write_text(settings + "\n" + shown.stdout.replace("The second", "Another title"))
        self.assert_ran(self.apply("--json"), '"change":"title: \\"The second\\" -> \\"Another title\\""')

    def test_without_a_server_commands_change_the_store_and_the_next_start_shows_it(self):
        self.farm.stop()
        self.assert_ran(self.index("create", SECOND, "read=token"), "second: created", "no server runs")
        self.assert_ran(self.index("set", FIRST, "read=token"), "read", "no server runs")
        self.farm.start()
        self.assertEqual(self.farm.get(f"/{SECOND}/simple/")[0], 401)
        self.assertEqual(self.farm.get(f"/{FIRST}/simple/")[0], 401)
        self.assertTrue(self.reasons(SECOND)[0][0].startswith("local:"))
        self.farm.stop()
        for option in ((), ("--check",), ("--open", SECOND)):
            refused = self.apply(*option)
            self.assert_failed(refused, "A command made this index private", "`first`", f"--open {FIRST} -c")
            self.assertIn("second: removed", refused.stdout)
        self.assert_ran(self.apply("--open", FIRST), "second: removed", "first: read")
        self.farm.start()
        self.assertEqual(self.farm.get(f"/{SECOND}/simple/")[0], 404)
        self.assertEqual(self.farm.get(f"/{FIRST}/simple/")[0], 200)

    def test_the_file_opens_no_index_that_a_command_closed_unless_it_is_named(self):
        self.assert_ran(self.index("set", FIRST, "read=token"), "applied")
        self.farm.index_settings = {FIRST: 'title = "An edit of another kind"'}
        self.farm.write_config(self.farm.port)
        self.assert_failed(self.apply(), "A command made this index private", "`first`")
        self.assertEqual(self.farm.get(f"/{FIRST}/simple/")[0], 401)
        self.farm.index_settings = {FIRST: 'read = "token"'}
        self.farm.write_config(self.farm.port)
        self.assert_ran(self.apply(), "applied")
        self.farm.index_settings = {FIRST: ""}
        self.farm.write_config(self.farm.port)
        self.assert_ran(self.apply(), "first: read")  # an edit of the file that decides
        self.assertEqual(self.farm.get(f"/{FIRST}/simple/")[0], 200)

    def test_commands_beside_a_server_go_by_what_is_applied(self):
        self.farm.indexes = (FIRST, THIRD)
        self.farm.write_config(self.farm.port)
        wheel = Wheel("wombat").write(self.folder)
        self.assert_failed(self.farm.run("wheelyard-registry", "import", THIRD, wheel, "-c", self.farm.config),
                           "There is no index with this name")
        self.assert_ran(self.apply(), "third: created")
        self.assert_ran(self.farm.run("wheelyard-registry", "import", THIRD, wheel, "-c", self.farm.config), "imported")
        self.assertEqual(self.farm.get(f"/{THIRD}/simple/wombat/")[0], 200)

    def test_what_was_acknowledged_is_there_after_a_kill_and_what_is_there_is_whole(self):
        token = self.admin()
        for number, delay_s in enumerate(KILL_DELAYS_S):
            kept, last = f"kept-{number}", f"last-{number}"
            self.assertEqual(self.ask(token, "POST", "", keys={"name": kept, "quota_files": number})[0], 200)
            # Its end is not awaited: the kill comes at any moment of it.
            command = subprocess.Popen([BIN / "wheelyard-registry", "index", "create", last, f'inherits=["{kept}"]',
                                        "-c", self.farm.config], env=self.farm.environment,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(delay_s)
            self.farm.kill()
            command.wait(timeout=120)
            self.farm.start()
            with self.subTest(delay_s=delay_s):
                self.assertEqual(self.ask(token, "GET", f"/{kept}")[1]["keys"], {"name": kept, "quota_files": number})
                is_there = self.ask(token, "GET", f"/{last}")[0] == 200
                self.assertEqual(self.farm.get(f"/{last}/simple/")[0], 200 if is_there else 404)
                self.assertEqual(len(self.reasons(last)), 1 if is_there else 0)
                self.assertFalse(list(self.farm.data.glob(".index-*")))
        self.farm.check_tree()


if __name__ == "__main__":
    main()
