"""An agent promotes a package and what is built against it as one change: pip installs the set from staging before, and the
index of the users never has a part of it, whatever fails and whenever the agent is killed."""

import json
import threading
import time
from pathlib import Path

from support.case import FarmCase, main
from support.clients import installed_value, pip_install
from support.farm import INDEX
from support.package_index import PackageIndex, write_sdist
from support.site import Site

USERS = "stable"
BASE, COMPANIONS = "yard-base", ("yard-vision", "yard-audio")
ALL = (BASE, *COMPANIONS)
STOPPED = 137
TICK_LIMIT_S = 240


class Watcher(threading.Thread):
    """Reads the pages of the users' index all the time, the base's first: who sees the base has to see its companions."""

    def __init__(self, farm):
        super().__init__()
        self.farm = farm
        self.ended = threading.Event()
        self.samples = 0
        self.halves: list[list[bool]] = []

    def run(self):
        while not self.ended.wait(0.01):
            listed = [bool(self.farm.files(name, USERS)) for name in ALL]
            self.samples += 1
            if listed[0] and not all(listed):
                self.halves.append(listed)

    def end(self):
        self.ended.set()
        self.join()


class PromotionSetTest(FarmCase):
    indexes = (INDEX, USERS)

    def make_site(self, works: Path) -> Site:
        sources = self.enterContext(PackageIndex(self.folder / "sources"))
        for value, name in enumerate(ALL, start=1):
            write_sdist(sources.folder, name, "1.0", value=value)
        against = f'[against]\npackage = "{BASE}"\n[against.versions]\n"1.0" = "==1.0"\n'
        test = "[test.gpu]\nminutes = 5\ncommand = '{}'\n"
        promoter = self.farm.folder / "promote-token"
        promoter.touch(mode=0o600)
        promoter.write_text(self.farm.create_token(name="promoter", actions=("promote",)))
        site = Site(self.farm, sources, self.token, dict.fromkeys(ALL, "1.0"),
                    recipes={BASE: test.format("true"), "yard-vision": against + test.format("true"),
                             "yard-audio": against + test.format(f"test -e {works}")},
                    registry=f'promote_to = "{USERS}"\npromote_token_file = "{promoter}"\n',
                    scheduler='kind = "local"\nmax_jobs = 2\nmax_attempts = 1\n')
        site.file.write_text(site.file.read_text().replace("[[python]]", "[hardware_tests.gpu]\n\n[[python]]"))
        return site

    def promotions(self, site: Site) -> list[dict]:
        attempts = [json.loads(path.read_text()) for path in (site.folder / "state/attempts").glob("w*.json")]
        return [attempt for attempt in attempts if attempt["purpose"] == "promotion"]

    def kill_at(self, site: Site, point: str, reached) -> None:
        deadline = time.monotonic() + TICK_LIMIT_S
        while True:
            done = site.builder("tick", failpoint=point)
            self.assertIn(done.returncode, (0, STOPPED), done.stdout + done.stderr)
            if done.returncode == STOPPED and reached():
                return
            self.assertLess(time.monotonic(), deadline, f"no tick came to {point}")

    def promoted_events(self) -> list[tuple[int, str]]:
        """The serial and the file of each promotion."""
        auditor = self.farm.create_token("*", name="auditor", actions=("audit",))
        events = json.loads(self.farm.get(f"/api/v1/audit?index={USERS}", headers={"Authorization": f"Bearer {auditor}"})[2])["events"]
        return [(event["serial"], event["filename"]) for event in events if event["kind"] == "file_promoted"]

    def test_a_set_is_promoted_as_one_change_after_all_of_it_passed(self):
        works = self.folder / "works"
        site = self.make_site(works)
        watcher = Watcher(self.farm)
        watcher.start()
        self.addCleanup(watcher.end)

        self.assert_failed(site.builder("run"), "yard-audio")  # its test fails, so the set stays in staging
        explained = site.builder("plan", "--explain")
        self.assert_ran(explained, f"its set stays in index `{INDEX}`: yard-audio-1.0-cp", "-gpu-test is given up")
        self.assert_ran(site.builder("tick"))  # reports
        report = json.loads(self.farm.get(f"/{INDEX}/status.json")[2])["sites"][0]
        reasons = {cell["package"]: cell["reason"] for cell in report["cells"] if cell.get("purpose") == "promotion"}
        self.assertEqual(reasons.keys(), set(ALL))
        for name in (BASE, "yard-vision"):
            self.assertIn("yard-audio", reasons[name])
        self.assertEqual(self.promotions(site), [])

        staged = self.folder / "staged"
        self.assert_ran(pip_install(self.farm, "pip-debian", staged, *ALL))
        self.assertEqual([installed_value("pip-debian", staged, name.replace("-", "_")) for name in ALL], ["1", "2", "3"])
        for name in ALL:
            self.assert_failed(pip_install(self.farm, "pip-debian", self.folder / "none", name, index=USERS))

        works.touch()
        audio, = (name for name in (cell["cell"] for cell in json.loads(site.builder("plan", "--json").stdout)["cells"])
                  if name.startswith("yard-audio") and name.endswith("-gpu-test"))
        self.assert_ran(site.builder("retry", audio))
        self.kill_at(site, "journal.planned", lambda: self.promotions(site))  # intended, and not requested
        self.assertEqual([self.farm.files(name, USERS) for name in ALL], [{}, {}, {}])
        self.kill_at(site, "promote.sent", lambda: True)  # requested, and not recorded
        self.assertEqual([bool(self.farm.files(name, USERS)) for name in ALL], [True, True, True])
        self.assertEqual([one["state"] for one in self.promotions(site)], ["planned"])

        self.assert_ran(site.builder("run"))
        promotion, = self.promotions(site)
        self.assertEqual((promotion["state"], promotion["package"], len(promotion["with"])), ("done", BASE, 2))
        events = self.promoted_events()
        serials = [serial for serial, _ in events]
        self.assertEqual(serials, list(range(serials[0], serials[0] + 3)), events)
        self.assertIn("yard_base", events[-1][1])  # the pages change in this order
        watcher.end()
        self.assertGreater(watcher.samples, 20)
        self.assertEqual(watcher.halves, [])
        users = self.folder / "users"
        self.assert_ran(pip_install(self.farm, "pip-debian", users, *ALL, index=USERS))
        self.assertEqual(installed_value("pip-debian", users, "yard_audio"), "3")


if __name__ == "__main__":
    main()
