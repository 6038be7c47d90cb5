"""People who log in: a browser without a window for the provider's forms, and what every suite of log-ins asks of the registry."""

import html
import http.cookiejar
import json
import re
import secrets
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from support.clients import RawUpload
from support.farm import CLIENTS, Farm
from support.ports import free_port
from support.wheels import Wheel

PATIENCE_S = 240
LAB = "lab"


def wait_until(condition, what: str, patience_s: float = PATIENCE_S):
    deadline = time.monotonic() + patience_s
    while not (found := condition()):
        assert time.monotonic() < deadline, what
        time.sleep(0.05)
    return found


class Person:
    """A browser without a window or scripts: follows redirects and fills in the provider's forms. The provider's cookies are Secure, also on loopback."""

    def __init__(self, name: str):
        self.name = name
        jar = http.cookiejar.CookieJar(http.cookiejar.DefaultCookiePolicy(secure_protocols=("http", "https")))
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))

    def open(self, url: str, form: dict | None = None) -> tuple[str, str]:
        """The last address, and its page."""
        with self.opener.open(url, urllib.parse.urlencode(form).encode() if form else None, timeout=PATIENCE_S) as reply:
            return reply.url, reply.read().decode()

    def log_in(self, url: str, page: str) -> tuple[str, str]:
        """Answers every form of the provider, until a page has none of them."""
        for _ in range(6):
            form = re.search(r"<form[^>]*action=\"([^\"]+)\"[^>]*>(.*?)</form>", page, re.DOTALL)
            if not form or "wheelyard-login" in page or "/api/v1/login" in url:
                return url, page
            fields = {}
            for tag in re.findall(r"<input[^>]*>", form[2]):
                name, value = re.search(r'name="([^"]*)"', tag), re.search(r'value="([^"]*)"', tag)
                if name and name[1] != "cancel":
                    fields[name[1]] = html.unescape(value[1]) if value else ""
            fields |= {name: text for name, text in (("login", self.name), ("username", self.name), ("password", "x")) if name in fields}
            url, page = self.open(urllib.parse.urljoin(url, html.unescape(form[1])), fields or {"confirm": "yes"})
        raise AssertionError(page)


class LogInCase(unittest.TestCase):
    """A farm whose private index LAB has a wheel, with the log-ins of `tables`, of registry.toml. The provider knows the registry's address and the
    registry the provider's: make_farm(), the provider, start_farm()."""
    folder: Path
    farm: Farm
    redirect: str
    admin: str

    @classmethod
    def make_farm(cls, tables: str) -> None:
        cls.folder = Path(tempfile.mkdtemp(prefix="wheelyard-login-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        port = free_port()
        cls.farm = cls.enterClassContext(Farm((LAB, "open"), index_settings={LAB: 'read = "token"', "open": tables}, settings=f'public_url = "http://127.0.0.1:{port}"'))
        cls.farm.port = port
        cls.farm.write_config(port)
        cls.redirect = f"{cls.farm.url}/api/v1/login/campus/"

    @classmethod
    def start_farm(cls) -> None:
        cls.admin = cls.farm.create_token(LAB, "open", name="admin", actions=("upload", "token"))
        cls.farm.start()
        wait_until(lambda: cls.get("/api/v1/login")["identities"][0]["is_ready"], "the registry has not read what the provider says of itself")
        status, problem = RawUpload(cls.farm, cls.admin, Wheel("quokka").write(cls.folder), LAB).send()
        assert status == 200, problem

    @classmethod
    def get(cls, path: str, token: str = ""):
        request = urllib.request.Request(cls.farm.url + path, headers={"Authorization": f"Bearer {token}"} if token else {})
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as reply:
            return json.load(reply)

    def post(self, path: str, members: dict, token: str = "") -> tuple[int, dict]:
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        request = urllib.request.Request(self.farm.url + path, json.dumps(members).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as reply:
                return reply.status, json.load(reply)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def step(self, step: str, **members) -> tuple[int, dict]:
        return self.post(f"/api/v1/login/campus/{step}", {"format": "wheelyard.login/1", **members})

    def refused(self, status: int, code: str, answer: tuple[int, dict]):
        self.assertEqual((answer[0], answer[1].get("code")), (status, code), answer)

    def answer_of_provider(self, person: str, secret: str, purpose: str = "read") -> dict[str, str]:
        """What the provider sends the browser back with."""
        status, begun = self.step("begin", secret=secret, purpose=purpose)
        self.assertEqual(status, 200, begun)
        visitor = Person(person)
        url, _ = visitor.log_in(*visitor.open(begun["url"]))
        self.assertTrue(url.startswith(self.redirect + "?"), url)
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))

    def log_in(self, person: str, purpose: str = "read") -> tuple[int, dict]:
        secret = secrets.token_hex(32)
        return self.step("finish", secret=secret, **self.answer_of_provider(person, secret, purpose))

    def pip(self, token: str) -> subprocess.CompletedProcess:
        url = self.farm.simple_url(LAB).replace("http://", f"http://__token__:{token}@")
        target = Path(tempfile.mkdtemp(dir=self.folder))
        return subprocess.run([CLIENTS / "pip-new" / "bin" / "python", "-m", "pip", "install", "--target", target, "--index-url", url, "quokka"],
                              env=self.farm.environment, capture_output=True, text=True, timeout=PATIENCE_S)

    def log_in_by_device(self, person: str, secret: str) -> tuple[dict, str, str]:
        """The token, the state of the log-in, and the provider's last page."""
        status, begun = self.step("device", secret=secret)
        self.assertEqual(status, 200, begun)
        status, pending = self.step("device/poll", secret=secret, state=begun["state"])
        self.assertEqual((status, pending.get("is_pending")), (200, True), pending)
        visitor = Person(person)
        _, page = visitor.log_in(*visitor.open(begun["complete_url"]))

        def token():
            status, answer = self.step("device/poll", secret=secret, state=begun["state"])
            self.assertEqual(status, 200, answer)
            return answer if "token" in answer else None
        return wait_until(token, "the code was entered, and no token came"), begun["state"], page
