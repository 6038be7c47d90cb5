"""Agents without a long-lived token: two sites' agents enrol with one-use codes, build, and renew their tokens, also after a crash and
from several login nodes at once. A hostile third gets nothing by a used, expired, revoked or copied secret, and a copy is noticed."""

import fcntl
import json
import os
import pty
import re
import signal
import sqlite3
import subprocess
import termios
import time
import unittest
import urllib.error
import urllib.request

from support.case import FarmPerTestCase, main
from support.clients import RawUpload
from support.farm import COMMAND_TIMEOUT_S, Farm
from support.live_tree import bytes_of, paths_in
from support.node_farm import Nodes
from support.package_index import PackageIndex, write_sdist
from support.site import Site
from support.wheels import Wheel

ALPHA, BETA, SHARED = "alpha", "beta", "shared"
PAST = "2020-01-01T00:00:00Z"
OUT_OF_NOWHERE = "wy_" + "0" * 12 + "_" + "1" * 64
PATIENCE_S = 240


def ask(farm: Farm, method: str, path: str, token: str = "", **members) -> tuple[int, dict]:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    request = urllib.request.Request(farm.url + path, json.dumps(members).encode() if members else None, headers, method=method)
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=COMMAND_TIMEOUT_S) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def make_code(farm: Farm, site: str, *indexes: str, actions: tuple[str, ...] = ("upload", "build"), projects: tuple[str, ...] = ()) -> str:
    done = farm.run("wheelyard-registry", "agent", "enrol", site, "-c", farm.config, *(word for index in indexes for word in ("--index", index)),
                    *(word for action in actions for word in ("--action", action)), *(word for project in projects for word in ("--project", project)))
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    return done.stdout.split()[0]


def listed(farm: Farm) -> dict[str, list[str]]:
    """What `token list` shows of agents: name → states."""
    table = farm.run("wheelyard-registry", "token", "list", "-c", farm.config).stdout
    found: dict[str, list[str]] = {}
    for state, name in re.findall(r"^wy_\w{12} +(\w+) +(agent:\S+(?: code| renewal)?)", table, re.MULTILINE):
        found.setdefault(name, []).append(state)
    return found


def enrol(site: Site, code: str, failpoint: str = "") -> subprocess.CompletedProcess:
    environment = site.environment | ({"WHEELYARD_FAILPOINT": failpoint} if failpoint else {})
    return subprocess.run(site.command("enrol"), env=environment, input=code + "\n", capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)


def token_of(site: Site) -> str:
    return (site.folder / "token").read_text().strip()


def renewal_of(site: Site) -> dict:
    return json.loads((site.folder / "token.renewal").read_text())


def make_due(site: Site) -> None:
    """As if half the life of the token had passed."""
    (site.folder / "token.renewal").write_text(json.dumps(renewal_of(site) | {"renew_at": PAST}))


class EnrolmentTest(FarmPerTestCase):
    indexes = (ALPHA, BETA, SHARED)

    def setUp(self):
        super().setUp()
        self.sources = self.enterContext(PackageIndex(self.folder / "sources"))

    def site(self, name: str, **wants: str) -> Site:
        return Site(self.farm, self.sources, "", wants, name=f"at-{name}", index=name)

    def enrolled(self, name: str, *more_indexes: str, **wants: str) -> Site:
        site = self.site(name, **wants)
        self.assert_ran(enrol(site, make_code(self.farm, name, name, *more_indexes)), f"agent:{name}")
        return site

    def renew(self, site: str, credential: str) -> tuple[int, str]:
        status, answer = ask(self.farm, "POST", "/api/v1/agents/renew", format="wheelyard.agent_renewal/1", site=site, credential=credential,
                             next=OUT_OF_NOWHERE)
        return status, answer.get("code", "")

    def access(self, token: str, index: str = ALPHA) -> int:
        return ask(self.farm, "GET", f"/api/v1/indexes/{index}/access", token)[0]

    def test_two_agents_enrol_build_and_renew(self):
        write_sdist(self.sources.folder, "solver", "1.0")
        write_sdist(self.sources.folder, "mesher", "1.0")
        alpha, beta = self.enrolled(ALPHA, solver="1.0"), self.enrolled(BETA, mesher="1.0")
        for site, project in ((alpha, "solver"), (beta, "mesher")):
            self.assertEqual((site.folder / "token").stat().st_mode & 0o777, 0o600)
            self.assertEqual((site.folder / "token.renewal").stat().st_mode & 0o777, 0o600)
            self.assert_ran(site.builder("run"))
            self.assertEqual(len(self.farm.files(project, site.index)), 1)
        auditor = self.farm.create_token("*", name="auditor", actions=("audit",))
        events = ask(self.farm, "GET", "/api/v1/audit", auditor)[1]["events"]
        self.assertEqual({(event["index"], event["actor"]) for event in events if event["kind"] == "file_added"},
                         {(ALPHA, "agent:alpha"), (BETA, "agent:beta")})
        self.assertEqual(listed(self.farm), {name: ["active"] for site in (ALPHA, BETA) for name in (f"agent:{site}", f"agent:{site} renewal")})

        before, renewal = token_of(alpha), renewal_of(alpha)["renewal"]
        self.assert_ran(alpha.builder("tick"))
        self.assertEqual(token_of(alpha), before)  # not yet
        make_due(alpha)
        self.assert_ran(alpha.builder("tick"))
        after = token_of(alpha)
        self.assertNotEqual(after, before)
        self.assertNotEqual(renewal_of(alpha)["renewal"], renewal)
        self.assertGreater(renewal_of(alpha)["renew_at"], PAST)
        self.assertEqual([self.access(before), self.access(after)], [200, 200])  # an upload that runs has the one before
        secrets = [text.rsplit("_", 1)[1] for text in (before, after, renewal, renewal_of(alpha)["renewal"])]
        texts = {file: file.read_bytes() for file in [self.farm.log, *(alpha.folder / "state").rglob("*.json")]}
        texts |= {path: bytes_of(path) for path in paths_in(self.farm.data)}
        for file, text in texts.items():
            for secret in secrets:
                self.assertNotIn(secret.encode(), text, file)

    def test_a_crash_between_the_registrys_commit_and_the_agents_write_costs_nothing(self):
        site = self.site(ALPHA)
        code = make_code(self.farm, ALPHA, ALPHA)
        for _ in range(2):
            self.assertEqual(enrol(site, code, failpoint="renewal.answered").returncode, 137)
            self.assertEqual(token_of(site), "")
        self.assert_ran(enrol(site, code))
        self.assertEqual(self.access(token_of(site)), 200)
        for _ in range(2):
            make_due(site)
            before = token_of(site)
            for _ in range(2):
                self.assertEqual(site.builder("tick", failpoint="renewal.answered").returncode, 137)
                self.assertEqual(token_of(site), before)
            self.assert_ran(site.builder("tick"))
            self.assertNotEqual(token_of(site), before)
            self.assertEqual(self.access(token_of(site)), 200)
        # A registry that is killed and started again knows the renewal.
        self.farm.kill()
        make_due(site)
        site.builder("tick")
        self.farm.start()
        before = token_of(site)
        self.assert_ran(site.builder("tick"))
        self.assertNotEqual(token_of(site), before)

    def test_several_ticks_at_once_renew_without_a_quarrel(self):
        site = self.enrolled(ALPHA)
        for _ in range(3):
            make_due(site)
            before = token_of(site)
            ticks = [site.start("tick") for _ in range(5)]
            for tick in ticks:
                said = tick.communicate(timeout=COMMAND_TIMEOUT_S)[0]
                self.assertEqual(tick.returncode, 0, said)
            self.assertNotEqual(token_of(site), before)
            self.assertEqual(self.access(token_of(site)), 200)
        self.assertEqual(listed(self.farm)["agent:alpha renewal"], ["active"])

    def test_a_used_a_foreign_an_expired_and_an_invented_code_enrol_nobody(self):
        thief = self.site(BETA)
        used = make_code(self.farm, ALPHA, ALPHA)
        alpha = self.site(ALPHA)
        self.assert_ran(enrol(alpha, used))
        self.assert_failed(enrol(thief, used), "not the one that the administrator named")
        self.assertEqual(self.access(token_of(alpha)), 200)
        self.assert_failed(enrol(thief, OUT_OF_NOWHERE), "No enrolment has this code")
        self.assert_failed(enrol(thief, "hello"), "This is no code of a registry")
        self.assert_failed(enrol(thief, ""), "This is no code of a registry")
        late = make_code(self.farm, BETA, BETA)
        with sqlite3.connect(self.farm.data / "catalog.sqlite") as catalog:
            self.assertEqual(catalog.execute("UPDATE token SET expires = 1 WHERE id = ?", (late.rsplit("_", 1)[0],)).rowcount, 1)
        self.assert_failed(enrol(thief, late), "expired, or the agent was revoked", "agent enrol")
        self.assertEqual(token_of(thief), "")
        self.assertFalse((thief.folder / "token.renewal").exists())

    def test_a_copied_renewal_is_noticed_whoever_uses_it_first_and_the_other_site_goes_on(self):
        beta = self.enrolled(BETA)
        for thief_is_first in (True, False):
            alpha = self.site(ALPHA)
            self.assert_ran(enrol(alpha, make_code(self.farm, ALPHA, ALPHA)))
            copied = renewal_of(alpha)["renewal"]
            make_due(alpha)
            if thief_is_first:
                self.assertEqual(self.renew(ALPHA, copied), (200, ""))
                said = alpha.builder("tick")
                self.assertIn("so it was copied. The agent agent:alpha is revoked", said.stdout + said.stderr)
                self.assertIn("wheelyard-builder enrol", said.stdout + said.stderr)
            else:
                self.assert_ran(alpha.builder("tick"))
                self.assertEqual(self.access(token_of(alpha)), 200)
                self.assertEqual(self.renew(ALPHA, copied), (403, "agent.reused"))
            self.assertEqual(self.access(token_of(alpha)), 403)
            self.assertEqual(self.renew(ALPHA, OUT_OF_NOWHERE)[0], 403)
            self.assertNotIn("active", sum((states for name, states in listed(self.farm).items() if "alpha" in name), []))
            self.assertEqual(self.access(token_of(beta), BETA), 200)
            subprocess.run(["rm", "-r", alpha.folder], check=True)

    def test_the_prompt_hides_the_code_and_shows_input_again_however_it_ends(self):
        alpha = self.site(ALPHA)
        for typed, status in ((b"\x03", -signal.SIGINT), (b"no code\n", 1)):
            reader, terminal = pty.openpty()
            self.addCleanup(os.close, reader)
            self.addCleanup(os.close, terminal)

            def is_shown() -> bool:
                return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)

            def take_terminal() -> None:
                os.setsid()
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)

            process = subprocess.Popen(alpha.command("enrol"), env=alpha.environment, stdin=terminal, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       preexec_fn=take_terminal)
            deadline = time.monotonic() + PATIENCE_S
            while is_shown():
                self.assertLess(time.monotonic(), deadline, "the prompt does not come")
                time.sleep(0.01)
            os.write(reader, typed)
            self.assertEqual(process.wait(PATIENCE_S), status)
            self.assertTrue(is_shown())

    def test_an_agent_speaks_for_its_own_site_and_index(self):
        alpha = self.enrolled(ALPHA, SHARED)
        token = token_of(alpha)
        report = {"format": "wheelyard.site/1", "index": SHARED, "time": "2026-11-27T10:00:00Z", "cells": []}
        claim = {"format": "wheelyard.claim/2", "index": SHARED, "pythons": ["3.11"], "accelerators": [], "room": 1}
        self.assertEqual(ask(self.farm, "PUT", f"/api/v1/indexes/{SHARED}/sites/{ALPHA}", token, **report, site=ALPHA)[0], 200)
        self.assertEqual(ask(self.farm, "PUT", f"/api/v1/indexes/{SHARED}/sites/{BETA}", token, **report, site=BETA)[1]["code"], "site.scope")
        self.assertEqual(ask(self.farm, "PUT", f"/api/v1/indexes/{BETA}/sites/{ALPHA}", token, **report | {"index": BETA}, site=ALPHA)[1]["code"], "site.scope")
        self.assertEqual(ask(self.farm, "POST", "/api/v1/tasks/claim", token, **claim, agent="alpha.login1")[0], 200)
        for other in ("beta.login1", "alpha", "alpha2.login1", "alpha.gpu.login1"):
            self.assertEqual(ask(self.farm, "POST", "/api/v1/tasks/claim", token, **claim, agent=other)[1]["code"], "task.other_site")
        self.assertEqual(RawUpload(self.farm, token, Wheel("solver", "1.0").write(self.folder), BETA).send()[0], 403)

    def test_what_a_site_took_is_out_of_reach_of_others_and_its_token_uploads_only_that(self):
        def token(site: str, *indexes: str) -> str:
            agent = self.site(site)
            self.assert_ran(enrol(agent, make_code(self.farm, site, *indexes, actions=("build",))), f"agent:{site}")
            return token_of(agent)
        alpha, beta, third = token(ALPHA, ALPHA, SHARED), token(BETA, BETA, SHARED), token(SHARED, SHARED)
        asker = self.farm.create_token(SHARED, name="asker", actions=("task",))

        def post(token: str, path: str, **members) -> tuple[int, str]:
            status, answer = ask(self.farm, "POST", f"/api/v1/tasks{path}", token, **members)
            return status, answer.get("code", "")

        def taken(site: str, token: str, *known: str, room: int = 1) -> list[str]:
            status, answer = ask(self.farm, "POST", "/api/v1/tasks/claim", token, format="wheelyard.claim/2", index=SHARED, pythons=["3.11"],
                                 accelerators=[], agent=f"{site}.login1", tasks=known, room=room)
            self.assertEqual(status, 200, answer)
            return [task["id"] for task in answer["tasks"]]

        def upload(token: str, wheel: Wheel, index: str = SHARED, **task: str) -> tuple[int, str]:
            status, problem = RawUpload(self.farm, token, wheel.write(self.folder), index, **task).send()
            return status, problem.get("code", "") if status != 200 else ""
        first, second = (ask(self.farm, "POST", "/api/v1/tasks", asker, format="wheelyard.task/1", index=SHARED, package=package, version="1.0",
                             python="3.11")[1]["id"] for package in ("solver", "mesher"))
        of_first = {"wheelyard_task": first}
        self.assertEqual(upload(alpha, Wheel("solver"), **of_first), (409, "task.lost"))
        self.assertEqual(taken(ALPHA, alpha), [first])
        self.assertEqual(taken(BETA, beta), [second])
        self.assertEqual(taken(SHARED, third, first, second), [])
        forged = {"format": "wheelyard.outcome/1", "attempt": "w1", "cell": "solver-1.0-cp311", "result": "failed"}
        invented = forged | {"result": "done", "wheel": {"filename": "solver-1.0-py3-none-any.whl", "sha256": "0" * 64, "size_bytes": 1}}
        for site, token in ((SHARED, third), (BETA, beta)):
            self.assertEqual(post(token, f"/{first}/outcome", **forged, site=site), (409, "task.lost"))
            self.assertEqual(post(token, f"/{first}/outcome", **forged, site=ALPHA), (403, "task.other_site"))
            self.assertEqual(upload(token, Wheel("solver"), **of_first), (409, "task.lost"))
        self.assertEqual(post(alpha, f"/{first}/outcome", **invented, site=ALPHA), (409, "task.no_such_wheel"))
        # No other project, version or index, and one wheel.
        for wheel, index, answer in ((Wheel("other"), SHARED, (403, "auth.version_refused")), (Wheel("solver", "2.0"), SHARED, (403, "auth.version_refused")),
                                     (Wheel("solver"), ALPHA, (409, "task.lost"))):
            self.assertEqual(upload(alpha, wheel, index, **of_first), answer)
        self.assertEqual(upload(alpha, Wheel("solver")), (403, "auth.project_refused"))
        self.assertEqual(upload(alpha, Wheel("solver"), **of_first), (200, ""))
        self.assertEqual(upload(alpha, Wheel("solver", tags=("py2.py3-none-any",)), **of_first), (409, "task.other_wheel"))
        # The two go on.
        self.assertEqual(taken(ALPHA, alpha, first, room=0), [first])
        self.assertEqual(post(alpha, f"/{first}/outcome", **forged, site=ALPHA), (200, ""))
        self.assertEqual(upload(alpha, Wheel("solver"), **of_first), (409, "task.lost"))
        self.assertEqual(taken(BETA, beta, second, room=0), [second])

    def test_revoked_by_name_an_agent_ends_at_once_and_a_new_code_enrols_it_again(self):
        alpha, beta = self.enrolled(ALPHA), self.enrolled(BETA)
        unused = make_code(self.farm, ALPHA, ALPHA)
        self.assert_ran(self.farm.run("wheelyard-registry", "agent", "revoke", ALPHA, "-c", self.farm.config), "agent:alpha")
        self.assertEqual(self.access(token_of(alpha)), 403)
        self.assertEqual(self.renew(ALPHA, unused), (403, "agent.ended"))
        make_due(alpha)
        said = alpha.builder("tick")
        self.assertIn("the agent was revoked", said.stdout + said.stderr)
        self.assertEqual(self.access(token_of(beta), BETA), 200)
        self.assert_ran(enrol(alpha, make_code(self.farm, ALPHA, ALPHA)))
        self.assertEqual(self.access(token_of(alpha)), 200)

    def test_an_operators_token_file_works_as_before(self):
        write_sdist(self.sources.folder, "solver", "1.0")
        site = self.site(ALPHA, solver="1.0")
        token = self.farm.create_token(ALPHA, name="bede-agent")
        (site.folder / "token").write_text(token + "\n")
        self.assert_ran(site.builder("run"))
        self.assertEqual(len(self.farm.files("solver", ALPHA)), 1)
        self.assertEqual(token_of(site), token)
        self.assert_ran(enrol(site, make_code(self.farm, ALPHA, ALPHA)), f"token revoke {token.rsplit('_', 1)[0]}")


class EnrolmentOnNodesTest(unittest.TestCase):
    def test_an_agent_enrols_and_renews_through_any_node_and_is_revoked_on_all(self):
        nodes = Nodes("a", "b", lease_s=30, rules={ALPHA: ""})
        self.addCleanup(nodes.remove)
        a, b = nodes["a"], nodes["b"]
        a.start()
        a.create_token()
        b.start()
        a.wait(lambda: a.is_writer() or b.is_writer(), PATIENCE_S, "a writer")
        b.wait(lambda: all(node.metric("node_knows_writer") == 1 for node in (a, b)), PATIENCE_S, "known")
        reader = b if a.is_writer() else a  # does not write: it passes the request on
        members = {"format": "wheelyard.agent_renewal/1", "site": ALPHA}
        status, enrolled = ask(reader, "POST", "/api/v1/agents/renew", credential=make_code(a, ALPHA, ALPHA), next=OUT_OF_NOWHERE, **members)
        self.assertEqual(status, 200, enrolled)
        following = OUT_OF_NOWHERE.replace("1", "2")
        renewals = [ask(node, "POST", "/api/v1/agents/renew", credential=OUT_OF_NOWHERE, next=following.replace("000000000000", "000000000001"), **members)
                    for node in (reader, a, b)]
        self.assertEqual([status for status, _ in renewals], [200, 200, 200])
        for node in (a, b):
            for _, answer in [(200, enrolled), *renewals]:
                self.assertEqual(ask(node, "GET", f"/api/v1/indexes/{ALPHA}/access", answer["token"])[0], 200)
        done = a.run("wheelyard-registry", "agent", "revoke", ALPHA, "-c", a.config)
        self.assertEqual(done.returncode, 0, done.stderr)
        for node in (a, b):
            for _, answer in [(200, enrolled), *renewals]:
                self.assertEqual(ask(node, "GET", f"/api/v1/indexes/{ALPHA}/access", answer["token"])[0], 403)


if __name__ == "__main__":
    main()
