"""Work from the registry: what somebody asks for is built by one of two agents, once, whoever dies in between."""

import json
import re
import time
import urllib.request

from support.case import FarmCase, main
from support.farm import INDEX, Farm
from support.package_index import PackageIndex, write_sdist
from support.site import PYTHON_VERSION, Site

STAGING = "staging"
WAIT_LIMIT_S = 120


class TasksTest(FarmCase):
    def setUp(self):
        super().setUp()
        self.sources = self.enterContext(PackageIndex(self.folder / "sources"))

    def fresh_farm(self, lease_s: int = 600) -> Farm:
        farm = self.enterContext(Farm((INDEX, STAGING), settings=f"[tasks]\nlease_s = {lease_s}",
                                      index_settings={INDEX: f'staging = "{STAGING}"'}))
        self.build_token = farm.create_token(INDEX, name="agent", actions=("build",))
        self.task_token = farm.create_token(INDEX, name="anna", actions=("task",))
        farm.start()
        self.token_file = farm.folder / "anna.token"
        self.token_file.write_text(self.task_token)
        return farm

    def agent(self, farm: Farm, name: str, **more) -> Site:
        return Site(farm, self.sources, self.build_token, {}, scheduler='kind = "local"\nmost_jobs = 1\n',
                    registry='claim_tasks = "any"', name=name, **more)

    def task(self, farm: Farm, verb: str, *arguments: str) -> str:
        done = farm.run("wheelyard-registry", "task", verb, *arguments, "--url", farm.url, "--token-file", self.token_file)
        self.assert_ran(done)
        return done.stdout

    def ask_for(self, farm: Farm, package: str) -> str:
        write_sdist(self.sources.folder, package, "1.0")
        return json.loads(self.task(farm, "add", INDEX, package, "1.0", "--python", PYTHON_VERSION, "--json"))["id"]

    def state(self, farm: Farm, task: str) -> dict:
        return json.loads(self.task(farm, "show", task, "--json"))

    def assert_no_secret(self, site: Site):
        secret = re.compile(rb"wy_[0-9a-f]{12}_[0-9a-f]{64}")
        for path in (site.folder / "state", site.folder / "work"):
            for file in path.rglob("*"):
                if file.is_file():
                    self.assertIsNone(secret.search(file.read_bytes()), file)

    def test_two_tasks_two_agents_each_built_once_though_agent_and_server_are_killed(self):
        farm = self.fresh_farm()
        tasks = {package: self.ask_for(farm, package) for package in ("yard-one", "yard-two")}
        self.assertEqual(self.ask_for(farm, "yard-one"), tasks["yard-one"])  # asked for twice is one task
        agents = [self.agent(farm, "first"), self.agent(farm, "second")]

        # The first one dies when its claim is answered, and finds the same task again; the server dies between them.
        self.assertEqual(agents[0].builder("tick", stop_at="task.claimed").returncode, 137)
        self.assertEqual(self.state(farm, tasks["yard-one"])["state"], "claimed")
        farm.kill()
        self.assert_ran(agents[0].builder("tick"))  # away: no failure, and nothing is forgotten
        farm.start()
        self.assertEqual(agents[1].builder("tick", stop_at="submit.started").returncode, 137)
        self.assertEqual({self.state(farm, task)["state"] for task in tasks.values()}, {"claimed"})
        for agent in agents:
            for point in ("journal.built", "upload.sent", "task.ended"):
                agent.builder("run", stop_at=point)
        farm.kill()
        farm.start()
        for agent in agents:
            agent.builder("run")
            self.assert_ran(agent.builder("tick"))

        for package, task in tasks.items():
            told = self.state(farm, task)
            self.assertEqual(told["state"], "done", told)
            self.assertEqual(told["attempts"], 1)
            wheel, = farm.files(package, STAGING)
            self.assertEqual(farm.files(package), {})  # promotion is another identity's right
            self.assertEqual(told["outcome"]["wheel"]["filename"], wheel)
            self.assertEqual(told["outcome"]["result"], "done")
            log = self.task(farm, "log", task)
            self.assertIn(package.replace("-", "_"), log)
            self.assertGreater(told["log_bytes"], 100)
        attempts = [attempt for agent in agents for attempt in agent.attempts()]
        self.assertEqual(sorted(attempt["package"] for attempt in attempts), ["yard-one", "yard-two"])
        self.assertEqual({attempt["job"]["submits"] for attempt in attempts}, {1})
        for agent in agents:
            self.assertEqual(list((agent.folder / "state/claims").iterdir()), [])
            self.assert_no_secret(agent)

    def test_a_task_whose_agent_stays_away_is_built_by_another_and_the_late_one_gives_it_up(self):
        farm = self.fresh_farm(lease_s=15)
        task = self.ask_for(farm, "yard-late")
        first, second = self.agent(farm, "first"), self.agent(farm, "second")
        self.assertEqual(first.builder("tick", stop_at="journal.planned").returncode, 137)
        deadline = time.monotonic() + WAIT_LIMIT_S
        while self.state(farm, task)["state"] != "queued":
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.2)
        second.builder("run")
        told = self.state(farm, task)
        self.assertEqual((told["state"], told["attempts"]), ("done", 2), told)
        self.assert_ran(first.builder("tick"))
        attempt, = first.attempts()
        self.assertEqual((attempt["state"], attempt["job"]["submits"]), ("failed", 0))
        self.assertEqual(len(farm.files("yard-late", STAGING)), 1)

    def test_a_build_that_fails_ends_the_task_with_its_diagnosis_and_log(self):
        farm = self.fresh_farm()
        write_sdist(self.sources.folder, "yard-bad", "1.0", c_source="#include <this_cluster_has_not.h>\n")
        task = json.loads(self.task(farm, "add", INDEX, "yard-bad", "1.0", "--python", PYTHON_VERSION, "--json"))["id"]
        self.agent(farm, "first").builder("run")
        told = self.state(farm, task)
        self.assertEqual(told["state"], "failed")
        self.assertEqual(told["outcome"]["diagnosis"]["cause"], "compiler.missing_header")
        self.assertIn("this_cluster_has_not.h", self.task(farm, "log", task))
        self.assertIn("failed", self.task(farm, "list", INDEX, "--state", "failed"))

    def test_the_log_is_plain_text_that_no_browser_guesses_at(self):
        farm = self.fresh_farm()
        task = self.ask_for(farm, "yard-plain")
        claim = "a" * 32

        def post(address: str, body: bytes) -> dict:
            request = urllib.request.Request(f"{farm.url}/api/v1/tasks/{address}", data=body, method="POST",
                                             headers={"Authorization": f"Bearer {self.build_token}"})
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
                return json.load(answer)

        post("claim", json.dumps({"format": "wheelyard.claim/1", "claim": claim, "index": INDEX, "agent": "test",
                                  "pythons": [PYTHON_VERSION], "accelerators": []}).encode())
        said = b"<script>alert(1)</script>\n\xff\x00"
        self.assertEqual(post(f"{task}/log?claim={claim}&offset=0", said)["log_bytes"], len(said))
        status, headers, body = farm.get(f"/api/v1/tasks/{task}/log", headers={"Authorization": f"Bearer {self.task_token}"})
        self.assertEqual((status, body), (200, said))
        self.assertTrue(headers["Content-Type"].startswith("text/plain"))
        self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        self.assertEqual(farm.get(f"/api/v1/tasks/{task}/log")[0], 401)
        farm.kill()
        farm.start()
        self.assertEqual(self.task(farm, "list", "--state", "claimed").count(task), 1)
        cancelled = farm.run("wheelyard-registry", "task", "cancel", task, "--reason", "enough", "--config", farm.config)
        self.assert_ran(cancelled, "cancelled by local:", "enough")


if __name__ == "__main__":
    main()
