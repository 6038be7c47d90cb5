"""The web UI as a server and a plain tree have it: valid HTML within a byte budget, policy and caching, errors, and
in a browser (full tests): misspelled names, a request with its log, the page for operators."""

import json
import re
import shutil
import subprocess
import time
import unittest
import urllib.error
import urllib.request
from xml.etree import ElementTree

from support.browser import Browser, why_no_browser
from support.case import FarmCase, main
from support.clients import RawUpload, installed_value, pip_install
from support.farm import INDEX
from support.full import full
from support.package_index import PackageIndex, write_sdist
from support.site import PYTHON_VERSION, Site
from support.wheels import Wheel

PATIENCE_S = 240
MAX_FIRST_LOAD_BYTES = 60_000
HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>"


class PagesCase(FarmCase):
    def setUp(self):
        super().setUp()
        lines = (f"Keywords: {HOSTILE}", f"Project-URL: {HOSTILE}, https://example.org/", "Project-URL: Bad, javascript:alert(1)",
                 "Requires-Dist: yard-other>=1")
        for wheel in (Wheel("Yard.Pages", "1.0", metadata_lines=lines), Wheel("yard-other", "2.0")):
            upload = RawUpload(self.farm, self.token, wheel.write(self.folder))
            self.assertEqual(upload.send()[0], 200)
        self.farm.wait_for_late_pages()

    def get(self, path, headers=None):
        request = urllib.request.Request(self.farm.url + path, headers=headers or {})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as reply:
                return reply.status, reply.read().decode(), reply.headers
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(), error.headers

    def wait_for(self, condition):
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def pages(self):
        return ["/", f"/{INDEX}/project/", f"/{INDEX}/project/yard-pages/", f"/{INDEX}/builds/", f"/{INDEX}/", "/api/v1/"]


class PagesTest(PagesCase):
    def setUp(self):
        super().setUp()
        report = {"format": "wheelyard.site/1", "site": "yard", "index": INDEX, "time": "2026-11-20T12:00:00.000000Z", "pythons": ["3.11"],
                  "nodes": [{"name": "any", "machine": "x86_64"}], "failures": [{"attempt": "w1", "package": "broken", "version": "1", "python": "3.11", "cause": HOSTILE}]}
        request = urllib.request.Request(f"{self.farm.url}/api/v1/indexes/{INDEX}/sites/yard", json.dumps(report).encode(),
                                         {"Authorization": f"Bearer {self.token}"}, method="PUT")
        urllib.request.urlopen(request, timeout=PATIENCE_S).close()
        self.wait_for(lambda: "yard-other</a>" in self.get(f"/{INDEX}/site/yard/")[1])

    def pages(self):
        return ["/", f"/{INDEX}/site/", f"/{INDEX}/site/yard/", *super().pages()[1:]]

    def test_every_page_is_within_its_budget_and_loads_only_from_this_server(self):
        for path in self.pages():
            status, html, headers = self.get(path)
            self.assertEqual(status, 200, path)
            policy = headers["Content-Security-Policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertEqual(re.findall(r"<script>|<style|style=| on\w+=\"|<img", html), [], path)
            loaded = len(html)
            for link in re.findall(r'(?:<link rel="stylesheet" href|<script src)="([^"]*)"', html):
                self.assertNotIn("//", link)
                asset, body, asset_headers = self.get("/" + link.replace("../", "").lstrip("/"))
                self.assertEqual(asset, 200, link)
                self.assertIn("immutable", asset_headers["Cache-Control"])
                self.assertNotIn("unsafe", asset_headers["Content-Security-Policy"])
                loaded += len(body)
            self.assertLess(loaded, MAX_FIRST_LOAD_BYTES, path)

    def test_the_tree_has_the_same_pages_and_the_check_finds_nothing(self):
        for path in self.pages()[:6]:  # those of the tree
            file = self.farm.tree / path.strip("/") / "index.html"
            self.wait_for(lambda: file.read_text() == self.get(path)[1])  # the server may just write it
        self.assert_ran(self.farm.run("wheelyard-indexer", "check", "--to", self.farm.tree, "--store", self.farm.data))

    def test_the_feed_is_valid_atom(self):
        feed = ElementTree.fromstring(self.get(f"/{INDEX}/project/yard-pages/feed.xml")[1])
        atom = "{http://www.w3.org/2005/Atom}"
        self.assertEqual(feed.tag, atom + "feed")
        entries = feed.findall(atom + "entry")
        self.assertEqual([entry.findtext(atom + "title") for entry in entries], ["yard_pages-1.0-py3-none-any.whl"])
        self.assertTrue(feed.findtext(f"{atom}author/{atom}name"))
        for part in (feed, *entries):
            for name in ("id", "title", "updated"):
                self.assertEqual(len(part.findall(atom + name)), 1, name)
            self.assertRegex(part.findtext(atom + "id"), r"^urn:[a-z0-9]+:.+")
            self.assertRegex(part.findtext(atom + "updated"), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
            self.assertEqual([link.get("href")[:2] for link in part.findall(atom + "link") if link.get("rel") == "alternate"], ["./"])
        self.assertEqual([link.get("href") for link in feed.findall(atom + "link") if link.get("rel") == "self"], ["feed.xml"])

    def test_the_feed_of_a_site_is_valid_atom_too(self):
        feed = ElementTree.fromstring(self.get(f"/{INDEX}/site/yard/feed.xml")[1])
        atom = "{http://www.w3.org/2005/Atom}"
        entries = feed.findall(atom + "entry")
        self.assertEqual(sorted(entry.findtext(atom + "title") for entry in entries), ["yard-other 2.0 for Python any 3 on any", "yard-pages 1.0 for Python any 3 on any"])
        for part in (feed, *entries):
            for name in ("id", "title", "updated"):
                self.assertEqual(len(part.findall(atom + name)), 1, name)
            self.assertRegex(part.findtext(atom + "id"), r"^urn:[a-z0-9]+:.+")
        self.assertEqual(len({entry.findtext(atom + "id") for entry in entries}), 2)

    def test_the_feed_of_failed_builds_is_valid_atom_and_the_page_of_builds_names_it(self):
        feed = ElementTree.fromstring(self.get(f"/{INDEX}/builds/feed.xml")[1])
        atom = "{http://www.w3.org/2005/Atom}"
        self.assertEqual(feed.tag, atom + "feed")
        for part in (feed, *feed.findall(atom + "entry")):
            for name in ("id", "title", "updated"):
                self.assertEqual(len(part.findall(atom + name)), 1, name)
        self.assertIn('<link rel="alternate" type="application/atom+xml" href="feed.xml">', self.get(f"/{INDEX}/builds/")[1])

    def test_other_spellings_lead_to_the_project_and_errors_are_pages_for_browsers(self):
        status, html, _ = self.get(f"/{INDEX}/project/Yard.Pages")
        self.assertEqual(status, 200)
        self.assertIn("yard-pages==1.0", html)
        browser = {"Accept": "text/html,application/xhtml+xml"}
        status, html, headers = self.get(f"/{INDEX}/project/missing/", browser)
        self.assertEqual((status, headers.get_content_type()), (404, "text/html"))
        self.assertIn("style.", html)
        self.assertIn('data-wanted="missing"', html)
        self.assertIn(f'href="../../../{INDEX}/builds/?package=missing"', html)
        self.assertEqual(headers["Vary"].count("Accept"), 1)
        status, body, headers = self.get(f"/{INDEX}/project/missing/")
        self.assertEqual((status, json.loads(body)["code"]), (404, "file.not_found"))
        self.assertIn("--request", json.loads(body)["advice"])

    def test_a_page_of_another_site_changes_nothing(self):
        token = self.farm.create_token(name="operator", actions=("yank",))
        name = "yard_other-2.0-py3-none-any.whl"
        path = f"/api/v1/indexes/{INDEX}/files/{name}/yank"
        # For the other tests, whose pages show it: those of before stay for a moment only.
        self.addCleanup(lambda: self.assert_ran(self.farm.run("wheelyard-registry", "unyank", INDEX, name, "-c", self.farm.config)))
        body = json.dumps({"format": "wheelyard.change/1", "reason": "because"}).encode()
        for field, value, expected in (("Sec-Fetch-Site", "cross-site", 403), ("Origin", "http://evil.example", 403), ("Origin", "null", 403),
                                       ("Origin", self.farm.url, 200)):
            request = urllib.request.Request(self.farm.url + path, body, {"Authorization": f"Bearer {token}", field: value})
            try:
                with urllib.request.urlopen(request, timeout=PATIENCE_S) as reply:
                    status, code = reply.status, ""
            except urllib.error.HTTPError as error:
                status, code = error.code, json.loads(error.read())["code"]
            self.assertEqual((status, code), (expected, "" if expected == 200 else "request.other_site"), field + value)

    @unittest.skipUnless(shutil.which("tidy"), "tidy is not installed")
    def test_every_page_is_valid_html(self):
        for path in self.pages():
            checked = subprocess.run(["tidy", "-e", "-q", "--drop-empty-elements", "no"], input=self.get(path)[1],
                                     capture_output=True, text=True)
            # An attribute of ARIA 1.1; Debian's tidy knows 1.0.
            unknown = [line for line in checked.stderr.splitlines() if '<a> proprietary attribute "aria-current"' not in line]
            self.assertEqual(unknown, [], path)


class BrowserCase(PagesCase):
    def setUp(self):
        super().setUp()
        self.browser = Browser(self.farm.url, ("--host-resolver-rules=MAP wheels.example.org 127.0.0.1",)).driver
        self.addCleanup(self.browser.quit)

    def open(self, path):
        self.browser.get(self.farm.url + path)

    def complaints(self):
        """Errors of the browser, such as violations of the policy. A missing status.json is none."""
        return [entry["message"] for entry in self.browser.get_log("browser") if "status.json" not in entry["message"]]

    def value_of(self, name):
        from selenium.webdriver.common.by import By
        return self.browser.find_element(By.NAME, name).get_attribute("value")


# system/browser is the part that every run has.
@unittest.skipIf(why_no_browser(), why_no_browser())
@full
class BrowserTest(BrowserCase):
    def test_search_finds_a_project_by_keyboard_and_leads_to_its_install_line(self):
        from selenium.webdriver.common.by import By
        from selenium.webdriver.common.keys import Keys
        self.open(f"/{INDEX}/project/")
        box = self.browser.find_element(By.NAME, "q")
        box.send_keys("Yard_Pa")
        self.wait_for(lambda: self.browser.find_element(By.ID, "count").text == "1 project")
        link = self.browser.find_element(By.CSS_SELECTOR, "#results a")
        self.assertEqual(link.text, "yard-pages")
        link.send_keys(Keys.ENTER)
        self.wait_for(lambda: "Yard.Pages" in self.browser.title)
        line = self.browser.find_element(By.ID, "install-line").text
        self.assertEqual(line, f"pip install --index-url {self.farm.simple_url()} yard-pages==1.0")
        self.assertEqual(self.complaints(), [])

    def test_a_misspelled_name_finds_its_neighbour_and_leads_to_the_request(self):
        from selenium.webdriver.common.by import By
        self.open(f"/{INDEX}/project/?q=yard_pagse")
        self.wait_for(lambda: "Names like it" in self.browser.find_element(By.ID, "count").text)
        self.assertEqual([link.text for link in self.browser.find_elements(By.CSS_SELECTOR, "#results a")], ["yard-pages"])
        self.browser.find_element(By.LINK_TEXT, "Ask for yard-pagse").click()
        self.wait_for(lambda: self.value_of("package") == "yard-pagse")
        self.assertEqual(self.complaints(), [])

    def post(self, path, token, body, method="POST"):
        data = json.dumps(body).encode() if isinstance(body, dict) else body
        request = urllib.request.Request(self.farm.url + path, data, {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as reply:
            return json.loads(reply.read())

    def test_a_reader_asks_for_a_wheel_follows_its_log_and_cancels_it(self):
        from selenium.webdriver.common.by import By
        find = self.browser.find_element
        agent = self.farm.create_token(name="agent", actions=("build",))
        self.open(f"/{INDEX}/project/yard-pages/")
        find(By.LINK_TEXT, "ask for it").click()
        self.wait_for(lambda: self.value_of("package") == "yard-pages")
        answer = find(By.ID, "request-answer")
        for name, value in (("version", "9.9"), ("python", "3.12"), ("token", "wy_000000000000_wrong")):
            find(By.NAME, name).send_keys(value)
        find(By.NAME, "token").submit()
        self.wait_for(lambda: "token" in answer.text)
        find(By.NAME, "token").clear()
        find(By.NAME, "token").send_keys(self.farm.create_token(name="anna", actions=("task",)))
        find(By.NAME, "token").submit()
        def state():  # in one step: the script replaces these elements
            return self.browser.execute_script("return [...document.querySelectorAll('#requests .state')].map(item => item.textContent)")
        self.wait_for(lambda: state() == ["asked for"])

        claimed = self.post("/api/v1/tasks/claim", agent, {"format": "wheelyard.claim/2", "index": INDEX, "agent": "yard.login1", "pythons": ["3.12"],
                                                           "accelerators": [], "room": 1})["tasks"][0]
        self.assertEqual(claimed["asked_by"], "anna")
        self.wait_for(lambda: state() == ["building"])
        find(By.CSS_SELECTOR, "#requests summary").click()
        build = {"id": "w1", "package": "yard-pages", "version": "9.9", "python": "3.12", "state": "running", "began": claimed["changed"]}
        self.post(f"/api/v1/indexes/{INDEX}/sites/yard", agent, {"format": "wheelyard.site/1", "site": "yard", "index": INDEX,
                                                                 "time": claimed["changed"], "attempts": [build]}, "PUT")
        for offset, text in ((0, b"<b>one</b>\n"), (11, b"two\n")):
            self.post(f"/api/v1/indexes/{INDEX}/builds/yard/w1/log?offset={offset}", agent, text)
            self.wait_for(lambda: find(By.CSS_SELECTOR, "#requests .log").text.endswith(text.decode().strip()))
        self.assertEqual(find(By.CSS_SELECTOR, "#requests .log").text, "<b>one</b>\ntwo")

        self.browser.refresh()
        self.wait_for(lambda: state() == ["building"])
        self.wait_for(lambda: self.browser.find_elements(By.CSS_SELECTOR, '[aria-label="Cancel yard-pages 9.9"]'))
        find(By.CSS_SELECTOR, '[aria-label="Cancel yard-pages 9.9"]').click()
        find(By.CSS_SELECTOR, "dialog p:last-child button").click()
        self.wait_for(lambda: state() == ["cancelled"])
        self.assertEqual([entry for entry in self.complaints() if "Invalid or expired token" not in entry], [])

    def test_an_operator_releases_a_file_and_revokes_a_token(self):
        from selenium.webdriver.common.by import By
        find = self.browser.find_element
        name = "yard_other-2.0-py3-none-any.whl"
        self.assert_ran(self.farm.run("wheelyard-registry", "quarantine", INDEX, name, "--reason", "<b>odd</b>", "-c", self.farm.config))
        self.farm.create_token(name="leaver")

        def rows(table):
            return self.browser.execute_script(f"return [...document.querySelectorAll('#{table} tbody tr')].map(row => row.textContent)")

        self.open("/api/v1/")
        find(By.NAME, "token").send_keys(self.farm.create_token(name="operator", actions=("quarantine", "delete", "token", "upload", "audit"),
                                                                projects=("*",)))
        find(By.NAME, "token").submit()
        self.wait_for(lambda: len(rows("quarantine")) == 1 and name in rows("quarantine")[0])
        self.assertIn("<b>odd</b>", rows("quarantine")[0])
        self.wait_for(lambda: len(rows("storage")) == 2)
        self.assertRegex(rows("storage")[0], r"^yard-(other|pages)1\d+ KiB\d{4}-")
        kept = find(By.XPATH, "//*[@id='storage']/../preceding-sibling::p[1]").text
        self.assertRegex(kept, r"^2 files, \d+ KiB; in quarantine 1 file, \d+ KiB; the disk has .* left\.$")
        self.assertEqual(self.farm.run("wheelyard-registry", "storage", INDEX, "-c", self.farm.config).stdout.split("; the disk")[0].count("1 file"), 1)
        def act(title, reason):
            find(By.CSS_SELECTOR, f'[aria-label="{title}"]').click()
            find(By.CSS_SELECTOR, "dialog [name=reason]").send_keys(reason)
            find(By.CSS_SELECTOR, "dialog p:last-child button").click()
        act(f"Release {name}", "looked at it")
        self.wait_for(lambda: rows("quarantine") == ["None."])
        self.assertIn(name, self.get(f"/{INDEX}/simple/yard-other/")[1])
        self.wait_for(lambda: find(By.XPATH, "//*[@id='operate-answer']/following-sibling::div[1]//table[@id='quarantine']"))
        self.assertEqual(find(By.ID, "operate-answer").text, f"Release {name}: done. Undo: Quarantine")
        act("Revoke the token leaver", "has left")
        self.wait_for(lambda: any("leaver" in row and "revoked" in row for row in rows("tokens")))
        audit = self.farm.run("wheelyard-registry", "audit", "-c", self.farm.config).stdout
        self.assertIn("looked at it", audit)
        self.assertEqual([entry for entry in self.complaints() if "403" not in entry], [])

    def test_the_install_line_of_a_plain_http_server_names_the_host_to_trust(self):
        from selenium.webdriver.common.by import By
        self.browser.get(f"http://wheels.example.org:{self.farm.port}/{INDEX}/project/yard-pages/")
        line = self.browser.find_element(By.ID, "install-line").text
        self.assertEqual(line, f"pip install --index-url http://wheels.example.org:{self.farm.port}/{INDEX}/simple/ "
                               "--trusted-host wheels.example.org yard-pages==1.0")


@unittest.skipIf(why_no_browser(), why_no_browser())
@full
class RealBuildTest(BrowserCase):
    def test_a_real_build_is_followed_from_queued_to_installable(self):
        from selenium.webdriver.common.by import By
        find = self.browser.find_element
        gate = self.folder / "gate"  # the build waits for it
        wait = f"echo 'half of the build'; until [ -e {gate} ]; do sleep 0.1; done"
        sources = self.enterContext(PackageIndex(self.folder / "sources"))
        write_sdist(sources.folder, "yard-real", "1.0", value=7)
        site = Site(self.farm, sources, self.farm.create_token(name="builder", actions=("build",)), {},
                    {"yard-real": f'[build]\nbefore = ["{wait}"]\n'}, 'kind = "local"\nmax_jobs = 1\n', 'claim_tasks = "any"')
        self.open(f"/{INDEX}/project/yard-real/")
        find(By.LINK_TEXT, "Ask for a wheel").click()
        self.wait_for(lambda: self.value_of("package") == "yard-real")
        token = self.farm.create_token(name="asker", actions=("task",))
        for name, value in (("version", "1.0"), ("python", PYTHON_VERSION), ("token", token)):
            find(By.NAME, name).send_keys(value)
        find(By.NAME, "token").submit()

        def texts(selector):  # in one step: the script replaces these elements
            return self.browser.execute_script("return [...document.querySelectorAll(arguments[0])].map(part => part.textContent)", selector)
        self.wait_for(lambda: texts("#requests .state") == ["asked for"])
        agent = site.start("run")
        self.addCleanup(agent.communicate)
        self.addCleanup(gate.touch)  # also if the test fails: the build ends
        self.wait_for(lambda: texts("#requests .state") == ["building"])
        find(By.CSS_SELECTOR, "#requests summary").click()
        self.wait_for(lambda: "half of the build" in texts("#requests .log")[0])
        gate.touch()
        self.wait_for(lambda: texts("#requests .state") == ["done"])
        self.assertIn("Successfully built", texts("#requests .log")[0])
        find(By.LINK_TEXT, "yard-real 1.0").click()
        self.wait_for(lambda: texts("#title .state") == ["done"])
        find(By.LINK_TEXT, "Install yard-real").click()
        self.wait_for(lambda: texts("#install-line") != [])
        line = find(By.ID, "install-line").text.split()
        self.assertEqual(line, ["pip", "install", "--index-url", self.farm.simple_url(), "yard-real==1.0"])
        self.assert_ran(pip_install(self.farm, "pip-new", self.folder / "installed", line[-1]))
        self.assertEqual(installed_value("pip-new", self.folder / "installed", "yard_real"), "7")
        made_by = texts("details[open] dd")
        self.assertIn("sdist", made_by)
        self.assertTrue(any(text.startswith("wheelyard-builder logs ") for text in made_by), made_by)
        self.assertEqual([entry for entry in self.complaints() if "404" not in entry], [])


if __name__ == "__main__":
    main()
