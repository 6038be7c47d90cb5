"""What a site wants, builds and lacks reaches its users: from the agent through the registry and the published tree to
`avail_wheels --status`. Hostile reports are refused or shown safely."""

import datetime
import json
import time
import urllib.error
import urllib.request

from support.case import FarmCase, main
from support.farm import INDEX
from support.package_index import PackageIndex, write_sdist
from support.site import Site

WAIT_LIMIT_S = 240
MAX_REPORT_BYTES = 256 * 1024


def moment(hours_ago: float = 0) -> str:
    then = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=hours_ago)
    return then.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def report(site: str, **members) -> dict:
    return {"format": "wheelyard.site/1", "site": site, "index": INDEX, "time": moment(), "cells": []} | members


class SiteStatusTest(FarmCase):
    def put(self, document: dict | bytes, site: str) -> tuple[int, dict]:
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        request = urllib.request.Request(f"{self.farm.url}/api/v1/indexes/{INDEX}/sites/{site}", data=body, method="PUT",
                                         headers={"Authorization": f"Bearer {self.token}"})
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def status(self, *arguments: str, place: tuple[str, ...] = ()):
        done = self.farm.run("avail_wheels", *(place or ("--index-url", self.farm.simple_url())), "--status", *arguments)
        self.assert_ran(done)
        return done

    def cells(self, *arguments: str, place: tuple[str, ...] = ()) -> dict[str, dict]:
        document = json.loads(self.status("--json", *arguments, place=place).stdout)
        return {cell["name"]: cell for cell in document["cells"]}

    def test_users_see_what_the_agent_builds_and_why_it_does_not(self):
        gate = self.folder / "gate"
        with PackageIndex(self.folder / "sources") as sources:
            for name in ("ready", "slow", "pinned"):
                write_sdist(sources.folder, name, "1.0")
            site = Site(self.farm, sources, self.token, {"ready": "1.0"},
                        recipes={"pinned": f'[source]\nkind = "sdist"\n[source.sha256]\n"1.0" = "{"0" * 64}"\n',
                                 "slow": f"[build]\nbefore = ['echo the token {self.token}', "
                                         f"'until [ -e {gate} ]; do sleep 0.2; done']\n"},
                        scheduler='kind = "local"\nmax_attempts = 1\nmax_jobs = 2\n')
            self.assert_ran(site.builder("run"))
            site.file.write_text(site.file.read_text() + '\n[[want]]\npackage = "slow"\nversions = ["1.0"]\n'
                                 '\n[[want]]\npackage = "pinned"\nversions = ["1.0"]\n')
            self.addCleanup(gate.touch)
            deadline = time.monotonic() + WAIT_LIMIT_S
            while True:
                self.assert_ran(site.builder("tick"))
                cells = self.cells()
                document = json.loads(self.farm.get(f"/{INDEX}/status.json")[2])
                running = [one for one in document["sites"][0]["attempts"] if "(hidden)" in "".join(one.get("log_tail", []))]
                if running and cells["pinned"]["state"] == "given up":
                    break
                self.assertLess(time.monotonic(), deadline, cells)
                time.sleep(0.2)
            self.assertEqual(cells["ready"]["state"], "have")
            self.assertEqual(cells["slow"]["state"], "active")
            self.assertIn("0" * 64, cells["pinned"]["why"])
            self.assertEqual(list(self.cells("pin*")), ["pinned"])
            self.assertEqual(cells["ready"]["site"], INDEX)
            failure, = document["sites"][0]["failures"]
            self.assertEqual(failure["package"], "pinned")
            phases, seconds = running[0]["phases"], running[0]["phase_seconds"]
            self.assertEqual((phases[-1], len(seconds)), (running[0]["phase"], len(phases)))
            secret = self.token.rpartition("_")[2]
            self.assertNotIn(secret, json.dumps(document))  # the build has printed it
            self.assertNotIn("late", self.status().stderr)

            # Its log comes in pieces, without what the build has printed of the token, and everybody reads it.
            build = f"/api/v1/indexes/{INDEX}/builds/{INDEX}/{running[0]['id']}"
            log = self.farm.get(f"{build}/log")[2]
            self.assertIn(b"the token " + b"*" * len(self.token), log)
            self.assertNotIn(secret.encode(), log)
            self.assertEqual(self.farm.get(f"{build}/log?offset={len(log) - 5}")[2], log[-5:])
            shown = json.loads(self.farm.get(build)[2])
            self.assertEqual((shown["state"], shown["phase"], shown["log_bytes"]), ("running", running[0]["phase"], len(log)))
            failed = json.loads(self.farm.get(f"/api/v1/indexes/{INDEX}/builds/{INDEX}/{failure['attempt']}")[2])
            self.assertEqual((failed["state"], failed["cause"]), ("failed", failure["cause"]))
            ready, = [one for one in json.loads(self.farm.get(f"/api/v1/indexes/{INDEX}/builds?package=ready")[2])["builds"]]
            self.assertEqual(ready["state"], "done")
            self.assertIn(b"one build" , self.farm.get(f"/{INDEX}/builds/build.html")[2].lower())

            # The folder of the tree answers the same.
            self.assertEqual(self.cells(place=("--wheelhouse", str(self.farm.tree / INDEX))), cells)
            self.farm.check_tree()

            # The build ends: the rest of its log arrives, once, and stays with the registry across a restart.
            gate.touch()
            site.builder("run")  # its status is that of `pinned`
            after = self.farm.get(f"{build}/log")[2]
            self.assertTrue(after.startswith(log) and len(after) > len(log), after)
            own = (site.folder / "work" / "attempts" / running[0]["id"] / "log").read_bytes()
            self.assertTrue(after.endswith(own[-40:]), (own, after))
            self.assertEqual(json.loads(self.farm.get(build)[2])["state"], "done")

            # The agent stops. Three hours later:
            self.farm.stop()
            kept = self.farm.data / "sites" / INDEX / f"{INDEX}.json"
            kept.write_text(json.dumps(json.loads(kept.read_text()) | {"time": moment(3), "next_tick": moment(2.9)}))
            self.farm.start()
            self.assertRegex(self.status().stderr, rf"the agent of {INDEX} has not reported for 3 h 0\d min")
            self.assertIn(f'wheelyard_site_late{{index="{INDEX}",site="{INDEX}"}} 1', self.farm.get("/metrics")[2].decode())
            self.assertEqual(self.farm.get(f"{build}/log")[2], after)

    def test_a_registry_that_does_not_answer_fails_no_tick_and_is_reported_once(self):
        with PackageIndex(self.folder / "sources") as sources:
            site = Site(self.farm, sources, "wy_wrong", {}, name="unknown")
            first = site.builder("tick")
            self.assert_ran(first, "did not get this site's status")
            self.assertNotIn("status", site.builder("tick").stderr)
            self.assert_ran(site.builder("status"), "has no status of this site since")
            (site.folder / "token").write_text(self.token + "\n")
            self.assert_ran(site.builder("tick"), "has this site's status again")
            self.assertNotIn("has no status", site.builder("status").stderr)

    def test_hostile_reports_are_refused_or_shown_safely(self):
        self.assertEqual(self.put(report("..%2F"), "..%2F")[0], 400)
        self.assertEqual(self.put(b" " * (MAX_REPORT_BYTES + 1), "evil")[1]["code"], "api.body_too_large")
        cell = {"package": "torch", "version": "2.4", "python": "3.12", "state": "failed"}
        self.assertEqual(self.put(report("evil", cells=[cell | {"state": "\x1b[2J"}]), "evil")[1]["code"], "site_report.format")
        shown = cell | {"reason": "a\x1b]0;owned\x07\r\nb\u202e" + "x" * 9000}
        self.assertEqual(self.put(report("evil", cells=[shown]), "evil")[0], 200)
        table = self.status("torch").stdout
        self.assertIn("a?]0;owned?? b?xxx", table)
        self.assertFalse([c for c in table if ord(c) < 32 and c != "\n"], table)
        self.assertLess(len(table), 2000)
        sites = json.loads(self.farm.get("/api/v1/sites", headers={"Authorization": f"Bearer {self.token}"})[2])["sites"]
        self.assertIn(("evil", False), [(site["site"], site["late"]) for site in sites])


if __name__ == "__main__":
    main()
