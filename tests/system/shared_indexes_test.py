"""Indexes that inherit from one another, as pip, uv and avail_wheels see them: a site's own wheels before everybody's, never beside
them; names that are a site's own; and the catalogue behind every change, a restart included."""

import json
import subprocess
import time

from support.case import OwnFarmsCase, main
from support.clients import CLIENTS, RawUpload, installed_value, pip_install, twine_upload
from support.farm import COMMAND_TIMEOUT_S, Farm
from support.wheels import Wheel

BASE, SITE = "base", "gh200"
RULES = 'inherits = ["base"]\nowns = ["yard-torch", "Only.Here"]'
PATIENCE_S = 240


class SharedIndexesTest(OwnFarmsCase):
    def setUp(self):
        super().setUp()
        self.farm = self.enterContext(Farm((BASE, SITE), index_settings={SITE: RULES}))
        self.token = self.farm.create_token()
        self.farm.start()

    def upload(self, index: str, *wheels: Wheel) -> None:
        for wheel in wheels:
            status, problem = RawUpload(self.farm, self.token, wheel.write(self.folder / index), index).send()
            self.assertEqual(status, 200, problem)

    def change(self, verb: str, *words: str) -> None:
        self.assert_ran(self.farm.run("wheelyard-registry", verb, *words, "-c", self.farm.config))

    def available(self, index: str, *words: str) -> list[dict]:
        done = self.farm.run("avail_wheels", "--refresh", "--index-url", self.farm.simple_url(index), "--all", "--json", *words)
        self.assert_ran(done)
        return json.loads(done.stdout)["wheels"]

    def catalogue(self, index: str) -> dict[str, str]:
        """file name → its `yanked` field, of base and delta as small as these: a base is rewritten with every change."""
        status, _, text = self.farm.get(f"/{index}/simple/catalogue.txt")
        if status == 404:
            return {}
        lines = [line.split("\t") for line in text.decode().splitlines()]
        return {fields[0]: fields[1] for fields in lines if fields[0].endswith(".whl")}

    def wait_for_wheel_list(self, index: str, wanted: dict[str, str]) -> None:
        """It follows the pages a moment later."""
        deadline = time.monotonic() + PATIENCE_S
        while (found := self.catalogue(index)) != wanted:
            self.assertLess(time.monotonic(), deadline, f"{found}\n{self.farm.log.read_text()[-2000:]}")
            time.sleep(0.02)

    def installed(self, client: str, index: str, requirement: str, module: str) -> str:
        target = self.folder / f"{client}-{index}-{module}"
        if client == "uv":
            self.assert_ran(subprocess.run(
                [CLIENTS / "uv/bin/uv", "pip", "install", "--no-config", "--no-cache", "--no-deps", "--python",
                 CLIENTS / "pip-new/bin/python", "--target", target, "--index-url", self.farm.simple_url(index), requirement],
                env=self.farm.environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S))
        else:
            self.assert_ran(pip_install(self.farm, client, target, requirement, index=index))
        return installed_value("pip-new", target, module)

    def test_what_avail_wheels_reads_follows_every_change_and_a_kill(self):
        six = "yard_six-1.0-py3-none-any.whl"
        self.assert_ran(twine_upload(self.farm, self.token, Wheel("yard-six").write(self.folder), index=BASE))
        for index in (BASE, SITE):
            self.wait_for_wheel_list(index, {six: ""})
            self.assertEqual([wheel["filename"] for wheel in self.available(index, "yard-six")], [six])
        # The server writes it a moment after the pages, also of the index that inherits.
        self.change("yank", BASE, six, "--reason", "bad build")
        for index in (BASE, SITE):
            self.wait_for_wheel_list(index, {six: "ybad build"})
        self.change("promote", BASE, six, "--to", SITE, "--reason", "for the site")
        self.change("delete", BASE, six, "--reason", "unused")
        self.wait_for_wheel_list(BASE, {})
        self.wait_for_wheel_list(SITE, {six: "ybad build"})
        # What a kill cut off is caught up with by the next start.
        self.upload(BASE, Wheel("yard-late"))
        self.farm.kill()
        self.farm.start()
        self.wait_for_wheel_list(BASE, {"yard_late-1.0-py3-none-any.whl": ""})
        self.wait_for_wheel_list(SITE, {six: "ybad build", "yard_late-1.0-py3-none-any.whl": ""})

    def test_a_sites_own_wheel_comes_before_everybodys_and_its_own_names_from_nowhere_else(self):
        self.upload(BASE, Wheel("yard-six", "1.0", value=1), Wheel("yard-torch", "2.4", value=1), Wheel("yard-torch", "9.9", value=9),
                    Wheel("only-here", "9.9", value=9))
        self.upload(SITE, Wheel("yard-torch", "2.4", value=2))
        for client in ("pip-old", "pip-new", "uv"):
            with self.subTest(client):
                self.assertEqual(self.installed(client, SITE, "yard-six", "yard_six"), "1")
                self.assertEqual(self.installed(client, SITE, "yard-torch", "yard_torch"), "2")
                self.assertEqual(self.installed(client, BASE, "yard-torch==2.4", "yard_torch"), "1")
        self.assert_failed(pip_install(self.farm, "pip-new", self.folder / "none", "only-here", index=SITE), "No matching distribution")
        self.assertEqual(self.farm.get(f"/{SITE}/simple/only-here/")[0], 404)
        self.assert_refused(RawUpload(self.farm, self.token, Wheel("yard-six", "1.0", value=2).write(self.folder / "other"), SITE),
                            409, "upload.name_taken", "inherits a file of this name from `base`")
        # The same in a tree of plain files.
        tree = self.folder / "tree"
        self.assert_ran(self.farm.run("wheelyard-indexer", "publish", "--store", self.farm.data, "--to", tree))
        self.assert_ran(self.farm.run("wheelyard-indexer", "check", "--to", tree, "--store", self.farm.data), "every link is valid")
        self.assertEqual({path.name for path in (tree / SITE / "find-links").iterdir()},
                         {"index.html", "yard_six-1.0-py3-none-any.whl", "yard_torch-2.4-py3-none-any.whl"})

    def test_a_rule_that_changed_is_shown_after_the_restart(self):
        self.upload(BASE, Wheel("yard-six"), Wheel("yard-torch"))
        self.assertEqual(self.farm.get(f"/{SITE}/simple/yard-six/")[0], 200)
        self.farm.stop()
        self.farm.index_settings = {SITE: 'inherits = ["base"]\nowns = ["yard-six"]'}
        self.farm.write_config(self.farm.port)
        self.farm.start()
        self.assertEqual(self.farm.get(f"/{SITE}/simple/yard-six/")[0], 404)
        self.assertEqual(set(self.farm.files("yard-torch", SITE)), {"yard_torch-1.0-py3-none-any.whl"})
        self.farm.check_tree()
        self.wait_for_wheel_list(SITE, {"yard_torch-1.0-py3-none-any.whl": ""})


if __name__ == "__main__":
    main()
