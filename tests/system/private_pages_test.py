"""A private index in a browser: who enters a token reads its pages by a cookie, which reads and nothing else, and which pages of other
sites and of another port cannot use. What is sent instead of a cookie, by hand, reads nothing."""

import http.client
import http.server
import json
import threading
import unittest

from support.browser import Browser, why_no_axe, why_no_browser
from support.case import FarmCase, main
from support.clients import RawUpload
from support.farm import COMMAND_TIMEOUT_S, Farm
from support.log_in import wait_until
from support.wheels import Wheel

LAB, OTHER, OPEN = "lab", "other", "open"
SECRET = "numbat"
HTML = "text/html,application/xhtml+xml"
# What a page of another origin may try on the private addresses of `arguments[0]`; how each ends.
ATTACK = """
const [server, done] = arguments, page = server + "/lab/simple/numbat/";
const ended = (name, make) => new Promise(end => {
  const part = document.createElement(name);
  part.onload = () => end("loaded");
  part.onerror = () => end("failed");
  make(part);
  document.body.append(part);
});
const read = (url, more) => fetch(url, {credentials: "include", ...more}).then(reply => reply.type === "opaque" ? "opaque" : reply.text(), () => "refused");
Promise.all([
  read(page), read(page, {mode: "no-cors"}), read(server + "/"), read(page, {headers: {Authorization: "Cookie x"}}),
  read(server + "/api/v1/private-indexes"),
  ended("img", part => { part.src = server + "/lab/simple/numbat/"; }),
  ended("script", part => { part.src = server + "/lab/status.json"; }),
  ended("iframe", part => { part.src = page; }).then(() => { try { return document.querySelector("iframe").contentDocument.body.textContent; } catch { return "closed"; } }),
]).then(done);
"""


class Elsewhere(http.server.BaseHTTPRequestHandler):
    """A page of somebody else's, with a link to a private page and a form that uploads there."""

    def do_GET(self):
        body = (f'<!DOCTYPE html><title>elsewhere</title><a href="{self.server.target}/lab/simple/numbat/">numbat</a>'
                f'<form method="post" enctype="multipart/form-data" action="{self.server.target}/lab/legacy/"><button>Send</button></form>').encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class PrivatePagesTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        cls.farm = cls.enterClassContext(Farm((OPEN, LAB, OTHER), index_settings={
            LAB: 'read = "token"\ntitle = "Wheels of our laboratory"', OTHER: 'read = "token"'}))
        cls.farm.start()
        cls.writer = cls.farm.create_token(LAB, OTHER, name="writer", actions=("*",))

    def setUp(self):
        super().setUp()
        self.reader = self.farm.create_token(LAB, name="reader", actions=("read",))
        for index in (LAB, OTHER):
            status, problem = RawUpload(self.farm, self.writer, Wheel(SECRET).write(self.folder), index).send()
            self.assertEqual(status, 200, problem)

    def ask(self, path: str, method: str = "GET", **fields: str) -> tuple[int, http.client.HTTPMessage, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.farm.port, timeout=COMMAND_TIMEOUT_S)
        try:
            connection.request(method, path, headers={name.replace("_", "-"): value for name, value in fields.items()})
            reply = connection.getresponse()
            return reply.status, reply.headers, reply.read().decode()
        finally:
            connection.close()

    def cookies(self, token: str, path: str = "/api/v1/private-indexes", **fields: str) -> list[str]:
        status, headers, body = self.ask(path, Authorization="Bearer " + token, **fields)
        self.assertEqual(status, 200, body)
        return headers.get_all("Set-Cookie") or []

    def revoke(self, token: str) -> None:
        self.assert_ran(self.farm.run("wheelyard-registry", "token", "revoke", token[:15], "-c", self.farm.config))

    def test_a_cookie_reads_its_index_and_changes_nothing_until_its_token_is_revoked(self):
        (sent,) = self.cookies(self.reader)
        self.assertRegex(sent, r"^wheelyard-read=wy_[0-9a-f]{12}-[0-9]+-[0-9a-f]{64}; Path=/lab/; HttpOnly; SameSite=Strict$")
        self.assertEqual(len(self.cookies(self.writer)), 2)
        self.assertEqual(self.cookies(self.farm.create_token(OPEN, name="of-open", actions=("read",))), [])
        self.assertEqual(self.ask("/api/v1/private-indexes")[0], 401)
        cookie = sent.split(";")[0]
        page = f"/{LAB}/simple/{SECRET}/"
        for path in (page, f"/{LAB}/simple/", f"/{LAB}/"):
            status, headers, body = self.ask(path, Cookie=f"a=b; {cookie}", Sec_Fetch_Site="same-origin", Accept=HTML)
            self.assertEqual((status, "Access-Control-Allow-Origin" in headers), (200, False), body)
            self.assertIn("Cookie", ", ".join(headers.get_all("Vary")))
            self.assertTrue(headers["Cache-Control"].startswith("private"), headers)
        self.assertEqual(self.ask(page, "HEAD", Cookie=cookie)[0], 200)
        self.assertEqual(self.ask(page, Cookie=f"wheelyard-read=planted; {cookie}")[0], 200)
        # Nothing but reading, and nothing of another index.
        for method, path in (("POST", f"/{LAB}/legacy/"), ("POST", f"/{LAB}/uploads/"), ("PUT", page), ("DELETE", page), ("GET", f"/{OTHER}/simple/"),
                             ("GET", "/api/v1/private-indexes"), ("POST", f"/api/v1/tokens/{self.reader[:15]}/revoke")):
            self.assertEqual(self.ask(path, method, Cookie=cookie)[0], 401, f"{method} {path}")
        self.assertNotIn(f'"{LAB}"', self.ask("/", Cookie=cookie, Accept="application/json")[2])
        value = cookie.split("=")[1]
        for scheme in ("Bearer", "Cookie"):
            self.assertEqual(self.ask(f"/api/v1/indexes/{LAB}/access", Authorization=f"{scheme} {value}")[0] // 100, 4, scheme)
        # A page of another origin, also of this host's other ports.
        for fields in ({"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}, {"Origin": "http://127.0.0.1:1"}):
            self.assertEqual(self.ask(page, Cookie=cookie, **fields)[0], 401, fields)
        token, end, mac = value.split("-")
        other = self.farm.create_token(LAB, name="other", actions=("read",))[:15]
        for forged in ("", "x", value * 3, value[:-1], f"{token}-{int(end) + 1}-{mac}", f"{other}-{end}-{mac}", f"{token}-{end}-{'0' * 64}", f"{token}-1-{mac}",
                       f"{token}-{'9' * 30}-{mac}", "%00" * 20, "=" * 64, self.reader, "\xff" * 90, "a" * 9000):
            status, headers, body = self.ask(page, Cookie=f"wheelyard-read={forged}")
            self.assertEqual((status, headers["WWW-Authenticate"]), (401, 'Bearer realm="wheelyard"'), forged)
            self.assertNotIn(SECRET, body)
        self.assertEqual(self.ask(page, Cookie=cookie)[0], 200)
        self.revoke(self.reader)
        self.assertEqual(self.ask(page, Cookie=cookie)[0], 401)
        self.assertNotIn(mac, self.farm.log.read_text())

    def test_a_cookie_has_the_path_below_which_a_proxy_shows_the_index(self):
        with Farm((LAB,), index_settings='read = "token"', settings='public_url = "https://wheels.example.org/pypi"') as farm:
            farm.start()
            self.farm, own = farm, self.farm
            self.addCleanup(setattr, self, "farm", own)
            token = farm.create_token(LAB, name="reader", actions=("read",))
            self.assertIn("; Path=/pypi/lab/; HttpOnly; SameSite=Strict; Secure", self.cookies(token)[0])
            # To close them needs no token, and says nothing of what there is.
            status, headers, body = self.ask("/api/v1/private-indexes/end?indexes=lab,,a%0Ab")
            self.assertEqual((status, json.loads(body)["indexes"], headers.get_all("Set-Cookie")),
                             (200, [], [f"wheelyard-read=; Path=/pypi/{name}/; HttpOnly; SameSite=Strict; Secure; Max-Age=0" for name in ("lab", "a%0Ab")]))

    def test_an_answer_has_16_cookies_and_the_front_page_has_no_archived_index(self):
        names = [f"lab{number}" for number in range(20)]
        with Farm(tuple(names), index_settings={name: 'read = "token"' + "\narchived = true" * (name < "lab19") for name in names}) as farm:
            farm.start()
            self.farm, own = farm, self.farm
            self.addCleanup(setattr, self, "farm", own)
            token = farm.create_token("*", name="reader", actions=("read",))
            status, headers, body = self.ask("/api/v1/private-indexes", Authorization="Bearer " + token)
            self.assertEqual((status, len(headers.get_all("Set-Cookie"))), (200, 16), body)
            self.assertLess(sum(len(name) + len(value) + 4 for name, value in headers.items()), 4096)  # proxy_buffer_size of nginx
            shown = json.loads(body)["indexes"]
            self.assertEqual(len(shown), 16)
            listed = [name for name in names if name >= "lab19"]
            self.assertEqual({index["name"] for index in shown if index["listed"]}, set(listed))
            self.assertIn(f"/{listed[0]}/", headers.get_all("Set-Cookie")[0])

    def enter(self, browser: Browser, token: str) -> None:
        browser.find("#own-token [name=token]").send_keys(token)
        browser.find("#own-token button").click()

    @unittest.skipIf(why_no_browser(), why_no_browser())
    def test_a_browser_reads_private_pages_and_other_sites_do_not(self):
        browser = Browser(self.farm.url)
        self.addCleanup(browser.quit)
        page = f"/{LAB}/simple/{SECRET}/"
        browser.open(page)  # no dialog, which would hold up the driver
        self.assertIn("401", browser.find("h1").text)
        if not why_no_axe():
            self.assertEqual(browser.barriers(), [])
        browser.find("#needs-token a").click()
        wait_until(lambda: browser.path() == "/api/v1/login/" and browser.find("#own-token").is_displayed(), "no field for a token")
        self.enter(browser, "wy_000000000000_" + "0" * 64)
        wait_until(lambda: "does not know this token" in browser.find("#login-answer").text, "an unknown token opens something")
        browser.find("#own-token [name=token]").clear()
        self.enter(browser, self.reader)
        wait_until(lambda: browser.texts("#login-private h3 a") == [LAB], "the private index is not listed")
        if not why_no_axe():
            self.assertEqual(browser.barriers(), [])
        browser.find("#login-back").click()
        wait_until(lambda: browser.path() == page, "the log-in does not lead back")
        self.assertIn(SECRET, browser.find("body").text)
        (cookie,) = browser.driver.get_cookies()
        self.assertEqual((cookie["name"], cookie["path"], cookie["httpOnly"], cookie["sameSite"], "expiry" in cookie),
                         ("wheelyard-read", f"/{LAB}/", True, "Strict", False))
        self.assertEqual(browser.run("return document.cookie"), "")
        browser.open("/")
        wait_until(lambda: LAB in browser.texts("#indexes h3 a"), "the front page does not list the private index")
        self.assertNotIn(OTHER, browser.texts("#indexes h3 a"))
        browser.link(LAB).click()
        wait_until(lambda: browser.path() == f"/{LAB}/" and browser.find("h1").text, "its page does not open")
        self.assertIn("Wheels of our laboratory", browser.find("main").text)

        elsewhere = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
        elsewhere.target = self.farm.url
        threading.Thread(target=elsewhere.serve_forever, daemon=True).start()
        self.addCleanup(elsewhere.server_close)
        self.addCleanup(elsewhere.shutdown)
        # Of another host, and of another port of this one, for which the browser sends the cookie.
        for host in ("localhost", "127.0.0.1"):
            browser.driver.get(f"http://{host}:{elsewhere.server_port}/")
            browser.complaints()
            found = browser.driver.execute_async_script(ATTACK, self.farm.url)
            self.assertNotIn(SECRET, json.dumps(found), host)
            self.assertEqual((found[0], found[1], found[3:]), ("refused", "opaque", ["refused", "refused", "failed", "failed", "closed"]), host)
            said = [line for line in browser.complaints() if f"/{LAB}/" in line]
            self.assertTrue(any("401" in line for line in said), said)
            browser.find("form button").click()
            wait_until(lambda: browser.path() == f"/{LAB}/legacy/", "the form is not sent")
            self.assertRegex(browser.find("body").text, "page of another site|request.other_site")
            # A person who follows a link reads on: the page of the refusal loads the address again.
            browser.driver.back()
            wait_until(lambda: browser.driver.title == "elsewhere", "no way back")
            browser.link(SECRET).click()
            wait_until(lambda: browser.path() == page and SECRET in browser.find("body").text and "401" not in browser.driver.title, f"a link of {host} is a dead end")

        # What follows `#` is kept, also where the page of the refusal loads the address again.
        browser.driver.delete_all_cookies()
        browser.open(page + "#part")
        wait_until(lambda: SECRET in browser.find("body").text and browser.run("return location.hash") == "#part", "the fragment is lost")
        token = browser.run("return sessionStorage['wheelyard-token']")
        # A log-in that has ended leaves the log-out, also where no token is left.
        browser.run("sessionStorage.clear()")
        browser.open("/")
        browser.link("Log out").click()
        wait_until(lambda: browser.path() == "/api/v1/login/" and browser.find("#logout").is_displayed(), "there is no log-out without a token")
        self.assertTrue(browser.find("#own-token").is_displayed())
        # A token that was typed on another page lists private indexes, and opens none.
        browser.find("#logout").click()
        wait_until(lambda: "private pages are closed" in browser.find("#login-answer").text, "no log-out")
        self.assertEqual(browser.driver.get_cookies(), [])
        browser.run(f"sessionStorage['wheelyard-token'] = '{token}'")
        browser.open("/")
        wait_until(lambda: LAB in browser.texts("#indexes h3 a"), "the front page does not list the private index")
        browser.open(page)
        self.assertIn("401", browser.find("h1").text)
        # As if a log-in had ended before: a typed token has none of it.
        browser.open("/api/v1/login/")
        browser.run("sessionStorage['wheelyard-login-id'] = 'wy_000000000000'; sessionStorage['wheelyard-login-end'] = '2000-01-01T00:00:00Z'")
        wait_until(lambda: browser.find("#own-token").is_displayed(), "no field for a token")
        self.enter(browser, self.reader)
        wait_until(lambda: browser.texts("#login-private h3 a") == [LAB], "the private index is not listed")
        browser.find("#logout").click()
        wait_until(lambda: "private pages are closed" in browser.find("#login-answer").text, "no log-out")
        browser.open(page)
        self.assertIn("401", browser.find("h1").text)
        self.assertEqual(browser.driver.get_cookies(), [])


if __name__ == "__main__":
    main()
