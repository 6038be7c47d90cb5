"""The registry behind the web servers that sites have, at the root of a host and below a path, with the configurations of
docs/how-to/put-a-web-server-in-front.md as they stand there: pip, uv and twine through nginx and HAProxy. With WHEELYARD_FULL=1
(scripts/test --full) Apache, Caddy, older pips, poetry and the pages in Chromium, too."""

import json
import os
import re
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from html.parser import HTMLParser
from pathlib import Path

from support.browser import Browser, why_no_browser
from support.case import FarmCase, main
from support.clients import CLIENTS, RawUpload, installed_value, pip_install, twine_upload
from support.farm import COMMAND_TIMEOUT_S, INDEX, Farm
from support.full import IS_FULL
from support.upstream import JSON, Upstream
from support.web_servers import PROGRAMS, WebServer, lines_of, why_none
from support.wheels import Wheel, sha256_of

MIRROR = "mirror"
PREFIXES = ("/", "/a/b/")
SERVERS = tuple(PROGRAMS) if IS_FULL else ("nginx", "haproxy")
PIPS = ("pip-old", "pip-debian", "pip-new") if IS_FULL else ("pip-new",)
PATIENCE_S = 240
LARGE_PAGE_BYTES = 1 << 20  # such pages are sent from the disk
HTML = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"


def wait_until(condition) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


class Links(HTMLParser):
    def __init__(self, html: str):
        super().__init__()
        self.found: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src", "data-root") and not value.startswith("#"):
                self.found.add(value)
            elif name == "data-folders":
                self.found.update(folder + "search.json" for folder in value.split())


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Reached:
    """The farm as the clients of a web server see it."""

    def __init__(self, farm: Farm, url: str):
        self.environment, self.url = farm.environment, url

    def simple_url(self, index: str = INDEX) -> str:
        return f"{self.url}/{index}/simple/"

    def upload_url(self, index: str = INDEX) -> str:
        return f"{self.url}/{index}/legacy/"


class ProxiesTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        cls.upstream = cls.enterClassContext(Upstream())
        settings = "".join(line + "\n" for line in lines_of("toml").splitlines() if not line.startswith(("[server]", "listen")))
        cls.farm = cls.enterClassContext(Farm((INDEX, MIRROR), settings=settings, index_settings={
            MIRROR: f'[[index.upstream]]\nname = "public"\nurl = "{cls.upstream.url}"\nprivate_hosts = ["127.0.0.1"]'}))
        cls.token = cls.farm.create_token()
        cls.farm.start()
        folder = tempfile.TemporaryDirectory(prefix="wheelyard-proxies-")
        cls.addClassCleanup(folder.cleanup)
        cls.wheels = Path(folder.name)
        cls.wheel = Wheel("Yard.Proxy", "1.0+site.1", value=11).write(cls.wheels)
        for wheel in (cls.wheel, Wheel("yard-large", value=12).write(cls.wheels)):
            status, problem = RawUpload(cls.farm, cls.token, wheel).send()
            assert status == 200, problem
        cls.upstream.offer(Wheel("yard-far", value=13).write(cls.wheels))
        cls.farm.wait_for_late_pages()
        for page in (cls.farm.tree / INDEX / "simple/yard-large").iterdir():  # spaces at the end change neither form
            os.truncate(page, LARGE_PAGE_BYTES + 1)
            text = page.read_bytes().rstrip(b"\0")
            page.write_bytes(text + b" " * (LARGE_PAGE_BYTES + 1 - len(text)))

    def test_every_client_works_through_every_web_server_at_the_root_and_below_a_path(self):
        for kind in SERVERS:
            if why_none(kind):
                self.fail(why_none(kind))
            for number, prefix in enumerate(PREFIXES):
                with self.subTest(kind, prefix=prefix), \
                        WebServer(kind, self.folder / f"{kind}{number}", self.farm.port, prefix) as server:
                    self.url = server.url
                    self.reached = Reached(self.farm, server.url)
                    self.target = self.folder / f"{kind}{number}-target"
                    self.check_addresses()
                    self.check_every_link()
                    self.check_uploads(f"yard_up_{kind}_{number}")
                    self.check_installs()
                    self.check_programs_of_ours()
                    if IS_FULL:
                        self.check_poetry(f"yard_poetry_{kind}_{number}")
                    if not why_no_browser() and (IS_FULL or (kind, prefix) == ("nginx", PREFIXES[-1])):
                        self.check_pages_in_a_browser()

    def get(self, url: str, method: str = "GET", **headers: str):
        request = urllib.request.Request(url, method=method, headers={name.replace("_", "-"): value for name, value in headers.items()})
        try:
            with urllib.request.build_opener(NoRedirect).open(request, timeout=COMMAND_TIMEOUT_S) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def read(self, url: str, **headers: str) -> bytes:
        self.assertTrue(url.startswith(self.url + "/"), url)
        status, _, body = self.get(url, **headers)
        self.assertEqual(status, 200, url)
        return body

    def check_addresses(self):
        """What names the server has its whole URL; what leads elsewhere leads on below the path."""
        for asked, reached in ((f"{INDEX}/simple/Yard.Proxy", f"{INDEX}/simple/yard-proxy/"), (INDEX, f"{INDEX}/"),
                               (f"{INDEX}/project/Yard.Proxy/", f"{INDEX}/project/yard-proxy/"),
                               (f"{MIRROR}/simple/Yard.Far/?format=text/html", f"{MIRROR}/simple/yard-far/?format=text/html")):
            status, headers, _ = self.get(f"{self.url}/{asked}")
            self.assertEqual((status, urllib.parse.urljoin(f"{self.url}/{asked}", headers["Location"])), (301, f"{self.url}/{reached}"))
            self.read(f"{self.url}/{reached}")
        listed = [index["url"] for index in json.loads(self.read(f"{self.url}/", Accept="application/json"))["indexes"]]
        self.assertEqual(listed, [self.reached.simple_url(index) for index in (INDEX, MIRROR)])
        page = self.read(f"{self.url}/{INDEX}/").decode()
        self.assertIn(f"index-url = {self.reached.simple_url()}", page)
        [file] = json.loads(self.read(f"{self.url}/{INDEX}/pypi/yard-proxy/json"))["urls"]
        self.assertEqual(self.read(file["url"]), self.wheel.read_bytes())
        description = f"{self.url}/api/v1/openapi.json"
        [server] = json.loads(self.read(description))["servers"]
        self.assertEqual(self.get(urllib.parse.urljoin(description, server["url"]).rstrip("/") + "/api/v1/indexes")[0], 401)
        uploads = f"{self.url}/{INDEX}/uploads/"
        status, headers, body = self.get(uploads, "POST", Authorization=f"Bearer {self.token}", Upload_Length="10",
                                         Content_Type="multipart/form-data; boundary=x")
        self.assertEqual(status, 201, body)
        begun = urllib.parse.urljoin(uploads, headers["Location"])
        for method in ("HEAD", "DELETE"):
            self.assertEqual(self.get(begun, method, Authorization=f"Bearer {self.token}")[0], 204)
        for index, project in ((INDEX, "yard-proxy"), (INDEX, "yard-large"), (MIRROR, "yard-far")):
            for accept in (JSON, "text/html"):
                page = f"{self.url}/{index}/simple/{project}/"
                text = self.read(page, Accept=accept).decode()
                link = json.loads(text)["files"][0]["url"] if accept == JSON else re.search('href="([^"#]*)', text)[1]
                self.assertEqual(self.get(urllib.parse.urljoin(page, link), "HEAD")[0], 200)

    def check_every_link(self):
        """Every link of every page of the web UI, from the front page on, and of the pages that say that there is none."""
        pages, seen = [f"{self.url}/"], set()
        for absent in ("nowhere/", f"{INDEX}/project/absent/", f"{INDEX}/simple/absent/", "api/v1/absent/x"):
            status, _, body = self.get(f"{self.url}/{absent}", Accept=HTML)
            self.assertEqual(status, 404)
            pages += [urllib.parse.urljoin(f"{self.url}/{absent}", link) for link in Links(body.decode()).found]
        while pages:
            page = pages.pop().partition("#")[0]
            if page in seen or not page.startswith("http://127.0.0.1"):
                continue
            seen.add(page)
            body = self.read(page, Accept=HTML)
            if body.startswith(b"<!DOCTYPE html>"):
                pages += [urllib.parse.urljoin(page, link) for link in Links(body.decode()).found]
        for shown in ("api/v1/", f"{INDEX}/project/yard-proxy/", f"{INDEX}/builds/", f"{INDEX}/project/search.json",
                      f"{INDEX}/project/yard-proxy/feed.xml"):
            self.assertIn(f"{self.url}/{shown}", seen)

    def check_uploads(self, name: str):
        wheel = Wheel(name, value=14).write(self.folder)
        for _ in range(2):  # the second time nothing changes
            self.assert_ran(twine_upload(self.reached, self.token, wheel))
        self.assert_ran(subprocess.run(
            [CLIENTS / "uv/bin/uv", "publish", "--publish-url", self.reached.upload_url(), "--check-url", self.reached.simple_url(), wheel],
            env=self.farm.environment | {"UV_PUBLISH_TOKEN": self.token, "UV_NO_CONFIG": "1", "UV_NO_CACHE": "1"},
            capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S))
        page = self.reached.simple_url() + name.replace("_", "-") + "/"
        [file] = json.loads(self.read(page, Accept=JSON))["files"]
        self.assertEqual(self.read(urllib.parse.urljoin(page, file["url"])), wheel.read_bytes())
        self.farm.wait_for_late_pages()  # the next server's pages name it
        # A refusal names the right address, and the reason reaches the client.
        status, _, problem = self.get(self.reached.simple_url(), "POST", Content_Length="0")
        self.assertEqual(status, 405)
        self.assertIn(self.reached.upload_url(), problem.decode())

    def check_installs(self):
        wanted = ((INDEX, ("Yard_Proxy==1.0+site.1", "yard-large")), (MIRROR, ("yard-far",)))
        for pip in PIPS:  # pip-old reads HTML, the others JSON
            for index, requirements in wanted:
                self.assert_ran(pip_install(self.reached, pip, self.target / pip, *requirements, index=index))
        for index, requirements in wanted:
            self.assert_ran(subprocess.run(
                [CLIENTS / "uv/bin/uv", "pip", "install", "--no-config", "--no-cache", "--python", CLIENTS / "pip-new/bin/python",
                 "--target", self.target / "uv", "--index-url", self.reached.simple_url(index), *requirements],
                env=self.farm.environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S))
        for client in (*PIPS, "uv"):
            for module, value in (("yard_proxy", "11"), ("yard_large", "12"), ("yard_far", "13")):
                self.assertEqual(installed_value("pip-new", self.target / client, module), value)

    def check_programs_of_ours(self):
        """The list of wheels."""
        self.assert_ran(self.farm.run("avail_wheels", "yard-proxy", "--index-url", self.reached.simple_url()), "yard_proxy")
        # Without /simple/ it is the page of the index, which names the right address.
        self.assert_failed(self.farm.run("avail_wheels", "yard-proxy", "--index-url", f"{self.reached.url}/{INDEX}/"),
                           self.reached.simple_url())

    def check_poetry(self, name: str):
        project = self.target / "poetry"
        project.mkdir()
        wheel = Wheel(name, "1.0", value=15).write(project / "dist")
        project_file = project / "pyproject.toml"
        start = f'[project]\nname = "{name}"\nversion = "1.0"\nrequires-python = ">=3.9,<4"\n'
        project_file.write_text(start)

        def poetry(*words, **more):
            self.assert_ran(subprocess.run(
                [CLIENTS / "poetry/bin/poetry", *words, "--no-interaction"], cwd=project, capture_output=True, text=True,
                timeout=COMMAND_TIMEOUT_S,
                env=self.farm.environment | {"POETRY_VIRTUALENVS_IN_PROJECT": "1", "POETRY_KEYRING_ENABLED": "false"} | more))

        poetry("publish", "--repository", "farm", "--dist-dir", wheel.parent, POETRY_REPOSITORIES_FARM_URL=self.reached.upload_url(),
               POETRY_HTTP_BASIC_FARM_USERNAME="__token__", POETRY_HTTP_BASIC_FARM_PASSWORD=self.token)
        project_file.write_text(
            start.replace(name, "user") + f'dependencies = ["{name}", "yard-proxy", "yard-large"]\n'
            f'[[tool.poetry.source]]\nname = "farm"\nurl = "{self.reached.simple_url()}"\npriority = "primary"\n')
        poetry("lock", "--no-cache")
        self.assertIn(sha256_of(self.wheel), (project / "poetry.lock").read_text())
        poetry("install", "--no-root", "--no-cache")
        self.assert_ran(subprocess.run([project / ".venv/bin/python", "-c", f"import {name}, yard_proxy, yard_large"],
                                       capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S))

    def check_pages_in_a_browser(self):
        browser = Browser(self.url)
        try:
            browser.open("/")
            browser.find("[name=q]").send_keys("yard-prox")
            wait_until(lambda: "yard-proxy" in browser.texts("#results h3 a"))
            browser.link("yard-proxy").click()
            wait_until(lambda: browser.path() == f"/{INDEX}/project/yard-proxy/")
            self.assertEqual(browser.find("#install-line").text,
                             f"pip install --index-url {self.reached.simple_url()} yard-proxy==1.0+site.1")
            self.assertNotEqual(browser.run("return document.styleSheets[0].cssRules.length"), 0)
            browser.open(f"/{INDEX}/project/absent/")  # its search has the project's name
            browser.find("#search [name=q]").clear()
            browser.find("#search [name=q]").send_keys("yard-large")
            wait_until(lambda: "yard-large" in browser.texts("#results h3 a"))
            browser.link("yard-large").click()
            wait_until(lambda: browser.path() == f"/{INDEX}/project/yard-large/")
            browser.open(f"/{INDEX}/builds/?package=yard-proxy&version=2.0")
            for name, value in (("python", "3.12"), ("token", self.farm.create_token(name="anna", actions=("task",)))):
                field = browser.find(f"#request [name={name}]")
                field.clear()
                field.send_keys(value)
            browser.find("#request form button").click()
            wait_until(lambda: browser.texts("#requests .state") == ["asked for"])
            browser.open("/api/v1/")
            operator = self.farm.create_token("*", name="operator", actions=("quarantine", "delete", "read"), projects=("*",))
            for name, value in (("token", operator), ("index", INDEX)):
                field = browser.find(f"#operate [name={name}]")
                field.clear()  # of what another page of this tab has kept
                field.send_keys(value)
            browser.find("#operate > button").click()
            wait_until(lambda: "yard-proxy" in browser.texts("#storage tbody th"))
            asked = browser.requests()
            self.assertIn(f"/{INDEX}/project/search.json", asked)
            self.assertIn("/api/v1/tasks", asked)
            self.assertEqual([address for address in asked if address.startswith("http")], [])
        finally:
            browser.quit()


if __name__ == "__main__":
    main()
