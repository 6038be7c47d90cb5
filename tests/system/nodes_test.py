"""Several nodes over one PostgreSQL: what one has answered, every other shows; one that cannot know answers nothing; writes
reach the node that writes through any of them.

With WHEELYARD_FULL=1 more uploads."""

import datetime
import hashlib
import http.client
import json
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from support.case import main
from support.clients import PIPS, RawUpload, pip_install, twine_upload, uv_publish
from support.farm import INDEX, ROOT
from support.full import IS_FULL
from support.middle import Middle
from support.node_farm import Node, Nodes
from support.postgres import url_of
from support.upstream import Upstream
from support.web_servers import WebServer, lines_of, why_none
from support.wheels import Wheel, incompressible

LEASE_S = 4
OUTSIDE = "outside"
HIDDEN = "hidden"
PATIENCE_S = 240
READ_ON_S = 20
QUICK_QUESTIONS = 100_000 if IS_FULL else 1_000


def with_upstream(upstream: Upstream) -> str:
    return f'[[index.upstream]]\nname = "public"\nurl = "{upstream.url}"\nprivate_hosts = ["127.0.0.1"]'


class Asker:
    """A fast client that keeps its connection."""

    def __init__(self, node: Node):
        self.connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=PATIENCE_S)

    def __enter__(self) -> "Asker":
        return self

    def __exit__(self, *_) -> None:
        self.connection.close()

    def ask(self, project: str) -> None:
        self.connection.request("GET", f"/{INDEX}/simple/{project}/", headers={"Accept": "application/vnd.pypi.simple.v1+json"})

    def files(self, project: str) -> tuple[int, set[str]]:
        self.ask(project)
        return self.answer()

    def answer(self) -> tuple[int, set[str]]:
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            return answer.status, set()
        return 200, {entry["filename"] for entry in json.loads(body)["files"]}


class NodesCase(unittest.TestCase):
    lease_s = LEASE_S
    has_standby = False
    more = ""
    nodes: Nodes
    token: str

    @classmethod
    def setUpClass(cls):
        cls.nodes = Nodes("a", "b", lease_s=cls.lease_s, has_standby=cls.has_standby, rules=cls.rules(), more=cls.more)
        cls.addClassCleanup(cls.nodes.remove)
        cls.a, cls.b = cls.nodes["a"], cls.nodes["b"]
        cls.a.start()
        cls.token = cls.a.create_token(actions=("upload", "token", "yank"))
        cls.administrator = cls.a.create_token("*", name="administrator", actions=("index",))
        cls.b.start()
        cls.a.wait(cls.a.is_writer, PATIENCE_S, "writer")

    @classmethod
    def rules(cls) -> dict[str, str]:
        return {INDEX: ""}

    def wheel(self, project: str, version: str = "1.0"):
        folder = self.nodes.folder / "wheels"
        folder.mkdir(exist_ok=True)
        return Wheel(project, version).write(folder)

    def upload(self, node: Node, wheel) -> tuple[int, dict]:
        return RawUpload(node, self.token, wheel).send()

    def change(self, node: Node, path: str, token: str, **members) -> tuple[int, dict]:
        request = urllib.request.Request(node.url + path, json.dumps(members).encode(), method="POST", headers={
            "Authorization": f"Bearer {token}", "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refusal:
            return refusal.code, json.load(refusal)

    def back_to_two(self):
        for node in (self.a, self.b):
            if node.process is None:
                node.start()
            node.wait(node.may_answer, PATIENCE_S, "serving")
        self.a.wait(lambda: self.a.is_writer() or self.b.is_writer(), PATIENCE_S, "a writer")
        self.b.wait(lambda: all(node.metric("node_knows_writer") == 1 for node in (self.a, self.b)), PATIENCE_S, "known")


class Requests(NodesCase):
    lease_s = 15  # no test waits for its end but one, and none here is of a node that renews it too late

    @classmethod
    def rules(cls) -> dict[str, str]:
        cls.upstream = cls.enterClassContext(Upstream())
        return {INDEX: 'ask = "anyone"', OUTSIDE: with_upstream(cls.upstream), HIDDEN: 'read = "token"\n' + with_upstream(cls.upstream)}

    def test_an_upstream_is_asked_by_one_node_for_all(self):
        self.upstream.offer(self.wheel("from-outside"))
        for node in (self.b, self.a, self.b):
            target = self.nodes.folder / "from-outside"
            done = pip_install(node, "pip-new", target, "from-outside", index=OUTSIDE)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            shutil.rmtree(target)
        self.assertEqual([name for name, _ in self.upstream.ranges], [self.wheel("from-outside").name])
        self.assertEqual(len([path for path in self.upstream.requests if "/simple/from-outside/" in path]), 1)
        # What the one that asks says of attestations, the other one answers.
        wheel = self.wheel("attested-outside")
        self.upstream.offer(wheel, more={"provenance": self.upstream.url + "provenance"})
        self.upstream.pages["provenance"] = (200, {}, b"{}")
        for node in (self.b, self.a):
            status, _, body = node.get(f"/{OUTSIDE}/integrity/attested-outside/1.0/{wheel.name}/provenance")
            self.assertEqual((status, json.loads(body)["code"]), (404, "upstream.attestations"), body)
        self.assertEqual(self.upstream.count("/simple/provenance"), 1)

    def test_what_one_node_answered_the_other_shows(self):
        """Fast uploads through A, each asked for at B right after: no answer is older."""
        asker = Asker(self.b)
        self.addCleanup(asker.connection.close)
        stale, refused, uploads, asked = [], 0, 0, 0
        began = time.monotonic()
        while asked < QUICK_QUESTIONS and (uploads <= 20 or time.monotonic() - began < (1500 if IS_FULL else 20)):
            wheel = self.wheel("quick", f"1.{uploads}")
            status, problem = self.upload(self.a if uploads % 2 else self.b, wheel)
            if status == 503:  # the same of the writer's role
                RawUpload(self.a, self.token, wheel).send_until_acknowledged()
            else:
                self.assertEqual(status, 200, problem)
            uploads += 1
            for _ in range(10):  # the first one is the race
                asked += 1
                status, files = asker.files("quick")
                refused += status == 503  # a slow machine renewed its lease too late
                if status != 503 and wheel.name not in files:
                    stale.append((wheel.name, status))
        print(f"nodes: {uploads} uploads, {asked} questions, {len(stale)} stale, {refused} refused, "
              f"{(time.monotonic() - began) / uploads * 1000:.0f} ms each", file=sys.stderr)
        self.assertEqual(stale, [])
        self.assertLess(refused, asked / 2)

    def test_clients_use_either_node(self):
        wheel = self.wheel("fromtwine")
        done = twine_upload(self.b, self.token, wheel)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = uv_publish(self.b, self.token, self.wheel("fromuv"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for node in (self.a, self.b):
            for pip in PIPS:
                with self.subTest(node=node.name, pip=pip):
                    target = self.nodes.folder / f"{node.name}-{pip}"
                    done = pip_install(node, pip, target, "fromtwine", "fromuv")
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_refusal_of_the_writer_arrives_as_it_is(self):
        wheel = self.wheel("refused")
        reader = self.a.create_token(name="reader", actions=("read",))
        for token, status, code in ((reader, 403, "auth.index_refused"), (None, 401, "auth.missing"), ("wy_000000000000_" + "0" * 64, 403, "auth.token_refused")):
            found, problem = RawUpload(self.b, token, wheel).send()
            self.assertEqual((found, problem["code"]), (status, code))

    def test_real_clients_see_an_early_refusal_of_the_writer(self):
        """Of a wheel that no socket holds: the node does not wait for its end, and sends nobody a broken pipe."""
        wheel = Wheel("early", extra_members={"early/data": incompressible(48 << 20, 1)}).write(self.nodes.folder)
        other = self.a.create_token(name="other-projects", projects=("others",))
        writer, node = (self.a, self.b) if self.a.is_writer() else (self.b, self.a)
        for upload in (twine_upload, uv_publish):
            done = upload(node, other, wheel)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("403", done.stdout + done.stderr)
        raw = RawUpload(node, other, wheel)
        before = writer.metric("received_bytes_total")
        done = subprocess.run(["curl", "-sS", "-w", "\n%{http_code}", "-H", f"Authorization: {raw.headers['Authorization']}",
                               "-H", f"Content-Type: {raw.headers['Content-Type']}", "--data-binary", "@-", node.url + raw.path],
                              input=raw.body, capture_output=True, timeout=PATIENCE_S)
        self.assertEqual((done.returncode, done.stdout.rpartition(b"\n")[2]), (0, b"403"), done.stderr)
        self.assertIn(b"auth.", done.stdout)
        self.assertLess(writer.metric("received_bytes_total") - before, 16 << 20)

    def test_strangers_behind_a_node_are_counted_apart(self):
        node = self.b if self.a.is_writer() else self.a

        def ask(address: str, number: int, **headers: str) -> int:
            connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=PATIENCE_S, source_address=(address, 0))
            connection.request("POST", f"/api/v1/indexes/{INDEX}/requests", json.dumps(
                {"format": "wheelyard.task/1", "index": INDEX, "package": f"wanted-{number}", "version": "1.0", "python": "3.11"}),
                {"Content-Type": "application/json", **headers})
            status = connection.getresponse().status
            connection.close()
            return status

        answers = [ask("127.0.0.2", number) for number in range(6)]
        self.assertEqual(answers, [200] * 5 + [429])
        # Who is no node is not believed to be one.
        self.assertEqual(ask("127.0.0.2", 6, **{"X-Wheelyard-Client": "192.0.2.7", "X-Forwarded-For": "192.0.2.7"}), 429)
        self.assertEqual(ask("127.0.0.3", 7), 200)

    def test_a_resumable_upload_is_passed_on_in_parts(self):
        raw = RawUpload(self.b, self.token, self.wheel("parts"))
        status, headers, body = self.b.get(f"/{INDEX}/uploads/", method="POST",
                                           headers={**raw.headers, "Upload-Length": str(len(raw.body))})
        self.assertEqual(status, 201, body)
        place = urllib.parse.urljoin(f"/{INDEX}/uploads/", headers["Location"])
        half = len(raw.body) // 2
        for begin, end, wanted in ((0, half, 204), (half, len(raw.body), 200)):
            connection = http.client.HTTPConnection("127.0.0.1", self.b.port, timeout=PATIENCE_S)
            connection.request("PATCH", place, raw.body[begin:end], {**raw.headers, "Upload-Offset": str(begin)})
            answer = connection.getresponse()
            self.assertEqual(answer.status, wanted, answer.read())
            connection.close()
        self.assertEqual(len(self.a.files("parts")), 1)

    def test_a_cookie_of_one_node_reads_at_the_other(self):
        self.upstream.offer(self.wheel("of-cookie"))
        token = self.a.create_token(HIDDEN, name="reader", actions=("read",))
        for of, at in ((self.a, self.b), (self.b, self.a)):
            cookie = of.get("/api/v1/private-indexes", headers={"Authorization": f"Bearer {token}"})[1]["Set-Cookie"].split(";")[0]
            for path in ("simple/of-cookie/", "pypi/of-cookie/json"):  # the JSON form comes from the node that writes
                self.assertEqual(at.get(f"/{HIDDEN}/{path}", headers={"Cookie": cookie})[0], 200, path)
                self.assertEqual(at.get(f"/{HIDDEN}/{path}")[0], 401, path)
            self.assertEqual(at.get(f"/{OUTSIDE}/pypi/of-cookie/json")[0], 200)  # anyone's

    def test_a_token_that_one_node_revoked_the_other_refuses(self):
        wheel = self.wheel("revoked")
        for number in range(20):
            token = self.a.create_token(name=f"short-{number}")
            self.assertEqual(RawUpload(self.b, token, wheel).send()[0], 200)
            status, answer = self.change(self.a, f"/api/v1/tokens/{token[:15]}/revoke", self.token, format="wheelyard.change/1", reason="a test")
            self.assertEqual(status, 200, answer)
            found, problem = RawUpload(self.b, token, wheel).send()
            self.assertEqual((found, problem.get("code")), (403, "auth.token_refused"))

    def test_a_command_on_one_nodes_machine_ends_when_the_other_shows_the_change(self):
        wheel = self.wheel("commanded")
        RawUpload(self.a, self.token, wheel).send_until_acknowledged()
        self.b.process.send_signal(signal.SIGSTOP)
        try:
            done = self.a.run("wheelyard-registry", "yank", INDEX, wheel.name, "--reason", "wrong", "--config", self.a.config)
            late = self.nodes.server.sql("SELECT count(*) FROM node WHERE lease_until > clock_timestamp() AND "
                                         "visible_serial < (SELECT max(serial) FROM event)", "wheels")
        finally:
            self.b.process.send_signal(signal.SIGCONT)
        self.assertEqual((done.returncode, late), (0, "0"), done.stderr)
        self.b.wait(self.b.may_answer, PATIENCE_S, "serving")
        self.assertEqual(self.b.files("commanded")[wheel.name]["yanked"], "wrong")

    def test_what_a_site_reports_to_one_node_every_node_shows(self):
        def report(node: Node, site: str) -> None:
            document = {"format": "wheelyard.site/1", "site": site, "index": INDEX, "cells": [],
                        "time": time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())}
            request = urllib.request.Request(f"{node.url}/api/v1/indexes/{INDEX}/sites/{site}", json.dumps(document).encode(),
                                             method="PUT", headers={"Authorization": f"Bearer {self.token}"})
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                self.assertEqual(answer.status, 200)

        def sites(node: Node) -> set[str]:
            status, _, body = node.get(f"/{INDEX}/status.json")
            return {site["site"] for site in json.loads(body)["sites"]} if status == 200 else set()

        report(self.a, "bede")
        report(self.b, "archer")
        for node in (self.a, self.b):
            node.wait(lambda: sites(node) == {"bede", "archer"}, PATIENCE_S, "showing both sites")
            node.wait(lambda: b"archer" in node.get(f"/{INDEX}/builds/")[2], PATIENCE_S, "showing them on the page of builds")
            self.assertIn(f'wheelyard_site_late{{index="{INDEX}",site="archer"}} 0', node.get("/metrics")[2].decode())
            _, _, body = node.get("/api/v1/sites", headers={"Authorization": f"Bearer {self.token}"})
            self.assertEqual({site["site"] for site in json.loads(body)["sites"]}, {"bede", "archer"})

    def test_each_node_names_all_nodes_and_which_one_writes(self):
        for node in (self.a, self.b):
            status, _, body = node.get("/api/v1/nodes", headers={"Authorization": f"Bearer {self.token}"})
            self.assertEqual(status, 200, body)
            seen = json.loads(body)["nodes"]
            self.assertEqual([one["name"] for one in seen], ["a", "b"])
            self.assertEqual(sum(one["is_writer"] for one in seen), 1)
            self.assertTrue(all(0 < one["lease_ms"] <= self.lease_s * 1000 for one in seen), seen)

    def test_two_servers_do_not_share_a_folder(self):
        done = self.a.run("wheelyard-registry", "serve", "--config", self.a.config)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("Another server serves this store", done.stderr)


class Failures(NodesCase):
    def setUp(self):
        self.back_to_two()

    def writer_and_other(self) -> tuple[Node, Node]:
        return (self.a, self.b) if self.a.is_writer() else (self.b, self.a)

    def test_a_killed_node_costs_the_uploads_one_lease_once(self):
        writer, other = self.writer_and_other()
        self.assertEqual(self.upload(writer, self.wheel("before"))[0], 200)
        other.kill()
        wheel = self.wheel("after")
        RawUpload(writer, self.token, wheel).send_until_acknowledged()
        self.assertIn(wheel.name, writer.files("after"))
        other.start()
        self.assertIn(wheel.name, other.files("after"))

    def test_nodes_go_on_while_a_newer_program_adds_a_column_to_every_table(self):
        """As the next version does while nodes are upgraded one after the other. The newer program is only what it does to the schema."""
        sql = self.nodes.server.sql
        tables = sql("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND "
                     "table_name <> 'schema_version'", "wheels").split()
        self.assertIn("file", tables)

        def alter(change: str, step: str) -> None:
            sql("BEGIN; " + "; ".join(f"ALTER TABLE {table} {change}" for table in tables) +
                f"; UPDATE schema_version SET version = version {step}; COMMIT", "wheels")

        alter("ADD COLUMN later TEXT NOT NULL DEFAULT 'x'", "+ 1")
        self.addCleanup(alter, "DROP COLUMN later", "- 1")
        writer, other = self.writer_and_other()
        for round_number in range(2):
            for node in (writer, other):
                wheel = self.wheel("upgraded", f"{round_number}.{node.name == 'a':d}")
                RawUpload(node, self.token, wheel).send_until_acknowledged()
                self.assertIn(wheel.name, self.a.files("upgraded"))
                self.assertIn(wheel.name, self.b.files("upgraded"))
            done = other.run("wheelyard-registry", "yank", INDEX, wheel.name, "--reason", "wrong", "--config", other.config)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.a.create_token(name=f"upgraded-{round_number}")
            added = other.run("wheelyard-registry", "task", "add", INDEX, "torch", f"2.{round_number}", "--python", "3.11", "--config", other.config)
            self.assertEqual(added.returncode, 0, added.stderr)
            for node in (other, writer):  # older programs start again beside it
                node.stop()
                node.start()
            self.back_to_two()
        for node in (self.a, self.b):
            node.check_tree()
        # One that it cannot go on with.
        sql("UPDATE schema_version SET oldest_program = version WHERE part = 'catalog'", "wheels")
        self.addCleanup(sql, "UPDATE schema_version SET oldest_program = 1 WHERE part = 'catalog'", "wheels")
        self.b.stop()
        done = self.b.run("wheelyard-registry", "serve", "--config", self.b.config)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("was written by a newer program", done.stderr)

    def test_a_killed_writer_is_followed_by_the_other_node(self):
        writer, other = self.writer_and_other()
        writer.kill()
        other.wait(other.is_writer, PATIENCE_S, "writer")
        wheel = self.wheel("taken-over")
        RawUpload(other, self.token, wheel).send_until_acknowledged()
        self.assertIn(wheel.name, other.files("taken-over"))

    def test_a_node_that_was_stopped_beyond_its_lease_answers_no_old_page(self):
        writer, other = self.writer_and_other()
        self.assertEqual(self.upload(writer, self.wheel("stopped", "1.0"))[0], 200)
        # A request that waits in the socket while the node is stopped, and others right when it continues.
        other.process.send_signal(signal.SIGSTOP)
        answers = []
        sent = threading.Semaphore(0)

        def ask():
            for _ in range(50):
                try:
                    with Asker(other) as asker:
                        asker.ask("stopped")
                        sent.release()
                        answers.append(asker.answer())
                except OSError:
                    answers.append((0, set()))

        threads = [threading.Thread(target=ask) for _ in range(4)]
        wheel = self.wheel("stopped", "2.0")
        status, problem = self.upload(writer, wheel)  # waits for one lease
        self.assertEqual(status, 200, problem)
        for thread in threads:
            thread.start()
        for _ in threads:
            self.assertTrue(sent.acquire(timeout=PATIENCE_S))
        other.process.send_signal(signal.SIGCONT)
        for thread in threads:
            thread.join()
        old = [files for status, files in answers if status == 200 and wheel.name not in files]
        self.assertEqual(old, [])
        self.assertTrue(any(status == 503 for status, _ in answers), "the node answered at once, so nothing was tested")
        other.wait(other.may_answer, PATIENCE_S, "serving")
        self.assertIn(wheel.name, other.files("stopped"))

    def test_a_stopped_writer_loses_its_role_and_commits_nothing_unseen(self):
        writer, other = self.writer_and_other()
        writer.process.send_signal(signal.SIGSTOP)
        other.wait(other.is_writer, PATIENCE_S, "writer")
        wheel = self.wheel("second-writer")
        RawUpload(other, self.token, wheel).send_until_acknowledged()
        writer.process.send_signal(signal.SIGCONT)
        writer.wait(writer.may_answer, PATIENCE_S, "serving")
        self.assertFalse(writer.is_writer())
        self.assertIn(wheel.name, writer.files("second-writer"))

    def test_a_database_that_is_gone_ends_the_answers_after_the_lease_and_nothing_acknowledged_is_lost(self):
        acknowledged = []
        for number in range(5):
            wheel = self.wheel("crash", f"1.{number}")
            if self.upload(self.a, wheel)[0] == 200:
                acknowledged.append(wheel.name)
        self.nodes.server.stop()
        found, problem = self.upload(self.b, self.wheel("crash", "2.0"))
        self.assertEqual(found, 503, problem)
        for node in (self.a, self.b):
            node.wait(lambda: not node.may_answer(), PATIENCE_S, "refusing")
            status, headers, body = node.get(f"/{INDEX}/simple/crash/")
            self.assertEqual((status, json.loads(body)["code"]), (503, "node.no_lease"))
            self.assertTrue(headers["Retry-After"])
            self.assertEqual(node.get("/readyz")[0], 503)
            self.assertEqual(node.get("/healthz")[0], 200)
        self.nodes.server.start()
        self.back_to_two()
        for node in (self.a, self.b):
            self.assertLessEqual(set(acknowledged), set(node.files("crash")))
        RawUpload(self.b, self.token, self.wheel("crash", "2.0")).send_until_acknowledged()

    def test_through_a_web_server_pages_and_uploads_go_on_when_a_node_dies(self):
        for kind in ("haproxy", "nginx"):
            with self.subTest(kind):
                missing = why_none(kind)
                if missing:
                    self.skipTest(missing)
                self.back_to_two()
                self._check_front(kind)

    def _check_front(self, kind: str):
        project = f"by-{kind}"
        lines = lines_of(kind, ROOT / "docs/how-to/several-nodes.md")
        self.assertIn("X-Forwarded-For", lines)  # or all strangers are one
        for address, node in (("10.0.0.11:8080", self.a), ("10.0.0.12:8080", self.b)):
            self.assertIn(address, lines)
            lines = lines.replace(address, f"127.0.0.1:{node.port}")
        with WebServer(kind, self.nodes.folder / kind, 0, "/", lines) as front:
            self.a.wait(lambda: self._files_through(front, project)[0] in (200, 404), PATIENCE_S, f"seen by {kind}")
            wheel = self.wheel(project, "1.0")
            RawUpload(front, self.token, wheel).send_until_acknowledged()
            # One that may not answer: its 503 is never the client's answer.
            self.b.process.send_signal(signal.SIGSTOP)
            time.sleep(LEASE_S + 1)
            self.b.process.send_signal(signal.SIGCONT)
            answers = [self._files_through(front, project) for _ in range(100)]
            self.assertEqual({status for status, _ in answers}, {200})
            self.b.kill()
            for _ in range(200):
                self.assertEqual(self._files_through(front, project), (200, {wheel.name}))
            newer = self.wheel(project, "2.0")
            RawUpload(front, self.token, newer).send_until_acknowledged()
            for _ in range(50):
                self.assertIn(newer.name, self._files_through(front, project)[1])

    def _files_through(self, front: WebServer, project: str) -> tuple[int, set[str]]:
        with Asker(front) as asker:
            return asker.files(project)

    def test_an_index_that_one_node_creates_the_other_has(self):
        with open(self.b.config, "a") as more:
            more.write('\n[[index]]\nname = "later"\n')
        done = self.b.run("wheelyard-registry", "apply", "--config", self.b.config)
        self.assertEqual(done.returncode, 0, done.stderr)
        for node in (self.a, self.b):
            self.assertEqual(node.get("/later/simple/")[0], 200)
            node.wait(lambda: b"in [[index]]" in node.get("/readyz")[2], PATIENCE_S, "saying in what the files differ")
            self.assertEqual((node.get("/readyz")[0], node.metric("node_file_differs")), (200, 1))
        with open(self.a.config, "a") as more:
            more.write('\n[[index]]\nname = "later"\n')
        self.a.process.send_signal(signal.SIGHUP)
        for node in (self.a, self.b):
            node.wait(lambda: b"differs" not in node.get("/readyz")[2], PATIENCE_S, "alike")

    def test_a_clock_that_differs_from_the_databases_is_told_once_until_it_agrees(self):
        """Here it is the database's that is wrong."""
        def set_clock(sql: str) -> None:
            self.nodes.server.sql(sql, "wheels")
            self.nodes.server.sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'farm'")

        def agrees(node: Node) -> bool:
            return abs(node.metric("node_clock_ahead_seconds")) < 30 and node.get("/readyz")[0] == 200

        set_clock("CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql AS "
                  "$$SELECT pg_catalog.clock_timestamp() - interval '90 minutes'$$; ALTER ROLE farm SET search_path = public, pg_catalog")
        right = "ALTER ROLE farm RESET search_path; DROP FUNCTION IF EXISTS public.clock_timestamp()"
        self.addCleanup(set_clock, right)
        for node in (self.a, self.b):
            node.wait(lambda: b"ahead of the database's" in node.get("/readyz")[2], PATIENCE_S, "saying that its clock differs")
            self.assertEqual((node.get("/readyz")[0], round(node.metric("node_clock_ahead_seconds") / 3600, 1)), (503, 1.5))
        RawUpload(self.b, self.token, self.wheel("clocks")).send_until_acknowledged()  # both renew their leases
        set_clock(right)
        for node in (self.a, self.b):
            node.wait(lambda: agrees(node), PATIENCE_S, "in agreement")
            log = node.log.read_text()
            self.assertEqual((log.count("node.clock_differs"), log.count("node.clock_agrees")), (1, 1))

    def test_a_clean_stop_costs_nobody_a_lease(self):
        writer, other = self.writer_and_other()
        other.stop()
        began = time.monotonic()
        self.assertEqual(self.upload(writer, self.wheel("clean"))[0], 200)
        self.assertEqual(self.nodes.server.sql("SELECT count(*) FROM node", "wheels"), "1")
        print(f"nodes: an upload after a clean stop took {time.monotonic() - began:.2f} s", file=sys.stderr)


class Reading(NodesCase):
    """What nodes answer while the database is away, for the time that they may read without it."""
    more = f"read_without_database_s = {READ_ON_S}\n"

    @classmethod
    def rules(cls) -> dict[str, str]:
        cls.upstream = cls.enterClassContext(Upstream())
        return {INDEX: "", "closed": 'read = "token"', OUTSIDE: with_upstream(cls.upstream)}

    def page(self, node: Node) -> tuple[int, str, dict]:
        status, headers, body = node.get(f"/{INDEX}/simple/kept/", headers={"Accept": "application/vnd.pypi.simple.v1+json"})
        return status, headers.get("X-Wheelyard-Reading-Only", ""), json.loads(body)

    def test_nodes_read_without_the_database_for_their_time_and_say_so(self):
        self.back_to_two()
        reader = {"Authorization": f"Bearer {self.a.create_token('closed', name='reader', actions=('read',))}"}
        wheel = self.wheel("kept")
        RawUpload(self.a, self.token, wheel).send_until_acknowledged()
        files = len(self.a.files("kept"))
        outside = self.wheel("fetched-before")
        for wheel_outside in (outside, self.wheel("not-fetched")):
            self.upstream.offer(wheel_outside)
        done = pip_install(self.a, "pip-new", self.nodes.folder / "fetched", "fetched-before", index=OUTSIDE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for node in (self.a, self.b):
            self.assertEqual(self.page(node)[:2], (200, ""))
            self.assertEqual(node.get("/closed/simple/", headers=reader)[0], 200)
        began = time.monotonic()
        self.nodes.server.stop()
        refused, ends = {node.name: 0 for node in (self.a, self.b)}, {}
        while time.monotonic() - began < LEASE_S + 2:  # without a gap
            for node in (self.a, self.b):
                refused[node.name] += self.page(node)[0] != 200
            time.sleep(0.05)  # as a client
        self.assertEqual(refused, {"a": 0, "b": 0})
        for node in (self.a, self.b):
            status, since_until, page = self.page(node)
            self.assertEqual(status, 200)
            since, ends[node.name] = (datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() for text in since_until.split(" until "))
            self.assertAlmostEqual(ends[node.name] - since, READ_ON_S)
            [file] = [each for each in page["files"] if each["filename"] == wheel.name]
            status, headers, body = node.get(urllib.parse.urljoin(f"/{INDEX}/simple/kept/", file["url"]))
            self.assertEqual((status, body, headers["X-Wheelyard-Reading-Only"]), (200, wheel.read_bytes(), since_until))
            # Of an upstream: what is kept here. Of the rest nobody knows now whether it is there.
            self.assertIn(outside.name, node.files("fetched-before", OUTSIDE))
            self.assertEqual(node.get(f"/{OUTSIDE}/simple/not-fetched/")[0], 503)
            # What HAProxy asks.
            self.assertEqual(node.get("/")[0], 200)
            status, _, body = node.get("/readyz")
            self.assertEqual(status, 503)
            self.assertIn(f"degraded: reading only since {since_until}: The database cannot be reached", body.decode())
            self.assertEqual(node.metric("node_reading_only"), 1)
            # What only the database knows stays closed.
            self.assertEqual(node.get("/closed/simple/", headers=reader)[0], 503)
            self.assertIn(node.get("/closed/simple/")[0], (401, 503))
            found, problem = self.upload(node, self.wheel("kept", "2.0"))
            self.assertEqual((found, problem["code"]), (503, "node.reads_only"))
        for node in (self.a, self.b):
            node.wait(lambda: not node.may_answer(), PATIENCE_S, "silent after its time")
            self.assertGreater(time.time(), ends[node.name] - 1)
        self.nodes.server.start()
        self.back_to_two()
        RawUpload(self.b, self.token, self.wheel("kept", "2.0")).send_until_acknowledged()
        for node in (self.a, self.b):
            status, since_until, page = self.page(node)
            self.assertEqual((status, since_until, len(page["files"])), (200, "", files + 1))

    def test_a_node_that_is_cut_off_alone_answers_nothing_old(self):
        self.back_to_two()
        writer, other = (self.a, self.b) if self.a.is_writer() else (self.b, self.a)
        other.stop()
        text = other.config.read_text()
        self.addCleanup(other.config.write_text, text)
        with Middle("127.0.0.1", self.nodes.server.port) as way:
            other.config.write_text(text.replace(f":{self.nodes.server.port}/", f":{way.port}/"))
            other.start()
            self.back_to_two()
            way.mode = "refuse"
            wheel = self.wheel("kept", "3.0")
            RawUpload(writer, self.token, wheel).send_until_acknowledged()
            for _ in range(100):
                status, since_until, page = self.page(other)
                self.assertEqual((status, page["code"]), (503, "node.no_lease"))
                time.sleep(0.02)  # as a client
            way.mode = "pass"
            self.back_to_two()
            self.assertIn(wheel.name, other.files("kept"))
            other.stop()


class Unequal(NodesCase):
    """Nodes of which one was set up otherwise, or sees less than the others."""

    @classmethod
    def rules(cls) -> dict[str, str]:
        return {INDEX: "", OUTSIDE: ""}

    def third(self, folder: str, name: str = "c", lease_s: int = LEASE_S, shares: bool = True) -> Node:
        node = Node(name, self.nodes.folder / folder, url_of(*self.nodes.servers), lease_s, rules=self.rules())
        node.data.mkdir()
        if shares:
            (node.data / "blobs").symlink_to(self.nodes.folder / "shared" / "blobs")
        return node

    def refused(self, node: Node) -> str:
        done = node.run("wheelyard-registry", "serve", "--config", node.config, timeout=PATIENCE_S)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_a_node_that_was_set_up_otherwise_does_not_start(self):
        self.back_to_two()
        stderr = self.refused(self.third("own-wheels", shares=False))
        self.assertIn("differs from node a in [stores] blobs", stderr)
        self.assertIn(str(self.nodes.folder / "own-wheels"), stderr)
        self.assertRegex(stderr, f"there [0-9a-f]+ {self.nodes.folder}/[ab]/data")
        stderr = self.refused(self.third("other-lease", lease_s=LEASE_S + 5))
        self.assertIn("differs from node a in [node] lease_s", stderr)
        self.assertIn(f"here {LEASE_S + 5}, there {LEASE_S}", stderr)
        self.assertIn("Another node runs under the name of this one", self.refused(self.third("second-a", name="a")))
        node = self.third("other-address")
        node.config.write_text(node.config.read_text().replace(f":{node.port}\"\nlease_s", f":{self.b.port}\"\nlease_s"))
        self.assertIn(f"Node b has the address of this one: `http://127.0.0.1:{self.b.port}`", self.refused(node))
        node = self.third("other-key")
        subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", node.folder / "key.pem"], check=True)
        (node.folder / "key.pem").chmod(0o600)
        with open(node.config, "a") as more:
            more.write('\n[attest]\nkey = "key.pem"\n')
        self.assertIn("differs from node a in the key of [attest]", self.refused(node))
        wheel = self.wheel("not-disturbed")
        RawUpload(self.b, self.token, wheel).send_until_acknowledged()
        for each in (self.a, self.b):
            self.assertIn(wheel.name, each.files("not-disturbed"))

    def test_a_node_is_told_in_which_tables_its_file_differs_from_anothers(self):
        self.back_to_two()
        self.b.stop()
        file = self.b.config.read_text()
        self.b.config.write_text(file.replace("[server]\n", "[server]\nidle_timeout_s = 76\nmax_uploads = 7\nio_threads = 2\n") + "\n[tasks]\nkept_days = 7\n")
        self.b.start()
        for node, other in ((self.a, "b"), (self.b, "a")):
            node.wait(lambda: f"its file differs from node {other} in [server], [tasks]".encode() in node.get("/readyz")[2], PATIENCE_S, "telling")
            self.assertIn("node.files_differ", node.log.read_text())
            self.assertEqual(node.get("/readyz")[0], 200)
        self.b.stop()
        self.b.config.write_text(file)
        self.b.start()
        self.a.wait(lambda: self.a.metric("node_file_differs") == 0, PATIENCE_S, "alike")

    def test_an_old_file_of_one_node_changes_no_index(self):
        self.back_to_two()
        writer, other = (self.a, self.b) if self.a.is_writer() else (self.b, self.a)
        other.stop()
        file = other.config.read_text()
        other.config.write_text(file.replace(f'[[index]]\nname = "{OUTSIDE}"', ""))
        self.assertNotIn(OUTSIDE, other.config.read_text())
        other.start()
        self.assertIn("indexes.decided_by_nodes", other.log.read_text())
        other.process.send_signal(signal.SIGHUP)
        other.wait(lambda: "The file has other indexes than the nodes have in common" in other.log.read_text(), PATIENCE_S, "refusing")
        for node in (self.a, self.b):
            self.assertEqual(node.get(f"/{OUTSIDE}/simple/")[0], 200)
        # On purpose it is an event, and every node follows.
        done = other.run("wheelyard-registry", "apply", "--config", other.config)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("removed", done.stdout)
        for node in (self.a, self.b):
            node.wait(lambda: node.get(f"/{OUTSIDE}/simple/")[0] == 404, PATIENCE_S, "following")
        audit = writer.run("wheelyard-registry", "audit", "--index", OUTSIDE, "--config", writer.config)
        self.assertIn("removed", audit.stdout, audit.stderr)
        other.config.write_text(file)
        done = other.run("wheelyard-registry", "apply", "--config", other.config)
        self.assertEqual(done.returncode, 0, done.stderr)
        for node in (self.a, self.b):
            node.wait(lambda: node.get(f"/{OUTSIDE}/simple/")[0] == 200, PATIENCE_S, "following")

    def test_a_node_whose_way_to_the_wheels_is_cut_leaves_until_it_is_back(self):
        self.back_to_two()
        for node, other in ((self.a, self.b), (self.b, self.a)):
            shared = (node.data / "blobs").readlink()
            (node.data / "blobs").unlink()
            (node.data / "blobs").mkdir()
            node.wait(lambda: not node.may_answer(), PATIENCE_S, "leaving")
            node.wait(lambda: b"Other nodes show files that this one cannot" in node.get("/readyz")[2], PATIENCE_S, "saying why")
            other.wait(other.is_writer, PATIENCE_S, "writer")
            wheel = self.wheel("cut-off", f"1.{node.name == 'a':d}")
            RawUpload(other, self.token, wheel).send_until_acknowledged()
            self.assertTrue(other.may_answer())
            (node.data / "blobs").rmdir()
            (node.data / "blobs").symlink_to(shared)
            node.wait(node.may_answer, PATIENCE_S, "back")
            self.assertIn(wheel.name, node.files("cut-off"))
            self.back_to_two()


class Failover(NodesCase):
    has_standby = True

    def test_a_failover_that_lost_events_is_noticed_and_the_pages_are_made_again(self):
        primary, standby = self.nodes.servers
        kept, lost = self.wheel("history", "1.0"), self.wheel("history", "2.0")
        RawUpload(self.a, self.token, kept).send_until_acknowledged()
        self.a.wait(lambda: primary.sql("SELECT count(*) FROM pg_stat_replication WHERE replay_lsn = pg_current_wal_lsn()") == "1",
                    PATIENCE_S, "replicated")
        standby.stop()  # it is asynchronous, and falls behind
        RawUpload(self.b, self.token, lost).send_until_acknowledged()
        self.assertIn(lost.name, self.a.files("history"))
        primary.stop()
        standby.start()
        standby.promote()
        for node in (self.a, self.b):
            node.wait(lambda: node.metric("node_lost_histories_total") >= 1, PATIENCE_S, "noticing")
        self.back_to_two()
        for node in (self.a, self.b):
            self.assertEqual(set(node.files("history")), {kept.name})
            sha256 = hashlib.sha256(lost.read_bytes()).hexdigest()
            node.wait((node.data / "lost-files.tsv").exists, PATIENCE_S, "listing what was lost")
            self.assertEqual((node.data / "lost-files.tsv").read_text(), f"{INDEX}\t{sha256}\t{lost.name}\n")
            node.wait(lambda: not (node.data / "public.lost").exists(), PATIENCE_S, "removing the pages of before")
        newer = self.wheel("history", "3.0")
        RawUpload(self.b, self.token, newer).send_until_acknowledged()
        for node in (self.a, self.b):
            self.assertEqual(set(node.files("history")), {kept.name, newer.name})
            node.check_tree()
        # The old primary comes back and takes writes; it is the first in the nodes' list. They go on to the new one.
        primary.start()
        standby.sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'farm'")
        self.back_to_two()
        beside = self.wheel("history", "4.0")
        RawUpload(self.b, self.token, beside).send_until_acknowledged()
        for node in (self.a, self.b):
            self.assertEqual(set(node.files("history")), {kept.name, newer.name, beside.name})
        self.assertEqual(primary.sql(f"SELECT count(*) FROM file WHERE filename = '{beside.name}'", "wheels"), "0")
        # Alone it is refused.
        standby.stop()
        for node in (self.a, self.b):
            node.wait(lambda: b"was replaced in a failover" in node.get("/readyz")[2], PATIENCE_S, "refusing")
            node.wait(lambda: not node.may_answer(), PATIENCE_S, "silent when its lease has ended")
        standby.start()
        self.back_to_two()
        for node in (self.a, self.b):
            self.assertEqual(set(node.files("history")), {kept.name, newer.name, beside.name})


if __name__ == "__main__":
    main()
