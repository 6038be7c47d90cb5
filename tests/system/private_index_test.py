"""A private index (read = "token"), asked by everybody who may not read it at every address that the server has: 0 bytes of it. The addresses
are those of the server's own OpenAPI document and the web UI, each with every method. And who may read, reads: pip and uv with netrc and
with credentials in the URL, until the token is revoked."""

import base64
import http.client
import json
import re
import stat
import subprocess
import time
from pathlib import Path

from support.case import FarmCase, OwnFarmsCase, main
from support.clients import CLIENTS, RawUpload, installed_value, pip_install
from support.farm import COMMAND_TIMEOUT_S, Farm
from support.full import full
from support.live_tree import bytes_of, paths_in
from support.upstream import Upstream
from support.wheels import Wheel, sha256_of

OPEN, HIDDEN, OTHER, ABSENT = "open", "hidden", "other", "absent"
PROJECT, OWN_PROJECT = "quokka-core", "numbat"  # of HIDDEN: the secret one, and the one that a token is limited to
SITE = "wallaby-site"
BUILD = "w1kq7x9aab3cde"
TITLE = "Marsupials of the institute"
INSIDE = "bandicoot-inside"  # in METADATA, so in everything that is made of it
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
READ_METHODS = ("GET", "HEAD")
JSON_PAGE = "application/vnd.pypi.simple.v1+json"
HEADERS = ({}, {"Accept": JSON_PAGE}, {"Accept": "text/html", "Accept-Encoding": "gzip"}, {"Accept": "application/json", "Range": "bytes=0-99"})
# Served, and not operations of the document: the web UI, and names that lead to an operation's address.
MORE_ADDRESSES = ("/{index}", "/{index}/simple", "/{index}/simple/{project}", "/{index}/simple/index.json", "/{index}/simple/index.html",
                  "/{index}/simple/{project}/index.json", "/{index}/simple/{project}/index.html", "/{index}/simple/{project}/" + "0" * 64 + "/x-1.0-variants.json", "/{index}/simple/catalogue-delta.txt",
                  "/{index}/project/", "/{index}/project", "/{index}/project/index.html", "/{index}/project/search.json", "/{index}/project/feed.xml",
                  "/{index}/project/{project}/", "/{index}/project/{project}/index.html", "/{index}/project/{project}/feed.xml",
                  "/{index}/builds/", "/{index}/builds/index.html", "/{index}/builds/build.html", "/{index}/builds/request.html", "/{index}/builds/feed.xml", "/{index}/find-links/", "/{index}/find-links/{filename}",
                  "/{index}/site/", "/{index}/site", "/{index}/site/index.html", "/{index}/site/{site}/", "/{index}/site/{site}", "/{index}/site/{site}/index.html", "/{index}/site/{site}/feed.xml",
                  "/private/{index}/simple/", "/{index}/../{index}/simple/", "/open/../{index}/simple/", "/{index}/%2e/simple/",
                  "//{index}/simple/", "/packages/{index}/simple/", "/.wheelyard/published.json")
# Without one, /_/oidc/ answers 404 to everybody.
PUBLISHER = f"""
[[publisher]]
name = "solver"
issuer = "http://127.0.0.1:9"
allow_http = true
audience = "wheels.example.org"
index = "{OPEN}"
projects = ["solver"]
claims = {{ repository = "octo-org/solver" }}
"""
CHANGE = {"format": "wheelyard.change/1", "reason": "x", "status": "archived", "to": OPEN, "keep": 1, "dry_run": True}
BODIES = {
    "createToken": {"format": "wheelyard.token_request/1", "name": "mine", "indexes": [HIDDEN], "actions": ["read"]},
    "addTask": {"format": "wheelyard.task/1", "index": HIDDEN, "package": PROJECT, "version": "1.0", "python": "3.11"},
    "askForWheel": {"format": "wheelyard.task/1", "index": HIDDEN, "package": PROJECT, "version": "1.0", "python": "3.11"},
    "claimTask": {"format": "wheelyard.claim/2", "index": HIDDEN, "agent": "a.login1", "pythons": ["3.11"], "accelerators": [], "room": 1},
    "endTask": {"format": "wheelyard.outcome/1", "attempt": "w1", "site": "a", "cell": "x", "result": "failed", "phases": []},
}

# What an operation cannot answer without.
QUERIES = {"closePrivateIndexes": "?indexes=lab", "findContaining": "?component=*", "judgeWithTorch": "?torch=torch-1.0-py3-none-any.whl"}


def basic(token: str, user: str = "__token__") -> str:
    return "Basic " + base64.b64encode(f"{user}:{token}".encode()).decode()


class PrivateIndexTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        cls.farm = cls.enterClassContext(Farm((OPEN, HIDDEN, OTHER), index_settings={
            HIDDEN: f'read = "token"\ntitle = "{TITLE}"\ninherits = ["{OPEN}"]', OTHER: 'read = "token"'},
                        settings='\n[attest]\nkey = "keys/provenance.key"\n' + PUBLISHER))
        cls.farm.run("wheelyard-registry", "attest", "init", cls.farm.folder / "keys").check_returncode()
        cls.farm.start()

    def setUp(self):
        super().setUp()
        create = self.farm.create_token
        self.writer = create(OPEN, HIDDEN, OTHER, name="writer", actions=("*",))
        self.reader = create(HIDDEN, name="reader", actions=("read",))
        self.revoked = create(HIDDEN, name="gone", actions=("read", "upload", "task"))
        self.revoke(self.revoked)
        self.wheel = Wheel(PROJECT, metadata_lines=(f"Keywords: {INSIDE}",)).write(self.folder)
        own = Wheel(OWN_PROJECT).write(self.folder)
        for wheel, index in ((self.wheel, HIDDEN), (own, HIDDEN), (Wheel("kiwi").write(self.folder), OPEN)):
            document = {"format": "wheelyard.provenance/1", "site": SITE,
                        "wheel": {"filename": wheel.name, "sha256": sha256_of(wheel), "size": wheel.stat().st_size}}
            status, problem = RawUpload(self.farm, self.writer, wheel, index, wheelyard_provenance=json.dumps(document)).send()
            self.assertEqual(status, 200, problem)
        self.sha256 = sha256_of(self.wheel)

    def test_a_misspelt_index_is_not_called_a_private_one(self):
        misspelt = f"{self.farm.url}/opne/"
        for words in (("avail_wheels", "--index-url", misspelt + "simple/"),
                      ("avail_wheels", "verify", self.wheel, "--index-url", misspelt + "simple/")):
            with self.subTest(words[:3]):
                done = self.farm.run(*words)
                self.assert_failed(done, "unknown, or private", f"but one is called `{OPEN}`", "if only tokens may read it", "~/.netrc")
                self.assertNotIn("Authorization", done.stderr)
        self.assert_failed(self.farm.run("avail_wheels", "--index-url", self.farm.url), f"the indexes there are {self.farm.simple_url(OPEN)}")

    def revoke(self, token: str) -> None:
        self.assert_ran(self.farm.run("wheelyard-registry", "token", "revoke", token[:15], "-c", self.farm.config))

    def ask(self, method: str, path: str, authorization: str | None, headers: dict[str, str] | None = None,
            body: bytes | None = None) -> tuple[int, str, bytes]:
        """(status, status line's phrase and header fields, body), with redirects not followed."""
        connection = http.client.HTTPConnection("127.0.0.1", self.farm.port, timeout=COMMAND_TIMEOUT_S)
        try:
            fields = dict(headers or {}) | ({"Authorization": authorization} if authorization is not None else {})
            connection.request(method, path, body, fields)
            answer = connection.getresponse()
            read = answer.read()
            return answer.status, f"{answer.reason}\n{answer.headers}", read
        finally:
            connection.close()

    def post(self, path: str, document: dict, method: str = "POST") -> dict:
        status, _, body = self.ask(method, path, basic(self.writer), body=json.dumps(document).encode())
        self.assertEqual(status, 200, body)
        return json.loads(body)

    def prepare(self) -> dict[str, str]:
        """A task, a report and an unfinished upload, so that their addresses have something to lose; the values of the {names}."""
        task = self.post("/api/v1/tasks", BODIES["addTask"] | {"version": "2.0"})["id"]
        self.post(f"/api/v1/indexes/{HIDDEN}/sites/{SITE}", self.report(), "PUT")
        status, fields, body = self.ask("POST", f"/{HIDDEN}/uploads/", basic(self.writer),
                                        {"Upload-Length": "1000", "Content-Type": "multipart/form-data; boundary=x"})
        self.assertEqual(status, 201, body)
        upload = re.search(r"(?m)^Location: (\S+)", fields)[1]  # from the requested URL
        return {"index": HIDDEN, "project": PROJECT, "filename": self.wheel.name, "prefix": self.sha256[:2], "sha256": self.sha256,
                "version": "1.0", "token": self.reader[:15], "site": SITE, "task": task, "upload": upload,
                "build": BUILD, "identity": "campus"}

    def report(self) -> dict:
        return {"format": "wheelyard.site/1", "site": SITE, "index": HIDDEN, "time": "2026-01-01T00:00:00.000000Z",
                "cells": [{"package": PROJECT, "version": "1.0", "python": "3.11", "accelerator": "cpu", "state": "have"}],
                "attempts": [{"id": BUILD, "package": PROJECT, "version": "1.0", "python": "3.11", "state": "running"}]}

    def document(self) -> dict:
        """As the server describes itself: a new route is in it, and a name in it that `prepare` has no value for fails the test."""
        status, _, body = self.ask("GET", "/api/v1/openapi.json", None)
        self.assertEqual(status, 200)
        return json.loads(body)

    def addresses(self, values: dict[str, str]) -> list[tuple[str, str | None]]:
        """(path, operation with a body)"""
        document = self.document()
        found: list[tuple[str, str | None]] = []
        for template, methods in document["paths"].items():
            operations = [one["operationId"] for one in methods.values() if one["operationId"] in BODIES or "requestBody" in one]
            found.append((template, operations[0] if operations else None))
            found += [(template + QUERIES[one["operationId"]], None) for one in methods.values() if one["operationId"] in QUERIES]
        found += [(template, None) for template in MORE_ADDRESSES]
        paths = [(template.format(**values), operation) for template, operation in found]
        name = values["filename"]
        paths += [(path.replace(name, name + suffix), operation) for path, operation in paths if f"/{values['sha256']}/{name}" in path
                  for suffix in (".metadata", ".prov", ".pep740")]
        paths += [(path.replace(PROJECT, "Quokka_Core"), operation) for path, operation in paths if f"/{PROJECT}" in path]
        return paths + [(f"/api/v1/tasks?index={HIDDEN}", None), ("/api/v1/audit?after=0", None), ("/api/v1/people", None), (f"/{HIDDEN}/simple/?format={JSON_PAGE}", None)]

    def body_of(self, operation: str | None) -> bytes | None:
        if operation is None:
            return None
        if operation == "upload":
            return RawUpload(self.farm, None, self.wheel, HIDDEN).body
        if operation == "reportSite":
            return json.dumps(self.report()).encode()
        return json.dumps(BODIES.get(operation, CHANGE)).encode()

    def credentials(self) -> dict[str, str | None]:
        create = self.farm.create_token
        of_other = create(OTHER, OPEN, name="of-other", actions=("*",))
        of_project = create(HIDDEN, name="of-project", actions=("*",), projects=(OWN_PROJECT,))
        writes = create(OPEN, name="writes", actions=("upload", "task", "build", "token"))
        uploads = create(HIDDEN, name="uploads", actions=("upload",))  # for all projects, but not to read them
        return {"none": None, "uploads only": basic(uploads), "nonsense": "Bearer nonsense", "broken": "Basic !!!", "digest": "Digest username=x",
                "unknown": basic("wy_" + "0" * 12 + "_" + "0" * 64), "wrong secret": basic(self.reader[:16] + "0" * 64),
                "revoked": basic(self.revoked), "revoked bearer": f"Bearer {self.revoked}", "other index": basic(of_other),
                "other index, bearer": f"Bearer {of_other}", "other project": basic(of_project), "writer of public": basic(writes)}

    def secrets(self, who: str) -> list[str]:
        # Of the index itself, these may know.
        more = [] if who in ("other project", "uploads only") else [TITLE, SITE, OWN_PROJECT]
        return [PROJECT, "quokka", INSIDE, self.sha256, *more]

    def assert_tells_nothing(self, who: str, request: str, answer: tuple[int, str, bytes]) -> None:
        said = f"{answer[0]} {answer[1]}\n".encode() + answer[2]
        for secret in self.secrets(who):
            if secret.lower() not in request.lower():  # an answer may repeat what was asked
                self.assertNotIn(secret.lower().encode(), said.lower(), f"{who}: {request}\n{said[:2000]!r}")
        if answer[0] in (200, 206, 304):
            for found in (self.wheel.read_bytes()[:64], b"Metadata-Version"):
                self.assertNotIn(found, said, f"{who}: {request}")

    def test_who_may_not_read_gets_nothing_of_it_at_any_address(self):
        values = self.prepare()
        addresses = self.addresses(values)
        asked = 0
        for who, authorization in self.credentials().items():
            for path, operation in addresses:
                for method in METHODS:
                    body = self.body_of(operation) if method in ("POST", "PUT", "PATCH") else None
                    for headers in HEADERS if method in READ_METHODS else HEADERS[:1]:
                        more = {"Content-Type": "multipart/form-data; boundary=x"} if operation == "upload" else {}
                        answer = self.ask(method, path, authorization, headers | more, body)
                        # Of a body, only names that its sender put there may come back.
                        self.assert_tells_nothing(who, f"{method} {path} {(body or b'')[:400]!r}", answer)
                        self.assertNotIn(answer[0], (500, 502), path)
                        asked += 1
                # A page that a reader had before the token was revoked is not confirmed either.
                for field in ({"If-None-Match": f'"{self.sha256}"'}, {"If-None-Match": "*"}):
                    self.assertNotEqual(self.ask("GET", path, authorization, field)[0], 304 if HIDDEN in path else 0, path)
        print(f"({len(addresses)} addresses, {asked} requests)", end=" ", flush=True)
        self.assert_unchanged()

    def assert_unchanged(self) -> None:
        """What the denied ones asked for did not happen."""
        status, _, body = self.ask("GET", f"/{HIDDEN}/simple/{PROJECT}/", basic(self.reader), {"Accept": JSON_PAGE})
        self.assertEqual(status, 200, body)
        page = json.loads(body)
        self.assertEqual([(file["filename"], file["yanked"]) for file in page["files"]], [(self.wheel.name, False)])
        self.assertEqual(page.get("project-status", {"status": "active"})["status"], "active")
        self.assertFalse([path for path in paths_in(self.farm.tree) if PROJECT in path.name or "quokka" in path.name])

    def test_every_operation_that_reads_answers_a_token_of_everything(self):
        """A new route is asked, too. If it answered 404 to all, the test of those who may not read would prove nothing of it."""
        values = self.prepare()
        everything = basic(self.farm.create_token("*", name="everything", actions=("*",)))
        status, problem = RawUpload(self.farm, self.writer, Wheel("torch").write(self.folder), HIDDEN).send()
        self.assertEqual(status, 200, problem)
        templates = [template + QUERIES.get(methods["get"]["operationId"], "")
                     for template, methods in self.document()["paths"].items() if "get" in methods]
        self.assertGreater(len(templates), 20)
        for template in templates:
            if "/integrity/" in template:  # this wheel has no attestations: attestations_test.py asks for those of one that has
                continue
            with self.subTest(template):
                status, _, body = self.wait_for(template.format(**values), everything, {})
                self.assertEqual(status, 200, body)

    def test_who_may_read_reads_it_at_every_address(self):
        """Otherwise the other test would prove nothing."""
        values = self.prepare()
        for path, headers, secret in (
                (f"/{HIDDEN}/", {}, HIDDEN), ("/", {}, TITLE), ("/", {"Accept": "application/json"}, TITLE),
                (f"/{HIDDEN}/simple/", {}, PROJECT), (f"/{HIDDEN}/simple/", {"Accept": JSON_PAGE}, PROJECT),
                (f"/{HIDDEN}/simple/{PROJECT}/", {}, self.sha256), (f"/{HIDDEN}/simple/{PROJECT}/", {"Accept": JSON_PAGE}, self.sha256),
                (f"/{HIDDEN}/files/{self.sha256[:2]}/{self.sha256}/{self.wheel.name}", {}, ""),
                (f"/packages/{HIDDEN}/{self.sha256[:2]}/{self.sha256}/{self.wheel.name}", {}, ""),
                (f"/{HIDDEN}/files/{self.sha256[:2]}/{self.sha256}/{self.wheel.name}.metadata", {}, INSIDE),
                (f"/{HIDDEN}/files/{self.sha256[:2]}/{self.sha256}/{self.wheel.name}.prov", {}, SITE),
                (f"/api/v1/indexes/{HIDDEN}/files/{self.wheel.name}/provenance", {}, SITE),
                (f"/{HIDDEN}/pypi/{PROJECT}/json", {}, INSIDE), (f"/{HIDDEN}/pypi/{PROJECT}/1.0/json", {}, INSIDE),
                (f"/{HIDDEN}/status.json", {}, SITE),
                (f"/{HIDDEN}/project/", {}, PROJECT), (f"/{HIDDEN}/project/search.json", {}, PROJECT), (f"/{HIDDEN}/project/feed.xml", {}, PROJECT),
                (f"/{HIDDEN}/project/{PROJECT}/", {}, PROJECT), (f"/{HIDDEN}/project/{PROJECT}/feed.xml", {}, PROJECT),
                (f"/{HIDDEN}/builds/", {}, HIDDEN), (f"/{HIDDEN}/builds/build.html", {}, HIDDEN),
                (f"/{HIDDEN}/builds/request.html", {}, HIDDEN), (f"/{HIDDEN}/builds/feed.xml", {}, HIDDEN), (f"/{HIDDEN}/site/", {}, SITE),
                (f"/{HIDDEN}/site/{SITE}/", {}, PROJECT), (f"/{HIDDEN}/site/{SITE}/feed.xml", {}, SITE),
                (f"/api/v1/indexes/{HIDDEN}/builds", {}, PROJECT), (f"/api/v1/indexes/{HIDDEN}/builds/{SITE}/{BUILD}", {}, PROJECT),
                (f"/api/v1/indexes/{HIDDEN}/requests/{values['task']}", {}, PROJECT), (f"/api/v1/indexes/{HIDDEN}/projects/{PROJECT}/explain", {}, PROJECT),
                (f"/api/v1/indexes/{HIDDEN}/access", {}, "read"), (f"/api/v1/indexes/{HIDDEN}/sites/{SITE}", {}, SITE),
                ("/api/v1/sites", {}, SITE), (f"/api/v1/tasks/{values['task']}", {}, PROJECT)):
            token = self.writer if "/tasks" in path else self.reader
            for authorization in (basic(token), basic(token, "anybody"), f"Bearer {token}"):
                status, fields, body = self.wait_for(path, authorization, headers, secret)
                self.assertEqual(status, 200, f"{path}\n{body}")
                self.assertIn(secret.encode(), body, path)
                self.assertNotIn("Access-Control", fields, path)
                if path.startswith("/api"):
                    continue
                self.assertIn("Cache-Control: private", fields, path)
                self.assertIn("Vary: Authorization", fields, path)
        status, _, body = self.ask("GET", f"/{HIDDEN}/files/{self.sha256[:2]}/{self.sha256}/{self.wheel.name}", basic(self.reader))
        self.assertEqual(body, self.wheel.read_bytes())
        self.assertIn(f'"{OPEN}"'.encode(), self.ask("GET", "/", basic(self.reader), {"Accept": "application/json"})[2])

    def wait_for(self, path: str, authorization: str, headers: dict[str, str], secret: str = "") -> tuple[int, str, bytes]:
        """The web UI, wheel lists and pages of links come a moment after the Simple pages, or are there and say it a moment later."""
        deadline = time.monotonic() + COMMAND_TIMEOUT_S
        while True:
            answer = self.ask("GET", path, authorization, headers)
            is_there = answer[0] != 404 and secret.encode() in answer[2]
            if is_there or time.monotonic() > deadline or not any(
                    late in path for late in ("/project", "/builds", "/site/", "/catalogue", "/find-links")):
                return answer
            time.sleep(0.02)  # until the server has written it: nothing announces it

    def test_reports_of_sites_are_closed_to_other_accounts_from_the_first(self):
        self.prepare()
        for path in (self.farm.data / "sites", self.farm.data / "sites" / HIDDEN):
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)

    def test_a_private_page_answers_no_preflight(self):
        status, fields, _ = self.ask("OPTIONS", f"/{HIDDEN}/simple/{PROJECT}/", basic(self.reader))
        self.assertEqual((status, "Access-Control" in fields), (405, False))
        self.assertEqual(self.ask("OPTIONS", f"/{OPEN}/simple/kiwi/", None)[0], 204)

    def test_without_credentials_a_client_is_asked_for_them_and_a_token_without_the_right_sees_no_index(self):
        of_other = basic(self.farm.create_token(OTHER, name="of-other", actions=("read", "upload", "yank")))
        for rest in ("/simple/", f"/simple/{PROJECT}/", "/simple/catalogue.txt", f"/files/ab/{'ab' * 32}/x-1-py3-none-any.whl", "/project/",
                     "/simple", "/", "/legacy/", "/uploads/", f"/pypi/{PROJECT}/json"):
            for method in METHODS:
                status, fields, _ = self.ask(method, f"/{HIDDEN}{rest}", None)
                if (method, rest) != ("OPTIONS", ""):
                    self.assertEqual(status, 401, f"{method} {rest}")
                    self.assertIn("WWW-Authenticate: Basic realm=", fields)
                    self.assertIn("Cache-Control: no-store", fields)
                hidden, absent = (self.ask(method, f"/{index}{rest}", of_other) for index in (HIDDEN, "absent"))
                self.assertEqual(self.without_names(hidden), self.without_names(absent), f"{method} {rest}")

    def test_a_browser_without_a_token_gets_a_page_that_says_how_to_give_one(self):
        for path in (f"/{HIDDEN}/project/", f"/{HIDDEN}/simple/{PROJECT}/", "/absent/", "/api/v1/audit"):
            status, fields, body = self.farm.get(path, "text/html,application/xhtml+xml,*/*;q=0.8")
            page = body.decode()
            self.assertEqual((status, fields["Content-Type"], fields["WWW-Authenticate"]), (401, "text/html; charset=utf-8", 'Bearer realm="wheelyard"'), path)  # no dialog over the page
            self.assertRegex(page, r'<html lang="en">[\s\S]*<title>401 ', path)
            # This farm knows no provider. No log-in opens an address below /api/.
            self.assertEqual(len(re.findall(r'<a href="(?:\./|(?:\.\./)+)api/v1/login/">enter a token that you have</a>', page)), 0 if path.startswith("/api/") else 1, path)
            status, fields, body = self.farm.get(path)  # what a program gets
            self.assertEqual((status, fields["Content-Type"], fields["WWW-Authenticate"]), (401, "application/problem+json", 'Basic realm="wheelyard"'), path)
            self.assertNotIn(b"<", body)

    @staticmethod
    def without_names(answer: tuple[int, str, bytes]) -> tuple[int, list[str], str]:
        fields = [line for line in answer[1].splitlines() if not line.startswith(("Date:", "X-Request-Id:", "Content-Length:"))]
        return (answer[0], [line.replace(HIDDEN, "NAME").replace("absent", "NAME") for line in fields],
                answer[2].decode().replace(HIDDEN, "NAME").replace("absent", "NAME"))

    def test_strangers_cannot_tell_a_private_index_from_one_that_does_not_exist(self):
        """At every address and with every method the same status, fields, length and body, but for the name that was asked for."""
        self.assertEqual(len(HIDDEN), len(ABSENT))  # so that even the lengths are the same
        strangers = {who: authorization for who, authorization in self.credentials().items()
                     if who in ("none", "nonsense", "unknown", "revoked", "other index", "writer of public")}
        self.assertEqual(len(strangers), 6)
        values = self.prepare()
        asked = 0
        connection = http.client.HTTPConnection("127.0.0.1", self.farm.port, timeout=COMMAND_TIMEOUT_S)
        self.addCleanup(connection.close)

        def answer(method: str, path: str, fields: dict[str, str], body: bytes | None) -> tuple[int, str, list[str], bytes]:
            connection.request(method, path, body, fields)
            got = connection.getresponse()
            read = got.read().replace(ABSENT.encode(), HIDDEN.encode())
            lines = [f"{name}: {value}".replace(ABSENT, HIDDEN) for name, value in got.getheaders() if name not in ("Date", "X-Request-Id")]
            return got.status, got.reason.replace(ABSENT, HIDDEN), lines, read

        for path, operation in self.addresses(values):
            if HIDDEN not in path:
                continue
            for method in METHODS:
                body = self.body_of(operation) if method in ("POST", "PUT", "PATCH") else None
                for who, authorization in strangers.items():
                    for headers in HEADERS[1:3] if method == "GET" else HEADERS[:1]:
                        fields = dict(headers) | ({"Authorization": authorization} if authorization else {})
                        if operation == "upload":
                            fields["Content-Type"] = "multipart/form-data; boundary=x"
                        there = answer(method, path, fields, body)
                        absent = answer(method, path.replace(HIDDEN, ABSENT), fields, body and body.replace(HIDDEN.encode(), ABSENT.encode()))
                        self.assertEqual(there, absent, f"{who}: {method} {path}")
                        asked += 2
        self.assertGreater(asked, 5_000)
        # Who may read learns that a name is wrong; what can be no index asks nobody for a password.
        self.assertEqual(self.ask("GET", f"/{ABSENT}/simple/", basic(self.reader))[0], 404)
        self.assertEqual(self.ask("GET", "/favicon.ico", None)[0], 404)

    def test_a_revoked_token_reads_nothing_from_the_next_request_on(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.farm.port, timeout=COMMAND_TIMEOUT_S)
        self.addCleanup(connection.close)

        def status() -> int:
            connection.request("GET", f"/{HIDDEN}/simple/{PROJECT}/", headers={"Authorization": basic(self.reader)})
            answer = connection.getresponse()
            answer.read()
            return answer.status

        self.assertEqual([status(), status()], [200, 200])
        self.revoke(self.reader)
        self.assertEqual(status(), 401)

    def install(self, client: str, index_url: str, netrc: str = "", options: tuple[str, ...] = (),
                environment: dict[str, str] | None = None) -> Path:
        home = self.folder / f"home-{client}-{bool(netrc)}"
        home.mkdir(exist_ok=True)
        if netrc:
            (home / ".netrc").write_text(netrc)
            (home / ".netrc").chmod(0o600)
        target = self.folder / f"target-{client}-{bool(netrc)}"
        environment = self.farm.environment | {"HOME": str(home)} | (environment or {})
        if client == "uv":
            words = [CLIENTS / "uv/bin/uv", "pip", "install", "--no-config", "--no-cache", "--no-deps", "--python",
                     CLIENTS / "pip-new/bin/python", "--target", target, "--index-url", index_url, PROJECT]
        else:
            words = [CLIENTS / client / "bin/python", "-m", "pip", "--isolated", "install", "--no-cache-dir", "--no-deps", "--index-url",
                     index_url, "--target", target, PROJECT]
        self.done = subprocess.run([*words, *options], env=environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
        return target

    def test_pip_and_uv_install_with_netrc_and_with_credentials_in_the_url(self):
        netrc = f"machine 127.0.0.1 login __token__ password {self.reader}\n"
        plain = self.farm.simple_url(HIDDEN)
        for client in ("pip-old", "pip-debian", "pip-new", "uv"):
            for url, lines in ((plain, netrc), (plain.replace("://", f"://__token__:{self.reader}@"), "")):
                target = self.install(client, url, lines)
                self.assert_ran(self.done)
                self.assertEqual(installed_value("pip-new", target, "quokka_core"), "1")
                self.assertNotIn(self.reader, self.done.stdout + self.done.stderr)
        self.install("pip-new", plain)
        self.assertNotEqual(self.done.returncode, 0)
        self.assert_ran(pip_install(self.farm, "pip-new", self.folder / "public", "kiwi", index=OPEN))

    def test_pip_and_uv_install_with_the_token_of_a_keyring(self):
        programs = self.folder / "programs"
        programs.mkdir()
        keyring = programs / "keyring"  # its command line: uv asks for the password, pip 26 for user and password as JSON
        keyring.write_text(f"""#!/bin/sh
case "$*" in
*--output=json*get*) printf '{{"username":"__token__","password":"%s"}}' {self.reader} ;;
"get "*" __token__") echo {self.reader} ;;
*) exit 1 ;;
esac
""")
        keyring.chmod(0o700)
        more = {"PATH": f"{programs}:{self.farm.environment['PATH']}"}
        url = self.farm.simple_url(HIDDEN).replace("://", "://__token__@")
        for client in ("pip-new", "uv"):
            target = self.install(client, url, options=("--keyring-provider", "subprocess"), environment=more)
            self.assert_ran(self.done)
            self.assertEqual(installed_value("pip-new", target, "quokka_core"), "1")
            self.assertNotIn(self.reader, self.done.stdout + self.done.stderr)

    @full
    def test_poetry_installs_with_its_own_credentials(self):
        folder = self.folder / "project"
        folder.mkdir()
        (folder / "pyproject.toml").write_text(
            f'[project]\nname = "demo"\nversion = "1"\nrequires-python = ">=3.8"\ndependencies = ["{PROJECT}"]\n'
            f'[[tool.poetry.source]]\nname = "farm"\nurl = "{self.farm.simple_url(HIDDEN)}"\npriority = "primary"\n')

        def poetry(*words: str, **more: str) -> subprocess.CompletedProcess:
            environment = self.farm.environment | {"POETRY_VIRTUALENVS_IN_PROJECT": "1", "POETRY_KEYRING_ENABLED": "false"} | more
            return subprocess.run([CLIENTS / "poetry/bin/poetry", *words, "--no-interaction", "--no-cache"], cwd=folder, env=environment,
                                  capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
        self.assert_failed(poetry("lock"))
        known = {"POETRY_HTTP_BASIC_FARM_USERNAME": "__token__", "POETRY_HTTP_BASIC_FARM_PASSWORD": self.reader}
        for words in (("lock",), ("install", "--no-root")):
            done = poetry(*words, **known)
            self.assert_ran(done)
            self.assertNotIn(self.reader, done.stdout + done.stderr)
        self.assertEqual(len(list((folder / ".venv").glob("lib/python*/site-packages/quokka_core-1.0.dist-info"))), 1)

    def with_netrc(self, token: str) -> dict[str, str]:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        (home / ".netrc").write_text(f"machine 127.0.0.1 login __token__ password {token}\n")
        (home / ".netrc").chmod(0o600)
        return self.farm.environment | {"HOME": str(home)}

    def test_our_own_programs_read_netrc(self):
        environment = self.with_netrc(self.reader)
        find = ("avail_wheels", "--refresh", "--index-url", self.farm.simple_url(HIDDEN), "--all", PROJECT)
        self.assert_ran(self.farm.run(*find, environment=environment), "1.0")
        self.assertNotIn("1.0", self.farm.run(*find).stdout)
        # What a command was given wins over ~/.netrc.
        token = self.folder / "token"
        token.write_text(self.writer)
        pin = ("wheelyard-registry", "pin", HIDDEN, self.wheel.name, "--url", self.farm.url, "--token-file", token)
        self.assert_ran(self.farm.run(*pin, environment=self.with_netrc(self.revoked)))


class ChangingReadersTest(OwnFarmsCase):
    def setUp(self):
        super().setUp()
        self.farm = self.enterContext(Farm((OPEN, HIDDEN)))
        self.token = self.farm.create_token(actions=("*",))
        self.farm.start()
        for name, index in ((PROJECT, HIDDEN), ("kiwi", OPEN)):
            self.assertEqual(RawUpload(self.farm, self.token, Wheel(name).write(self.folder), index).send()[0], 200)

    def restart(self, **settings: str) -> None:
        self.farm.stop()
        self.farm.index_settings = settings
        self.farm.write_config(self.farm.port)
        self.farm.start()

    def names_in(self, folder: Path) -> list[str]:
        """Paths that name the project, and files that contain its name."""
        return [str(path) for path in paths_in(folder) if "quokka" in path.name or HIDDEN in path.name or b"quokka" in bytes_of(path)]

    def status(self, token: str | None = None) -> int:
        return self.farm.get(f"/{HIDDEN}/simple/{PROJECT}/", headers={"Authorization": basic(token)} if token else {})[0]

    def test_an_index_that_becomes_private_leaves_the_public_tree_and_comes_back(self):
        self.assertEqual(self.status(), 200)
        self.assertTrue(self.names_in(self.farm.tree))
        self.restart(**{HIDDEN: 'read = "token"'})
        self.assertEqual(self.names_in(self.farm.tree), [])
        self.assertEqual((self.status(), self.status(self.token)), (401, 200))
        private = self.farm.data / "private"
        self.assertEqual(stat.S_IMODE(private.stat().st_mode), 0o700)
        for name in ("blobs", "catalog.sqlite"):
            self.assertEqual((self.farm.data / name).stat().st_mode & 0o007, 0, name)
        self.farm.check_tree()
        self.assert_ran(self.farm.run("wheelyard-indexer", "check", "--to", private, "--store", self.farm.data))
        self.restart()
        self.assertEqual((self.status(), self.names_in(private)), (200, []))
        self.farm.check_tree()

    def test_an_index_that_leaves_the_configuration_stays_private(self):
        self.restart(**{HIDDEN: 'read = "token"'})
        self.farm.indexes = (OPEN,)
        self.restart()
        self.assertEqual(self.names_in(self.farm.tree), [])
        static = self.folder / "static"
        self.assert_ran(self.farm.run("wheelyard-indexer", "publish", "--store", self.farm.data, "--to", static))
        self.assertEqual(self.names_in(static), [])
        # One of its name that the file makes public would show what it left behind.
        self.farm.stop()
        self.farm.set_index(HIDDEN)
        self.assert_failed(self.farm.run("wheelyard-registry", "serve", "--config", self.farm.config), "A former index of this name was private", HIDDEN)
        self.restart(**{HIDDEN: 'read = "token"'})
        self.assertEqual(self.status(), 401)

    def test_an_import_with_another_configuration_opens_no_private_index(self):
        self.restart(**{HIDDEN: 'read = "token"'})
        old = self.farm.config.with_name("old.toml")
        old.write_text(self.farm.config.read_text().replace('read = "token"', ""))
        wheel = Wheel("emu").write(self.folder)
        # Beside a server its own indexes count, whatever the file says.
        self.assert_ran(self.farm.run("wheelyard-registry", "import", OPEN, wheel, "-c", old), "imported")
        self.assertEqual((self.names_in(self.farm.tree), self.status(), self.status(self.token)), ([], 401, 200))
        self.farm.stop()
        self.assert_failed(self.farm.run("wheelyard-registry", "import", OPEN, wheel, "-c", old), HIDDEN, "restart the server")
        self.assert_ran(self.farm.run("wheelyard-registry", "import", OPEN, wheel, "-c", self.farm.config))
        self.assertEqual(self.names_in(self.farm.tree), [])

    def test_the_indexer_publishes_private_indexes_only_where_asked_and_never_beside_public_ones(self):
        self.restart(**{HIDDEN: 'read = "token"'})
        publish = ("wheelyard-indexer", "publish", "--store", self.farm.data, "--to")
        static, private = self.folder / "static", self.folder / "private"
        self.assert_ran(self.farm.run(*publish, static))
        self.assertEqual(self.names_in(static), [])
        self.assert_failed(self.farm.run(*publish, static, "--index", HIDDEN), "Only tokens may read the index")
        self.assert_failed(self.farm.run(*publish, static, "--private"), "The tree holds public indexes")
        self.assertEqual(self.names_in(static), [])
        self.assert_ran(self.farm.run(*publish, private, "--private"))
        self.assertTrue(self.names_in(private / HIDDEN))
        self.assertEqual((stat.S_IMODE(private.stat().st_mode), (private / OPEN).exists()), (0o700, False))
        self.assert_failed(self.farm.run(*publish, private), "The tree holds private indexes")

    def test_nothing_brings_a_private_file_to_a_public_index(self):
        self.restart(**{HIDDEN: 'read = "token"'})
        name = Wheel(PROJECT).filename
        self.assert_failed(self.farm.run("wheelyard-registry", "promote", HIDDEN, name, "--to", OPEN, "--reason", "x", "-c", self.farm.config),
                           "the target index is public")
        for rules, phrase in (({OPEN: f'inherits = ["{HIDDEN}"]'}, "its files would be public"), ({OPEN: f'staging = "{HIDDEN}"'}, "same `read`"),
                              ({OPEN: f'[[index.upstream]]\nname = "own"\nurl = "{self.farm.simple_url(HIDDEN)}"\nprivate_hosts = ["127.0.0.1"]'},
                               "its files would be public")):
            self.farm.index_settings = {HIDDEN: 'read = "token"'} | rules
            self.farm.write_config(self.farm.port)
            self.assert_failed(self.farm.run("wheelyard-registry", "serve", "--check", "-c", self.farm.config), phrase)

    def test_what_a_private_index_takes_from_an_upstream_is_private_too(self):
        with Upstream() as upstream:
            wheel = Wheel("quokka-up", metadata_lines=(f"Keywords: {INSIDE}",)).write(self.folder / "up")
            upstream.offer(wheel)
            rule = f'[[index.upstream]]\nname = "up"\nurl = "{upstream.url}"\nprivate_hosts = ["127.0.0.1"]\n'
            self.restart(**{HIDDEN: f'read = "token"\n{rule}'})
            page, credentials = f"/{HIDDEN}/simple/quokka-up/", {"Authorization": basic(self.token), "Accept": JSON_PAGE}
            self.assertEqual((self.farm.get(page)[0], upstream.count("/simple/quokka-up/")), (401, 0))
            status, headers, body = self.farm.get(page, headers=credentials)
            self.assertEqual((status, headers["Cache-Control"].split(",")[0]), (200, "private"), body)
            [file] = json.loads(body)["files"]
            path = f"/{HIDDEN}" + file["url"].removeprefix("../..")
            for address in (path, path + ".metadata"):
                self.assertEqual(self.farm.get(address)[0], 401)
                self.assertEqual(self.farm.get(address, headers=credentials)[0], 200)
            self.assertEqual(self.farm.get(path, headers=credentials)[2], wheel.read_bytes())
            self.assertTrue(self.names_in(self.farm.data / "private"))
            self.assertEqual(self.names_in(self.farm.tree), [])
            self.restart()  # without the upstream: its cache stays private, the index does not
            self.assertEqual((self.status(), (self.farm.tree / f"{HIDDEN}.up").exists()), (200, False))

    def test_a_restored_backup_keeps_it_private(self):
        self.restart(**{HIDDEN: 'read = "token"'})
        backup, store, static = self.folder / "backup", self.folder / "store", self.folder / "static"
        self.assert_ran(self.farm.run("wheelyard-registry", "backup", "-c", self.farm.config, backup))
        self.assert_ran(self.farm.run("wheelyard-registry", "restore", backup, store))
        self.assert_ran(self.farm.run("wheelyard-indexer", "publish", "--store", store, "--to", static))
        self.assertEqual(self.names_in(static), [])


if __name__ == "__main__":
    main()
