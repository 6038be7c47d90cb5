"""Nothing on a page leaves its box, whatever the names: every kind of page with the longest names that the public index has, from the width of a
phone to that of a wide screen."""

import json
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

from support.browser import FULL_HD, NARROW, TABLET, WIDE, Browser, why_no_browser
from support.case import main
from support.clients import RawUpload
from support.farm import Farm
from support.sample_farm import moment, report_sites
from support.wheels import Wheel

PATIENCE_S = 240
INDEX = "an-index-for-nodes-with-grace-hopper-superchips"
SITE = "a-site-with-a-name-that-is-long"
NODE = "a-queue-for-large-jobs-with-four-gpus"
GPU = "nvidia-h100-80gb-hbm3-sxm5"
VERSION = "2024.11.29.0.dev20241129001122+cu126.cxx11abi"  # as nightly builds have them
TAGS = ("cp312-cp312-manylinux_2_17_aarch64.manylinux2014_aarch64",)
PROJECT = "a-very-long-name-of-a-package-for"
WORD = "/nobackup/projects/" + "x" * 120 + "/work"  # which has no place to break
FILE_NAME_BYTES = 160


def wheel(version: str, seed: str) -> Wheel:
    written = tuple(f"cp312-cp312-{platform}" for platform in TAGS[0].split("-")[-1].split("."))
    made = Wheel(PROJECT + "-" + seed, version, tags=TAGS, wheel_tags=written, summary=WORD, metadata_lines=(
        f"License: {WORD}", f"Project-URL: {'Documentation' * 8}, https://example.org/", f"Requires-Dist: {PROJECT}-{'n' * 40}>={VERSION.split('+')[0]}"))
    made.name += "-" + "y" * (FILE_NAME_BYTES - len(made.filename) - 1)
    return made


def report(project: str) -> dict:
    cell = {"package": project, "version": VERSION, "python": "3.12", "accelerator": GPU}
    failed = cell | {"attempt": "w1kq7x9aab3aaa", "began": moment(231), "ended": moment(180), "phase": "build", "rule": "compiler.killed", "cause": WORD,
                     "remedy": f"See {WORD}", "log_tail": [WORD * 3], "source": f"https://code.example.org{WORD}/torch.tar.gz", "source_sha256": "5a" * 32}
    running = cell | {"id": "w1kq7x9aab3bbb", "state": "running", "phase": "build", "done": 1, "total": 2, "began": moment(96), "memory_limit_mib": 128000,
                      "memory_mib": [1, 2, 3], "phases": ["unpack", "build"], "phase_seconds": [41, 5719], "log_tail": [WORD * 3]}
    return {"format": "wheelyard.site/1", "site": SITE, "index": INDEX, "time": moment(2), "next_tick": moment(-3), "pythons": ["3.12"], "submit": "sbatch",
            "nodes": [{"name": NODE, "cores": 72, "memory_mib": 490000, "gpus": 1, "accelerator": GPU, "architectures": ["sm_90"]}],
            "cells": [cell | {"state": "given up", "reason": WORD, "attempt": "w1kq7x9aab3aaa"}, cell | {"version": "3." + VERSION, "state": "wanted", "reason": WORD},
                      cell | {"version": "4." + VERSION, "state": "active", "attempt": "w1kq7x9aab3bbb"}], "attempts": [running], "failures": [failed]}


@unittest.skipIf(why_no_browser(), why_no_browser())
class PageLayoutTest(unittest.TestCase):
    def wait_for(self, condition):
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def fill(self, farm: Farm, folder: Path) -> Wheel:
        token = farm.create_token(name="t" * 110, actions=("upload", "task"))
        shown, held = wheel(VERSION, "shown"), wheel(VERSION, "held")
        self.assertEqual(len(shown.filename), FILE_NAME_BYTES)
        for one in (shown, held):
            self.assertEqual(RawUpload(farm, token, one.write(folder), INDEX).send()[0], 200)
        done = farm.run("wheelyard-registry", "quarantine", INDEX, held.filename, "--reason", WORD, "-c", farm.config)
        self.assertEqual(done.returncode, 0, done.stderr)
        report_sites(farm, token, {SITE: report(shown.name)})
        body = json.dumps({"format": "wheelyard.task/1", "index": INDEX, "package": shown.name, "version": VERSION, "python": "3.12", "accelerator": GPU}).encode()
        urllib.request.urlopen(urllib.request.Request(f"{farm.url}/api/v1/indexes/{INDEX}/requests", body, {"Content-Type": "application/json"})).close()
        self.wait_for(lambda: WORD.encode() in farm.get(f"/{INDEX}/project/{shown.name}/")[2] and b"Where it runs" in farm.get(f"/{INDEX}/project/{shown.name}/")[2])
        return shown

    def test_no_control_leaves_its_box_with_the_longest_names(self):
        with tempfile.TemporaryDirectory(prefix="wheelyard-layout-") as folder, \
                Farm((INDEX,), index_settings=f'title = "{WORD}"\nask = "anyone"') as farm:
            farm.start()
            shown = self.fill(farm, Path(folder))
            operator = farm.create_token("*", name="operator", actions=("quarantine", "delete", "token", "upload", "audit", "approve", "index", "read", "yank", "task"), projects=("*",))
            with urllib.request.urlopen(f"{farm.url}/{INDEX}/status.json") as reply:
                request = json.load(reply)["requests"][0]["id"]
            browser = Browser(farm.url)
            self.addCleanup(browser.quit)
            machine = f"node={SITE},%20{NODE}%20({GPU})&my_python=3.12"
            pages = {"front": "/", "nothing found": "/?q=nonesuch", "search": f"/{INDEX}/project/?q=a", "project": f"/{INDEX}/project/{shown.name}/",
                     "my machine": f"/{INDEX}/project/{shown.name}/?{machine}", "missing": f"/{INDEX}/project/{PROJECT}-{'z' * 60}/", "sites": f"/{INDEX}/site/",
                     "site": f"/{INDEX}/site/{SITE}/", "builds": f"/{INDEX}/builds/", "build": f"/{INDEX}/builds/build.html?site={SITE}&id=w1kq7x9aab3aaa",
                     "request": f"/{INDEX}/builds/request.html?id={request}", "ask": f"/{INDEX}/builds/?package={shown.name}&version={VERSION}", "index": f"/{INDEX}/",
                     "log-in": "/api/v1/login/", "operators": "/api/v1/"}
            found = []
            for name, path in pages.items():
                browser.show(size=WIDE)
                browser.open(path)
                if name == "operators":
                    browser.run("sessionStorage.setItem('wheelyard-token', arguments[0])", operator)
                    browser.open("/api/v1/?file=a")
                    self.wait_for(lambda: all(browser.texts(f"#{table} tbody th") for table in ("quarantine", "tokens", "requests", "failures", "files", "changes")))
                if name in ("build", "request"):
                    self.wait_for(lambda: shown.name in browser.find("#title").text)
                if name == "my machine":
                    self.wait_for(lambda: NODE in browser.find("#machine strong").text)
                browser.run("for (const part of document.querySelectorAll('main details')) part.open = true")
                for size in (NARROW, TABLET, WIDE, FULL_HD):
                    browser.show(size=size)
                    found += [f"{name} at {size[0]}: {line}" for line in browser.outside()]
            self.assertFalse(found, "\n" + "\n".join(found))


if __name__ == "__main__":
    main()
