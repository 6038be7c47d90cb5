"""The pages for people as a server and a plain tree have them: valid HTML within a byte budget, policy and caching, errors, and
with a browser (full tests): search, copy, no errors of the policy, light and dark, phone width, no script."""

import json
import os
import re
import shutil
import subprocess
import time
import unittest
import urllib.error
import urllib.request

from support.case import FarmCase, main
from support.clients import RawUpload
from support.farm import INDEX
from support.wheels import Wheel

PATIENCE_S = 60
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
        self.wait_for(lambda: "yard-other" in self.get(f"/{INDEX}/project/search.json")[1])

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
        return ["/", f"/{INDEX}/project/", f"/{INDEX}/project/yard-pages/", f"/{INDEX}/builds/", f"/{INDEX}/"]


class PagesTest(PagesCase):
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
                loaded += len(body)
            self.assertLess(loaded, MAX_FIRST_LOAD_BYTES, path)

    def test_the_tree_has_the_same_pages_and_the_check_finds_nothing(self):
        for path in self.pages()[:4]:
            file = self.farm.tree / path.strip("/") / "index.html"
            self.assertEqual(file.read_text(), self.get(path)[1])
        self.assert_ran(self.farm.run("wheelyard-indexer", "check", "--to", self.farm.tree, "--store", self.farm.data))

    def test_other_spellings_lead_to_the_project_and_errors_are_pages_for_browsers(self):
        status, html, _ = self.get(f"/{INDEX}/project/Yard.Pages")
        self.assertEqual(status, 200)
        self.assertIn("yard-pages==1.0", html)
        browser = {"Accept": "text/html,application/xhtml+xml"}
        status, html, headers = self.get(f"/{INDEX}/project/missing/", browser)
        self.assertEqual((status, headers.get_content_type()), (404, "text/html"))
        self.assertIn("style.", html)
        status, body, headers = self.get(f"/{INDEX}/project/missing/")
        self.assertEqual((status, json.loads(body)["code"]), (404, "file.not_found"))

    @unittest.skipUnless(shutil.which("tidy"), "tidy is not installed")
    def test_every_page_is_valid_html(self):
        for path in self.pages():
            checked = subprocess.run(["tidy", "-e", "-q", "--drop-empty-elements", "no"], input=self.get(path)[1],
                                     capture_output=True, text=True)
            self.assertEqual(checked.stderr, "", path)


@unittest.skipUnless(os.environ.get("WHEELYARD_FULL") == "1" and shutil.which("chromedriver"), "needs a browser: scripts/test --full")
class BrowserTest(PagesCase):
    def setUp(self):
        super().setUp()
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--host-resolver-rules=MAP wheels.example.org 127.0.0.1"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        self.addCleanup(self.browser.quit)

    def open(self, path):
        self.browser.get(self.farm.url + path)

    def complaints(self):
        """Errors of the browser, such as violations of the policy. A missing status.json is none."""
        return [entry["message"] for entry in self.browser.get_log("browser") if "status.json" not in entry["message"]
                and "favicon" not in entry["message"]]

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

    def test_the_install_line_of_a_plain_http_server_names_the_host_to_trust(self):
        from selenium.webdriver.common.by import By
        self.browser.get(f"http://wheels.example.org:{self.farm.port}/{INDEX}/project/yard-pages/")
        line = self.browser.find_element(By.ID, "install-line").text
        self.assertEqual(line, f"pip install --index-url http://wheels.example.org:{self.farm.port}/{INDEX}/simple/ "
                               "--trusted-host wheels.example.org yard-pages==1.0")

    def test_a_phone_needs_no_sideways_scrolling(self):
        self.browser.set_window_size(375, 800)
        for path in self.pages():
            self.open(path)
            wide = self.browser.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
            self.assertLessEqual(wide, 0, path)


if __name__ == "__main__":
    main()
