"""Who is told: the examples of docs/reference/notices.md run as they stand there, with a sendmail and a chat server of this test; a wheel that is
given up, and a file in quarantine, are told without anybody asking."""

import http.server
import json
import shutil
import subprocess
import threading
import time
import tomllib
from pathlib import Path

from support.case import FarmCase, main
from support.farm import BIN, INDEX
from support.package_index import PackageIndex, write_sdist
from support.site import Site

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "notices.md"
WEBHOOK = "/etc/wheelyard/webhook"


def example(title: str) -> str:
    """The command of an example, as its readers copy it."""
    block = PAGE.read_text().split(f"## {title}")[1].split("```toml\n")[1].split("```")[0]
    return tomllib.loads(block)["notify"]["command"]


def wait_for(path: Path) -> str:
    end = time.monotonic() + 240
    while not (path.exists() and path.read_text().endswith("\n")):
        if time.monotonic() > end:
            raise AssertionError(f"{path} is not there")
        time.sleep(0.05)
    return path.read_text()


class Chat(http.server.BaseHTTPRequestHandler):
    posted: list = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.posted.append((self.path, self.headers["Content-Type"], json.loads(body)))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


class NotifyTest(FarmCase):
    def setUp(self):
        super().setUp()
        self.sources = self.enterContext(PackageIndex(self.folder / "sources"))

    def site(self, command: str, *wants: str) -> Site:
        site = Site(self.farm, self.sources, self.token, {want: "1.0" for want in wants}, scheduler='kind = "local"\nmax_attempts = 1\n')
        self.addCleanup(shutil.rmtree, site.folder, ignore_errors=True)
        site.file.write_text(site.file.read_text() + f"\n[notify]\ncommand = {json.dumps(command)}\n")
        return site

    def wait_until_sent(self, site: Site) -> None:
        """The command of each notice runs beside the agent, and its file is removed after it."""
        end = time.monotonic() + 240
        while any((site.folder / "state" / "notify").glob("notice-*.json")):
            self.assertLess(time.monotonic(), end, "a command does not end")
            time.sleep(0.05)

    def test_the_example_for_mail_reaches_sendmail(self):
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "sendmail").write_text(f'#!/bin/sh\necho "$@" > {self.folder}/arguments\ncat > {self.folder}/mail\n')
        (tools / "sendmail").chmod(0o755)
        site = self.site(f"PATH={tools}:$PATH; " + example("By mail"))
        self.assert_ran(site.builder("notify", "test"), "ended with status 0")
        head, _, body = (self.folder / "mail").read_text().partition("\n\n")
        self.assertIn("To: wheels@example.org", head)
        self.assertEqual(json.loads(body)["event"], "test")
        self.assertEqual((self.folder / "arguments").read_text(), "-t\n")

    def test_the_example_for_a_chat_posts_and_its_url_is_in_no_argument(self):
        server = http.server.HTTPServer(("127.0.0.1", 0), Chat)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        secret = self.folder / "webhook"
        secret.write_text(f'url = "http://127.0.0.1:{server.server_port}/hooks/hunter2"\n')
        command = example("In a chat")
        self.assertIn(WEBHOOK, command)
        config = self.folder / "notify.toml"
        config.write_text('config_version = 1\n[store]\ndirectory = "told"\n[[index]]\nname = "main"\n'
                          f"[notify]\ncommand = {json.dumps(command.replace(WEBHOOK, str(secret)))}\n")
        self.assert_ran(self.farm.run("wheelyard-registry", "notify", "test", "-c", config))
        [(path, kind, notice)] = Chat.posted
        self.assertEqual((path, kind), ("/hooks/hunter2", "application/json"))
        self.assertEqual(notice["event"], "test")
        self.assertIn("notify test", notice["text"])

    def test_a_wheel_that_is_given_up_is_told_once(self):
        got = self.folder / "got"
        write_sdist(self.sources.folder, "yard-nowhere", "1.0", module_source="raise RuntimeError('not on this CPU')\n")
        site = self.site(f"cat >> {got}", "yard-nowhere")
        for _ in range(2):
            self.assert_failed(site.builder("run"), "not on this CPU")
        wait_for(got)
        self.wait_until_sent(site)
        self.assert_ran(site.builder("notify", "test"))  # behind whatever was told a second time
        notices = [json.loads(line) for line in got.read_text().splitlines()]
        self.assertEqual([(one["event"], one["from"]) for one in notices], [("cell.given_up", INDEX), ("test", INDEX)], notices)
        self.assertIn("yard-nowhere-1.0", notices[0]["subject"])

    def test_a_password_that_a_build_prints_is_in_no_notice(self):
        got = self.folder / "got"
        write_sdist(self.sources.folder, "yard-leak", "1.0", module_source="raise RuntimeError('cannot clone https://bob:hunter2@git.example/x')\n")
        site = self.site(f"cat >> {got}", "yard-leak")
        self.assert_failed(site.builder("run"), "cannot clone")
        [notice] = [json.loads(line) for line in wait_for(got).splitlines()]
        self.assertIn("https://(hidden)@git.example/x", notice["text"])
        self.assertNotIn("hunter2", json.dumps(notice))

    def test_a_server_tells_of_a_site_that_is_late(self):
        got = self.folder / "got"
        report = self.folder / "told" / "sites" / "main" / "bede.json"
        report.parent.mkdir(parents=True)
        report.write_text(json.dumps({"format": "wheelyard.site/1", "site": "bede", "index": "main", "program": "wheelyard-builder 0.1.0",
                                      "time": "2026-01-01T00:00:00Z", "next_tick": "2026-01-01T00:05:00Z", "pythons": [], "cells": [],
                                      "attempts": [], "failures": []}))
        config = self.folder / "late.toml"
        config.write_text('config_version = 1\n[server]\nlisten = "127.0.0.1:0"\n[store]\ndirectory = "told"\n[[index]]\nname = "main"\n'
                          f"[notify]\ncommand = {json.dumps(f'cat >> {got}')}\n")
        server = subprocess.Popen([BIN / "wheelyard-registry", "serve", "--config", config], env=self.farm.environment,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            [notice] = [json.loads(line) for line in wait_for(got).splitlines()]
        finally:
            server.terminate()
            _, log = server.communicate()
        self.assertEqual((notice["event"], notice["subject"]), ("agent.late", "main/bede"), log)


if __name__ == "__main__":
    main()
