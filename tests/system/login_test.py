"""People log in with a real provider of OpenID Connect (npm oidc-provider): by page in a browser, once, and by device
code. What comes back reads a private index with pip, names the person in the audit log, ends with a word, and is gone after the log-out. What a used or a foreign
answer brings is refused."""

import json
import re
import secrets
import subprocess
import tempfile
import unittest
import urllib.parse
import urllib.request
from pathlib import Path

from support.browser import Browser, why_no_axe, why_no_browser
from support.case import main
from support.clients import RawUpload
from support.farm import BIN, CLIENTS, COMMAND_TIMEOUT_S, ROOT
from support.log_in import LAB, PATIENCE_S, LogInCase, Person, wait_until
from support.ports import free_port
from support.site import Site
from support.wheels import Wheel

PROVIDER = ROOT / "tests" / "system" / "support" / "oidc_provider" / "provider.mjs"
MODULES = CLIENTS / "oidc-provider"


def why_no_provider() -> str:
    return "" if (MODULES / ".complete").is_file() and (MODULES / "node").is_file() else "oidc-provider is not installed: scripts/prepare-clients"


@unittest.skipIf(why_no_provider(), why_no_provider())
class LoginTest(LogInCase):
    @classmethod
    def setUpClass(cls):
        port = free_port()
        cls.issuer = f"http://127.0.0.1:{port}"
        cls.make_farm(IDENTITY.format(issuer=cls.issuer))
        with open(cls.folder / "provider.log", "wb") as log:
            provider = subprocess.Popen([MODULES / "node", PROVIDER, MODULES, str(port), cls.redirect], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        cls.addClassCleanup(provider.wait)
        cls.addClassCleanup(provider.kill)
        wait_until(lambda: "listening" in (cls.folder / "provider.log").read_text(), "the provider does not start")
        cls.start_farm()

    def test_a_log_in_reads_with_pip_and_names_the_person_until_the_log_out(self):
        status, token = self.log_in("anna")
        self.assertEqual(status, 200, token)
        self.assertEqual((token["shown_name"], token["actions"], token["indexes"]), ("Anna Müller", ["read", "task"], [LAB]))
        self.assertEqual(token["created_by"], f"{self.issuer} anna")
        self.assertRegex(token["name"], r"^login:campus:[0-9a-f]{16} Anna Müller$")
        installed = self.pip(token["token"])
        self.assertEqual(installed.returncode, 0, installed.stderr)
        self.assertNotIn(token["token"].split("_")[2], self.farm.log.read_text())
        status, revoked = self.post(f"/api/v1/tokens/{token['id']}/revoke", {"format": "wheelyard.change/1", "reason": "logged out"}, token["token"])
        self.assertEqual((status, revoked["state"], revoked["revoked_by"]), (200, "revoked", token["name"].split()[0]))
        self.refused(401, "auth.login_ended", self.post(f"/api/v1/tokens/{token['id']}/revoke", {"format": "wheelyard.change/1"}, token["token"]))
        # Programs send what .netrc has: an ended token hinders no new log-in.
        begin = {"format": "wheelyard.login/1", "secret": secrets.token_hex(32)}
        self.assertEqual(self.post("/api/v1/login/campus/device", begin, token["token"])[0], 200)
        self.assertNotEqual(self.pip(token["token"]).returncode, 0)

    def test_what_another_or_an_earlier_log_in_brings_is_refused(self):
        secret = secrets.token_hex(32)
        answer, other = (self.answer_of_provider("anna", secret) for _ in range(2))
        self.refused(403, "login.refused", self.step("finish", secret=secret, **answer | {"code": other["code"]}))  # PKCE
        answer = self.answer_of_provider("anna", secret)
        self.assertEqual(self.step("finish", secret=secret, **answer)[0], 200)
        self.refused(400, "login.state", self.step("finish", secret=secret, **answer))

    def test_the_audit_log_tells_who_it_was_until_the_person_is_forgotten(self):
        status, token = self.log_in("emil", "publish")
        self.assertEqual(status, 200, token)
        status, problem = RawUpload(self.farm, token["token"], Wheel("kiwi").write(self.folder), LAB).send()
        self.assertEqual(status, 200, problem)

        auditor = self.farm.create_token("*", name="auditor", actions=("audit",))

        def last() -> dict:
            return self.get("/api/v1/audit?newest=1&project=kiwi", auditor)["events"][0]
        person = token["name"].split()[0]
        self.assertEqual((last()["actor"], last().get("actor_name")), (person, "Emil Nolde"))
        # Found by what lists show: the name, the hash, or both.
        for who, count in (("emil nolde", 1), (person, 1), (f"{person} Emil", 1), ("Nolde Emil", 0)):
            found = self.get(f"/api/v1/audit?newest=9&project=kiwi&who={urllib.parse.quote(who)}", auditor)["events"]
            self.assertEqual({event["actor"] for event in found}, {person} if count else set(), who)
        status, problem = self.post("/api/v1/tasks", {"format": "wheelyard.task/1", "index": LAB, "package": "kiwi", "version": "2.0", "python": "3.11"},
                                    token["token"])
        self.assertEqual(status, 200, problem)
        self.assertEqual(self.get("/api/v1/people", auditor)["names"].get(person), "Emil Nolde")
        secret = self.folder / "auditor"
        secret.write_text(self.farm.create_token("*", name="reader", actions=("audit", "task", "read", "quarantine")))

        def names_in(*command: str) -> set[str]:
            """Of the person, beside its hash."""
            said = self.farm.run("wheelyard-registry", *command)
            self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
            self.assertIn(person, said.stdout)
            return set(re.findall(person + r"( Emil Nolde)?", said.stdout))
        there = ("--url", self.farm.url, "--token-file", str(secret))
        shown = [("audit", "-c", str(self.farm.config)), *((*command, *where) for command in (("files", LAB), ("task", "list", LAB))
                                                            for where in (("-c", str(self.farm.config)), there))]
        self.assertEqual([names_in(*command) for command in shown], [{" Emil Nolde"}] * len(shown))
        forgotten = self.farm.run("wheelyard-registry", "token", "forget", "-c", self.farm.config, person)
        self.assertEqual((forgotten.returncode, forgotten.stdout.split()[1]), (0, "1"), forgotten.stderr)
        self.assertEqual((last()["actor"], last().get("actor_name")), (person, None))
        self.assertEqual([names_in(*command) for command in shown], [{""}] * len(shown))
        self.assertNotIn(person, self.get("/api/v1/people", auditor)["names"])
        self.refused(401, "auth.token_refused", RawUpload(self.farm, token["token"], Wheel("kiwi", "2.0").write(self.folder), LAB).send())
        for command in ("dump", "audit", "verify"):
            said = self.farm.run("wheelyard-registry", command, "-c", self.farm.config)
            self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
            self.assertNotIn("Emil", said.stdout)

    def test_whom_no_rule_fits_gets_no_token(self):
        self.refused(403, "login.no_rights", self.log_in("otto"))

    def shell_log_in(self, command: list, environment: dict[str, str]) -> subprocess.CompletedProcess:
        """A program logs in, while somebody enters its code in a browser."""
        program = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(program.kill)
        shown = ""
        while "or open http" not in shown:
            line = program.stderr.readline()
            self.assertTrue(line, shown)
            shown += line
        visitor = Person("anna")
        visitor.log_in(*visitor.open(re.search(r"or open (\S+)", shown)[1]))
        out, err = program.communicate(timeout=COMMAND_TIMEOUT_S)
        return subprocess.CompletedProcess(command, program.returncode, out, shown + err)

    def test_the_shell_logs_in_for_pip_uv_and_our_programs_which_say_when_it_has_ended(self):
        home = Path(tempfile.mkdtemp(dir=self.folder))
        netrc = home / ".netrc"
        other = "machine other.example login me password mine\n"
        elsewhere = home / "elsewhere"
        for file in (netrc, elsewhere):
            file.write_text(other)
        environment = self.farm.environment | {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "XDG_CONFIG_HOME": str(home / "config")}
        index = self.farm.simple_url(LAB)

        def run(*command, **more: str) -> subprocess.CompletedProcess:
            return subprocess.run(list(map(str, command)), env=environment | more, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
        site = Site(self.farm, None, self.admin, {}, index=LAB, name="login-site")
        done = self.shell_log_in(site.command("login"), environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        for part in ("Anna Müller", "read, task", "in the indexes: lab", "without its port", "wheelyard-builder logout"):
            self.assertIn(part, done.stdout)
        self.assertEqual((netrc.stat().st_mode & 0o777, netrc.read_text().startswith(other)), (0o600, True))
        token = netrc.read_text().split()[-1]
        self.assertNotIn(token, done.stdout + done.stderr)
        for words in ([CLIENTS / "pip-new/bin/python", "-m", "pip", "--isolated", "install", "--no-cache-dir"],
                      [CLIENTS / "uv/bin/uv", "pip", "install", "--no-config", "--no-cache", "--python", CLIENTS / "pip-new/bin/python"]):
            install = (*words, "--index-url", index, "quokka", "--target")
            installed = run(*install, home / Path(words[0]).name)
            self.assertEqual(installed.returncode, 0, installed.stderr)
            # Both read what NETRC names and nothing else, so a log-in is refused there before a code is shown.
            self.assertNotEqual(run(*install, home / "none", NETRC=str(elsewhere)).returncode, 0, words[0])
        for command in ([BIN / "avail_wheels", "login", self.farm.url], site.command("login")):
            refused = run(*command, NETRC=str(elsewhere))
            self.assertNotEqual(refused.returncode, 0, refused.stdout)
            self.assertIn("unset NETRC", refused.stderr)
            self.assertNotIn("enter the code", refused.stderr)
        for program in ("avail_wheels", "avail_wheels-static"):
            self.assertEqual(run(BIN / program, "quokka", "--refresh", "--index-url", index, NETRC=str(elsewhere)).returncode, 1)
        listed = run(BIN / "avail_wheels", "quokka", "--index-url", index)
        self.assertIn("quokka", listed.stdout, listed.stderr)

        self.assertEqual(self.post(f"/api/v1/tokens/{token[:15]}/revoke", {"format": "wheelyard.change/1"}, token)[0], 200)
        for program in ("avail_wheels", "avail_wheels-static"):
            ended = run(BIN / program, "quokka", "--refresh", "--index-url", index)
            self.assertEqual(ended.returncode, 1, ended.stdout)
            self.assertRegex(ended.stderr, r"This log-in ended at 20.*log in again: `avail_wheels login`")
        again = self.shell_log_in([BIN / "avail_wheels", "login", self.farm.url], environment)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(netrc.read_text().count("machine 127.0.0.1 "), 1)
        self.assertIn("quokka", run(BIN / "avail_wheels", "quokka", "--refresh", "--index-url", index).stdout)
        token = netrc.read_text().split()[-1]
        out = run(*site.command("logout"))
        self.assertEqual((out.returncode, netrc.read_text()), (0, other), out.stderr)
        self.refused(401, "auth.login_ended", self.post("/api/v1/tokens/wy_000000000000/revoke", {"format": "wheelyard.change/1"}, token))

    def log_in_with(self, browser: Browser, person: str):
        """From the page of log-ins to the provider, which may know the person already, and back."""
        wait_until(lambda: browser.texts("#logins button"), "no provider is listed")
        browser.find("#logins button[data-purpose=publish]").click()
        wait_until(lambda: browser.driver.current_url.startswith(self.issuer), "the page does not leave for the provider")

        def is_back() -> bool:
            if browser.path().startswith("/api/v1/login/campus/"):
                return browser.find("#login-done").is_displayed()
            for name, text in (("login", person), ("password", "x")):
                browser.run(f"const field = document.querySelector('[name={name}]'); if (field) field.value = '{text}'")
            browser.run("document.querySelector('form[action*=interaction] button[type=submit]')?.click()")
            return False
        wait_until(is_back, "the page does not come back with a token")

    @unittest.skipIf(why_no_browser(), why_no_browser())
    def test_a_page_that_asks_for_a_token_leads_to_the_log_in_and_gets_it(self):
        browser = Browser(self.farm.url)
        self.addCleanup(browser.quit)
        for path, words in (("/api/v1/?index=open", "Back to the page for operators"),
                            ("/open/builds/?package=kiwi&version=2.0&python=&accelerator=", "Back to the request")):
            browser.driver.get(self.farm.url + path)
            wait_until(lambda: browser.find("#log-in").is_displayed(), "no link to the log-in")
            browser.find("#log-in").click()
            self.log_in_with(browser, "ida")
            self.assertEqual(browser.find("#login-back").text, words)
            browser.find("#login-back").click()
            wait_until(lambda: browser.driver.current_url.startswith(self.farm.url + path), "the page does not lead back")
            wait_until(lambda: browser.run("return document.querySelector('form [name=token]').value !== ''"), "the token is not there")
            wait_until(lambda: not browser.find("#log-in").is_displayed(), "who is logged in is asked to log in")
            if path.startswith("/api/"):
                browser.run("sessionStorage.clear()")
        self.assertEqual(browser.run("return document.querySelector('[name=package]').value"), "kiwi")
        # The page of a person's request asks nobody for a password to learn who that is.
        status, task = self.post("/api/v1/tasks", {"format": "wheelyard.task/1", "index": "open", "package": "kiwi", "version": "3.0", "python": "3.11"},
                                 browser.run("return sessionStorage.getItem('wheelyard-token')"))
        self.assertEqual(status, 200, task)
        for forget in ("", "sessionStorage.clear()"):
            browser.run(forget)
            browser.driver.get(f"{self.farm.url}/open/builds/request.html?id={task['id']}")
            wait_until(lambda: "kiwi 3.0" in browser.find("#title").text, "the request is not shown")
            self.assertEqual(browser.texts("#account"), ["Log in"] if forget else ["Ida Lund"])
            self.assertEqual("by you" in browser.find("#build").text, not forget)
        # Any page leads to the log-in, and that back to it.
        browser.driver.get(self.farm.url + "/open/project/?q=ki")
        browser.find("#account").click()
        self.log_in_with(browser, "ida")
        browser.find("#login-back").click()
        wait_until(lambda: browser.path() == "/open/project/?q=ki", "the page does not lead back")
        self.assertEqual(browser.texts("#account"), ["Ida Lund"])
        for other in ("https://evil.example/api/v1/", "//evil.example/api/v1/", "javascript:alert(1)", "/api/v1/login/campus/?code=x", ""):
            browser.run(f"sessionStorage.setItem('wheelyard-back', '{other}')")
            browser.driver.get(self.farm.url + "/api/v1/login/")
            wait_until(lambda: browser.find("#login-done").is_displayed(), "the page has forgotten the log-in")
            self.assertFalse(browser.find("#login-back").is_displayed(), other)

    @unittest.skipIf(why_no_browser(), why_no_browser())
    def test_the_page_logs_in_and_out_under_its_policy_and_opens_private_pages(self):
        browser = Browser(self.farm.url)
        self.addCleanup(browser.quit)
        # The first answer to the code is that others log in now: the page tries again.
        browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            const send = window.fetch;
            let busy = 1;
            window.fetch = (url, options) => String(url).endsWith("/finish") && busy-- > 0
              ? Promise.resolve(new Response('{"code":"login.busy"}', {status: 429})) : send(url, options);"""})
        # By another name of this host: the provider sends browsers back to one alone.
        browser.driver.get(self.farm.url.replace("127.0.0.1", "localhost") + "/api/v1/login/")
        wait_until(lambda: browser.driver.current_url == self.farm.url + "/api/v1/login/", "the page stays under another host name")
        wait_until(lambda: browser.texts("#logins button"), "no provider is listed")
        if not why_no_axe():
            self.assertEqual(browser.barriers(), [])
        browser.find("#logins button[data-purpose=publish]").click()
        wait_until(lambda: browser.driver.current_url.startswith(self.issuer), "the page does not leave for the provider")
        browser.find("[name=login]").send_keys("anna")
        browser.find("[name=password]").send_keys("x")
        browser.find("button[type=submit]").click()
        wait_until(lambda: browser.run("return !!document.querySelector('form[action*=interaction]')") and not browser.texts("[name=login]") or
                   browser.path().startswith("/api/"), "no consent is asked for")
        if not browser.path().startswith("/api/"):
            browser.find("button[type=submit]").click()
        wait_until(lambda: browser.path().startswith("/api/v1/login/campus/") and browser.find("#login-done").is_displayed(),
                   "the page does not come back with a token: " + " ".join(browser.texts("#login-answer")))
        self.assertEqual(browser.path(), "/api/v1/login/campus/")  # no code, no state
        self.assertIn("Anna Müller may read, ask for wheels, upload files in lab", browser.find("#login-scope").text)
        token = browser.run("return sessionStorage.getItem('wheelyard-token')")
        listed = self.farm.run("wheelyard-registry", "token", "list", "--json", "-c", self.farm.config)
        listed = {row["id"]: row for row in json.loads(listed.stdout)}
        self.assertEqual(listed[token[:15]]["actions"], ["read", "task", "upload"])
        self.assertIsNone(browser.run("return sessionStorage.getItem('wheelyard-login')"))
        wait_until(lambda: browser.texts("#login-private h3 a") == ["lab"], "the private index is not listed")
        if not why_no_axe():
            self.assertEqual(browser.barriers(), [])
        browser.run("sessionStorage.setItem('wheelyard-token', 'wy_another')")  # typed on another page
        browser.driver.refresh()  # whoever comes back later can still log out
        wait_until(lambda: browser.find("#logout").is_displayed(), "the page of a log-in has no log-out")
        browser.find("#logout").click()
        wait_until(lambda: browser.find("#login-answer").text.startswith("You are logged out."), "no log-out")
        self.assertIn("Your provider may still know you", browser.find("#login-answer").text)
        self.assertEqual(browser.run("return sessionStorage.getItem('wheelyard-token')"), "wy_another")
        self.refused(401, "auth.login_ended", self.post("/api/v1/tokens/wy_000000000000/revoke", {"format": "wheelyard.change/1"}, token))
        self.assertEqual([line for line in browser.complaints() if self.farm.url in line and "favicon" not in line], [])

    def test_the_page_sends_its_address_nowhere_and_is_kept_nowhere(self):
        for path in ("/api/v1/login/", "/api/v1/login/campus/?code=c&state=s"):
            with urllib.request.urlopen(self.farm.url + path, timeout=PATIENCE_S) as reply:
                self.assertEqual((reply.headers["Referrer-Policy"], reply.headers["Cache-Control"]), ("no-referrer", "no-store"))
                self.assertNotIn("Set-Cookie", reply.headers)
                self.assertIn("default-src 'none'", reply.headers["Content-Security-Policy"])


IDENTITY = '''
[[identity]]
name = "campus"
title = "University account"
issuer = "{issuer}"
client_id = "wheelyard"
allow_http = true
[[identity.allow]]
group = "/hpc"
indexes = ["lab"]
actions = ["read", "task", "upload"]
[[identity.allow]]
group = "/guests"
indexes = ["open"]
actions = ["read", "task"]
'''

if __name__ == "__main__":
    main()
