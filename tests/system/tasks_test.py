"""Work from the registry: one of two sites builds each request, once, even if an agent dies in between."""

import contextlib
import datetime
import json
import re
import sqlite3
import time
import urllib.request

from support.asker import Asker
from support.case import FarmCase, main
from support.certificate import make_certificate
from support.farm import INDEX, Farm
from support.package_index import PackageIndex, write_sdist
from support.site import PYTHON_VERSION, Site

STAGING = "staging"
WAIT_LIMIT_S = 240


class TasksTest(FarmCase):
    def setUp(self):
        super().setUp()
        self.sources = self.enterContext(PackageIndex(self.folder / "sources"))

    def fresh_farm(self, lease_s: int = 600, server: str = "") -> Farm:
        farm = self.enterContext(Farm((INDEX, STAGING), settings=f"{server}[tasks]\nlease_s = {lease_s}",
                                      index_settings={INDEX: f'staging = "{STAGING}"'}))
        self.build_token = farm.create_token(INDEX, name="agent", actions=("build",))
        self.asker = Asker(farm)
        return farm.start()

    def agent(self, farm: Farm, name: str, **more) -> Site:
        return Site(farm, self.sources, self.build_token, {}, scheduler='kind = "local"\nmax_jobs = 1\n',
                    registry='claim_tasks = "any"', name=name, site=name, **more)

    def ask_for(self, package: str) -> str:
        write_sdist(self.sources.folder, package, "1.0")
        return self.asker.ask_for(package)

    def assert_no_secret(self, site: Site):
        secret = re.compile(rb"wy_[0-9a-f]{12}_[0-9a-f]{64}")
        for path in (site.folder / "state", site.folder / "work"):
            for file in path.rglob("*"):
                if file.is_file():
                    self.assertIsNone(secret.search(file.read_bytes()), file)

    def test_two_tasks_two_sites_each_built_once_though_agent_and_server_are_killed(self):
        farm = self.fresh_farm()
        tasks = {package: self.ask_for(package) for package in ("yard-one", "yard-two")}
        self.assertEqual(self.ask_for("yard-one"), tasks["yard-one"])  # asked for twice is one task
        agents = [self.agent(farm, "first"), self.agent(farm, "second")]

        # The first one dies when its request is answered, and finds the same task again; the server dies between them.
        self.assertEqual(agents[0].builder("tick", failpoint="task.claimed").returncode, 137)
        self.assertEqual(self.asker.show(tasks["yard-one"])["state"], "claimed")
        farm.kill()
        self.assert_ran(agents[0].builder("tick"))  # away: no failure, and nothing is forgotten
        farm.start()
        self.assertEqual(agents[1].builder("tick", failpoint="submit.started").returncode, 137)
        self.assertEqual({self.asker.show(task)["state"] for task in tasks.values()}, {"claimed"})
        for agent in agents:
            for point in ("journal.built", "upload.sent", "task.ended"):
                agent.builder("run", failpoint=point)
        farm.kill()
        farm.start()
        for agent in agents:
            agent.builder("run")
            self.assert_ran(agent.builder("tick"))

        for package, task in tasks.items():
            report = self.asker.show(task)
            self.assertEqual(report["state"], "done", report)
            self.assertEqual(report["attempts"], 1)
            wheel, = farm.files(package, STAGING)
            self.assertEqual(farm.files(package), {})  # promotion is another identity's right
            self.assertEqual(report["outcome"]["wheel"]["filename"], wheel)
            self.assertEqual(report["outcome"]["result"], "done")
            log = self.asker.say("log", task)
            self.assertIn(package.replace("-", "_"), log)
            self.assertGreater(len(log), 100)
        attempts = [attempt for agent in agents for attempt in agent.attempts()]
        self.assertEqual(sorted(attempt["package"] for attempt in attempts), ["yard-one", "yard-two"])
        self.assertEqual({attempt["job"]["submits"] for attempt in attempts}, {1})
        for agent in agents:
            self.assertEqual(list((agent.folder / "state/claims").iterdir()), [])
            self.assert_no_secret(agent)

    def test_one_command_requests_wheels_for_many_targets_and_shows_each(self):
        self.fresh_farm()
        words = ("add", INDEX, "torch", "2.4.0", "--python", "3.11", "--python", "3.12", "--accelerator", "gpu", "--accelerator", "cpu", "--json")
        tasks = [json.loads(line) for line in self.asker.say(*words).splitlines()]
        self.assertEqual([(task["python"], task["accelerator"], task["state"]) for task in tasks],
                         [(python, accelerator, "queued") for python in ("3.11", "3.12") for accelerator in ("gpu", "cpu")])
        again = [json.loads(line)["id"] for line in self.asker.say(*words).splitlines()]
        self.assertEqual(again, [task["id"] for task in tasks])
        # The token is for one of the sites: the other's refusal stops nothing, and is said.
        partly = self.asker.run("add", INDEX, "six", "1.0", "--python", "3.12", "--also", STAGING)
        self.assert_failed(partly, f"{STAGING}, Python 3.12: ", "Some of the requests were refused", "1 of 2")
        self.assertRegex(partly.stdout, rf"queued  {INDEX}  six 1.0 for Python 3.12\n  no agent reports to this index, so nobody takes requests\n")
        self.assertIn("no agent reports to this index", self.asker.say("show", tasks[0]["id"]))

    def test_site_check_says_that_a_token_may_not_claim_tasks_and_which_one_to_ask_for(self):
        farm = self.fresh_farm()
        agent = self.agent(farm, "first")
        self.assertNotIn("claims of tasks", agent.builder("site", "check").stdout)
        (agent.folder / "token").write_text(farm.create_token(INDEX, name="uploads", actions=("upload",)) + "\n")
        self.assert_failed(agent.builder("site", "check"), f"claims of tasks: The token may not claim tasks of index {INDEX}",
                           f"token create --index {INDEX} --action build --action upload")

    def test_a_task_whose_site_stays_away_is_built_by_another_and_the_late_one_gives_it_up(self):
        farm = self.fresh_farm(lease_s=15)
        task = self.ask_for("yard-late")
        first, second = self.agent(farm, "first"), self.agent(farm, "second")
        self.assertEqual(first.builder("tick", failpoint="journal.planned").returncode, 137)
        attempt, = first.attempts()
        self.assertEqual(attempt["claimed_task"], task)
        self.assert_ran(first.builder("status"), f"(task {task} of the registry)")
        self.assert_ran(first.builder("explain", attempt["cell"]), f"task {task} of the registry, asked for by anna")
        deadline = time.monotonic() + WAIT_LIMIT_S
        while self.asker.show(task)["state"] != "queued":
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.2)
        second.builder("run")
        report = self.asker.show(task)
        self.assertEqual((report["state"], report["attempts"]), ("done", 2), report)
        self.assert_ran(first.builder("tick"))
        attempt, = first.attempts()
        self.assertEqual((attempt["state"], attempt["job"]["submits"]), ("failed", 0))
        self.assertEqual(len(farm.files("yard-late", STAGING)), 1)

    def test_a_run_whose_task_went_to_staging_ends_well_and_says_where_it_is(self):
        farm = self.fresh_farm()
        task = self.ask_for("yard-staged")
        agent = self.agent(farm, "first")
        done = agent.builder("run")
        wheel, = farm.files("yard-staged", STAGING)
        self.assert_ran(done, f"{wheel} in index `{STAGING}`")
        self.assertEqual(self.asker.show(task)["state"], "done")

        # The site file wants it as well: it is built once, and promotion into the site's own index is another's.
        agent.file.write_text(agent.file.read_text() + '[[want]]\npackage = "yard-staged"\nversions = ["1.0"]\n')
        self.assert_ran(agent.builder("run"), f"{wheel} in index `{STAGING}`")
        self.assertEqual(len(agent.attempts()), 1)
        self.assert_ran(farm.run("wheelyard-registry", "promote", STAGING, wheel, "--to", INDEX, "--config", farm.config))
        self.assert_ran(agent.builder("run"))
        self.assertEqual(agent.plan()["yard-staged"]["reason"], wheel)
        self.assertEqual(len(agent.attempts()), 1)

    def test_a_build_that_fails_ends_the_task_with_its_diagnosis_and_log(self):
        farm = self.fresh_farm()
        write_sdist(self.sources.folder, "yard-bad", "1.0", c_source="#include <this_cluster_has_not.h>\n")
        task = self.asker.ask_for("yard-bad")
        self.assertEqual(self.agent(farm, "first").builder("run").returncode, 1)
        report = self.asker.show(task)
        self.assertEqual(report["state"], "failed")
        self.assertEqual(report["outcome"]["diagnosis"]["cause"], "compiler.missing_header")
        self.assertIn("this_cluster_has_not.h", self.asker.say("log", task))
        self.assertIn("failed", self.asker.say("list", INDEX, "--state", "failed"))
        shown = farm.run("avail_wheels", "--index-url", farm.simple_url(), "--status", "yard-bad", "--json")
        self.assert_ran(shown, "request failed", report["reason"], f"{farm.url}/{INDEX}/builds/request.html?id={task}")

    def test_the_log_is_plain_text_that_no_browser_guesses_at(self):
        farm = self.fresh_farm()
        task = self.ask_for("yard-plain")

        def post(address: str, body: bytes, method: str = "POST") -> dict:
            request = urllib.request.Request(f"{farm.url}/api/v1/{address}", data=body, method=method,
                                             headers={"Authorization": f"Bearer {self.build_token}"})
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
                return json.load(answer)

        post("tasks/claim", json.dumps({"format": "wheelyard.claim/2", "index": INDEX, "agent": "test.login1", "pythons": [PYTHON_VERSION],
                                        "accelerators": [], "room": 1}).encode())
        said = b"<script>alert(1)</script>\n\xff\x00"
        moment = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        build = {"id": "w1", "package": "yard-plain", "version": "1.0", "python": PYTHON_VERSION, "state": "running", "began": moment}
        post(f"indexes/{INDEX}/sites/test", json.dumps({"format": "wheelyard.site/1", "site": "test", "index": INDEX, "time": moment,
                                                        "attempts": [build]}).encode(), "PUT")
        self.assertEqual(post(f"indexes/{INDEX}/builds/test/w1/log?offset=0", said)["log_bytes"], len(said))
        self.assertEqual(self.asker.show(task)["build"], {"site": "test", "id": "w1"})
        status, headers, body = farm.get(f"/api/v1/tasks/{task}/log", headers={"Authorization": f"Bearer {self.asker.token}"})
        self.assertEqual((status, body), (200, said))
        self.assertTrue(headers["Content-Type"].startswith("text/plain"))
        self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        self.assertEqual(farm.get(f"/api/v1/tasks/{task}/log")[0], 401)
        farm.kill()
        farm.start()
        self.assertEqual(self.asker.say("list", "--state", "claimed").count(task), 1)
        cancelled = farm.run("wheelyard-registry", "task", "cancel", task, "--reason", "enough", "--config", farm.config)
        self.assert_ran(cancelled, "cancelled by local:", "enough")

    def test_an_agent_with_the_servers_certificate_builds_through_tls_and_one_without_claims_nothing(self):
        make_certificate(self.folder, "yard")
        farm = self.fresh_farm(server='also_listen = ["https://127.0.0.1:0"]\n'
                               f'certificate_file = "{self.folder}/chain.pem"\ncertificate_key_file = "{self.folder}/key.pem"\n')
        port = re.findall(r"listening on https://127.0.0.1:(\d+)", farm.log.read_text())[-1]
        task = self.ask_for("yard-tls")
        agent = self.agent(farm, "first")
        agent.file.write_text(agent.file.read_text().replace(farm.url, f"https://127.0.0.1:{port}"))
        self.assert_ran(agent.builder("tick"))
        self.assertEqual(self.asker.show(task)["state"], "queued")
        trusting = agent.environment | {"SSL_CERT_FILE": f"{self.folder}/chain.pem"}
        farm.run("wheelyard-builder", "run", "--site", agent.file, environment=trusting)
        report = self.asker.show(task)
        self.assertEqual((report["state"], report["attempts"]), ("done", 1), report)
        self.assertEqual([report["outcome"]["wheel"]["filename"]], list(farm.files("yard-tls", STAGING)))
        self.assertIn("yard_tls", self.asker.say("log", task))
        self.assert_no_secret(agent)

    def test_what_ended_long_ago_goes_while_serving_and_is_counted(self):
        farm = self.fresh_farm()
        old, recent = self.asker.ask_for("yard-old"), self.asker.ask_for("yard-recent")
        for task in (old, recent):
            self.asker.say("cancel", task)
        farm.stop()
        with contextlib.closing(sqlite3.connect(farm.data / "tasks.sqlite")) as queue, queue:
            queue.execute("UPDATE task SET changed = changed - ? WHERE id = ?", (91 * 24 * 3600 * 1_000_000, old))
        farm.start()
        self.asker.ask_for("yard-new")
        self.assertIn("There is no task with this id", self.asker.run("show", old).stderr)
        self.assertEqual(self.asker.show(recent)["state"], "cancelled")
        self.assertIn("wheelyard_tasks_removed_total 1\n", farm.get("/metrics")[2].decode())

    def test_a_backup_says_that_it_leaves_the_queue_out_and_a_restored_registry_has_an_empty_one(self):
        farm = self.fresh_farm()
        self.asker.ask_for("yard-one")
        backup = self.folder / "backup"
        self.assert_ran(farm.run("wheelyard-registry", "backup", backup, "--config", farm.config), "left out: the task queue")
        again = farm.run("wheelyard-registry", "backup", backup, "--config", farm.config, "--json")
        self.assertEqual(json.loads(again.stdout)["left_out"], ["tasks.sqlite"])
        self.assert_ran(farm.run("wheelyard-registry", "restore", backup, self.folder / "data"))
        self.assertEqual([path for folder in (backup, self.folder / "data") for path in folder.glob("tasks.sqlite*")], [])


if __name__ == "__main__":
    main()
