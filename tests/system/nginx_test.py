"""docs/reference/nginx-wheels.conf, unchanged, in a real nginx, over a published tree: which form each client gets, compressed pages, files, and
that pip and uv install from it by JSON and by HTML. The web UI, too: in a browser it has its style and its search."""

import gzip
import http.client
import json
import re
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from support.browser import Browser, why_no_browser
from support.case import FarmCase, main
from support.clients import CLIENTS, RawUpload, installed_value, pip_install
from support.farm import COMMAND_TIMEOUT_S, INDEX
from support.web_servers import TreeServer, WebServer
from support.wheels import Wheel, sha256_of

JSON = "application/vnd.pypi.simple.v1+json"
START_LIMIT_S = 240

# (Accept, the form): what pip, uv, a browser and odd clients send.
NEGOTIATION = [
    (None, "text/html"),
    ("*/*", "text/html"),
    ("text/html", "text/html"),
    ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"),
    (f"{JSON}, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01", JSON),  # pip
    (f"{JSON}, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01", JSON),  # uv
    ("application/vnd.pypi.simple.latest+json", JSON),
    (JSON, JSON),
    (f"text/html, {JSON};q=0.1", "text/html"),
    (f"{JSON};q=0, text/html", "text/html"),
    (f"{JSON};q=0.5", JSON),
]


class PlainFarm:
    """What pip_install needs to know of a farm."""

    def __init__(self, farm, url):
        self.environment = farm.environment
        self.url = url

    def simple_url(self, index):
        return f"{self.url}/{index}/simple/"


class NginxTest(FarmCase):
    def setUp(self):
        super().setUp()
        self.folder.chmod(0o755)
        self.wheel = Wheel("Yard.Nginx", "1.0+site.1", value=11).write(self.folder)
        many = [Wheel("Yard.Many", f"1.{number}").write(self.folder) for number in range(5)]  # a page worth compressing
        for wheel in (self.wheel, *many):
            self.assertEqual(RawUpload(self.farm, self.token, wheel).send()[0], 200)
        self.farm.wait_for_late_pages()
        self.tree = self.folder / "wheels"
        self.assert_ran(self.farm.run("wheelyard-indexer", "publish", "--store", self.farm.data, "--to", self.tree))
        self.url = self.enterContext(TreeServer(self.tree, self.folder / "nginx")).url

    def test_no_coding_has_an_older_page_once_an_upload_is_answered(self):
        served = self.farm.tree  # from now on with compressed copies of small pages, too
        self.assert_ran(self.farm.run("wheelyard-indexer", "publish", "--store", self.farm.data, "--to", served))
        self.url = self.enterContext(TreeServer(served, self.folder / "nginx-of-served")).url
        page = f"/{INDEX}/simple/yard-many/"
        for number in range(5, 10):
            wheel = Wheel("Yard.Many", f"1.{number}").write(self.folder)
            self.assertEqual(RawUpload(self.farm, self.token, wheel).send()[0], 200)
            for accept in ("text/html", JSON):
                plain = self.get(page, Accept=accept)[2]
                status, headers, body = self.get(page, Accept=accept, Accept_Encoding="gzip")
                self.assertEqual(status, 200)
                self.assertIn(wheel.name.encode(), plain)
                self.assertEqual(gzip.decompress(body) if headers["Content-Encoding"] == "gzip" else body, plain)
            if number % 2 == 0:
                continue  # several uploads before the copies are written
            self.farm.wait_for_late_pages()
            status, headers, body = self.get(page, Accept_Encoding="gzip")
            self.assertEqual((headers["Content-Encoding"], gzip.decompress(body)), ("gzip", self.get(page)[2]))
        self.farm.check_tree()

    def get(self, path, **headers):
        request = urllib.request.Request(self.url + path, headers={name.replace("_", "-"): value for name, value in headers.items()
                                                                   if value is not None})
        try:
            with urllib.request.urlopen(request, timeout=COMMAND_TIMEOUT_S) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def test_the_tree_is_served_as_its_clients_need_it(self):
        self.check_negotiation()
        self.check_compression()
        self.check_files()
        self.check_own_files_are_hidden()
        self.check_clients(self.url, "clients")
        self.check_below_a_path()
        self.check_pages_for_people()

    def check_negotiation(self):
        for page in (f"/{INDEX}/simple/", f"/{INDEX}/simple/yard-nginx/"):
            for accept, form in NEGOTIATION:
                with self.subTest(page, accept=accept):
                    status, headers, body = self.get(page, Accept=accept)
                    self.assertEqual((status, headers["Content-Type"].split(";")[0]), (200, form))
                    self.assertIn("Accept", ", ".join(headers.get_all("Vary")))
                    self.assertEqual(headers["Cache-Control"], "no-cache")
                    served = self.farm.get(page, accept or "")[1]
                    self.assertEqual(headers["Content-Security-Policy"], served["Content-Security-Policy"])
                    self.assertEqual(headers["Content-Security-Policy"] is None, form == JSON)
                    if form == JSON:
                        self.assertEqual(headers["Content-Type"], JSON)  # no charset: uv and pip compare it whole
                        self.assertEqual(json.loads(body)["meta"]["api-version"], "1.4")
        status, headers, _ = self.get(f"/{INDEX}/simple/yard-nginx/")
        self.assertEqual(self.get(f"/{INDEX}/simple/yard-nginx/", If_None_Match=headers["ETag"])[0], 304)
        self.assertEqual(self.get(f"/{INDEX}/simple/absent/")[0], 404)
        self.assertEqual(self.get(f"/{INDEX}/simple/yard-nginx")[0], 200)  # by a redirect
        for path in (f"/{INDEX}/find-links/", f"/{INDEX}/find-links"):
            status, headers, body = self.get(path, Accept_Encoding="gzip")
            self.assertEqual((status, headers["Content-Type"], headers["Content-Encoding"]), (200, "text/html; charset=utf-8", None))
            self.assertEqual(body, (self.tree / INDEX / "find-links/index.html").read_bytes())
            self.assertEqual(headers["Content-Security-Policy"], self.farm.get(f"/{INDEX}/find-links/")[1]["Content-Security-Policy"])

    def check_compression(self):
        page = f"/{INDEX}/simple/yard-many/"
        plain = self.get(page)[2]
        status, headers, body = self.get(page, Accept_Encoding="gzip")
        self.assertEqual((status, headers["Content-Encoding"]), (200, "gzip"))
        self.assertEqual(body, (self.tree / f"{page[1:]}index.html.gz").read_bytes())
        self.assertLess(len(body), len(plain))
        texts = [text for text in self.tree.rglob("*") if text.suffix in (".html", ".json", ".txt") and text.stat().st_size >= 1024
                 and not {".wheelyard", "find-links"} & set(text.parts)]
        self.assertLessEqual({"index.html", "index.json"}, {text.name for text in texts})
        for text in texts:
            for suffix in (".gz", ".zst"):
                self.assertTrue(text.with_name(text.name + suffix).is_file(), text)

    def check_files(self):
        sha256 = sha256_of(self.wheel)
        for name in (self.wheel.name, self.wheel.name.replace("+", "%2B")):
            status, headers, body = self.get(f"/{INDEX}/files/{sha256[:2]}/{sha256}/{name}")
            self.assertEqual((status, body, headers["Content-Type"]), (200, self.wheel.read_bytes(), "application/octet-stream"))
            self.assertEqual(headers["Accept-Ranges"], "bytes")
            self.assertIn("immutable", headers["Cache-Control"])
        self.assertEqual(self.get(f"/{INDEX}/files/{sha256[:2]}/{sha256}/{self.wheel.name}", Range="bytes=2-5")[2],
                         self.wheel.read_bytes()[2:6])
        self.assertEqual(self.get(f"/{INDEX}/simple/catalogue.txt")[0], 200)

    def check_own_files_are_hidden(self):
        for path in ("/.wheelyard/published.json", f"/{INDEX}/simple/.index.html.tmp.0"):
            self.assertEqual(self.get(path)[0], 404)

    def check_pages_for_people(self):
        project = f"/{INDEX}/project/yard-nginx/"
        paths = ["/", f"/{INDEX}/project/", project, f"/{INDEX}/builds/", f"/{INDEX}/project/search.json", f"{project}feed.xml"]
        paths += sorted({link for path in paths[:4] for link in
                         re.findall(r'(?:href|src)="(?:\.\./)*([^"/]+\.(?:css|js|svg))"', self.get(path)[2].decode())})
        self.assertGreaterEqual(len(paths), 11)
        for path in paths:
            path = "/" + path.removeprefix("/")
            with self.subTest(path):
                status, headers, _ = self.get(path)
                served = self.farm.get(path)[1]
                self.assertEqual(status, 200)
                for field in ("Content-Type", "Content-Security-Policy", "X-Content-Type-Options", "Cache-Control"):
                    self.assertEqual(headers[field], served[field], field)
        self.assertEqual(self.get(project.rstrip("/"))[0], 200)  # by a redirect
        if why_no_browser():
            return
        browser = Browser(self.url)
        self.addCleanup(browser.quit)
        browser.open("/")
        browser.find("[name=q]").send_keys("yard-ngi")
        deadline = time.monotonic() + START_LIMIT_S
        while browser.texts("#results h3 a") != ["yard-nginx"]:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        browser.link("yard-nginx").click()
        self.assertEqual(browser.find("#install-line").text,
                         f"pip install --index-url {self.url}/{INDEX}/simple/ yard-nginx==1.0+site.1")
        self.assertNotEqual(browser.run("return document.styleSheets[0].cssRules.length"), 0)
        # What only a server has is asked for, and missed: the page on configuration.
        self.assertEqual([text for text in browser.complaints() if "404" not in text and "403" not in text], [])

    def check_below_a_path(self):
        for page in (f"{INDEX}/simple", f"{INDEX}/simple/yard-nginx", f"{INDEX}/project", f"{INDEX}/project/yard-nginx", f"{INDEX}/builds"):
            connection = http.client.HTTPConnection("127.0.0.1", urllib.parse.urlsplit(self.url).port, timeout=COMMAND_TIMEOUT_S)
            connection.request("GET", f"/{page}")
            answer = connection.getresponse()
            self.assertEqual((answer.status, answer.headers["Location"]), (301, page.rpartition("/")[2] + "/"))
            connection.close()
        with WebServer("haproxy", self.folder / "haproxy", urllib.parse.urlsplit(self.url).port, "/a/b/") as above:
            self.check_clients(above.url, "below")

    def check_clients(self, url, folder):
        farm = PlainFarm(self.farm, url)
        target = self.folder / folder
        for pip in ("pip-old", "pip-debian", "pip-new"):  # the first by HTML, the last two by JSON
            self.assert_ran(pip_install(farm, pip, target / pip, "Yard_Nginx==1.0+site.1"))
            self.assertEqual(installed_value(pip, target / pip, "yard_nginx"), "11")
        self.assert_ran(subprocess.run(
            [CLIENTS / "uv/bin/uv", "pip", "install", "--no-config", "--no-cache", "--python", CLIENTS / "pip-new/bin/python",
             "--target", target / "uv", "--index-url", farm.simple_url(INDEX), "yard-nginx"],
            env=self.farm.environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S))
        self.assertEqual(installed_value("pip-new", target / "uv", "yard_nginx"), "11")


if __name__ == "__main__":
    main()
