"""avail_wheels against a running farm and against a folder: the same wheels, the same table."""

import json

from support.case import FarmCase, main
from support.clients import twine_upload
from support.wheels import Wheel


class AvailWheelsTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.wheelhouse = cls.farm.folder / "wheelhouse"
        for wheel in (Wheel("yard-table", "1.9"), Wheel("yard-table", "1.10"), Wheel("Yard.Other", "2.0+site"),
                      Wheel("native", "1.0", tags=("cp311-cp311-linux_x86_64",)),
                      Wheel("native", "1.0", tags=("cp312-cp312-linux_x86_64",))):
            done = twine_upload(cls.farm, cls.token, wheel.write(cls.wheelhouse))
            if done.returncode != 0:
                raise AssertionError(done.stdout + done.stderr)

    def ask(self, *arguments: str, where: str = "index"):
        place = ("--index-url", self.farm.simple_url()) if where == "index" else ("--wheelhouse", str(self.wheelhouse))
        return self.farm.run("avail_wheels", *place, *arguments)

    def test_the_index_and_the_folder_show_the_same(self):
        for arguments in ([], ["yard*"], ["yard_table<1.10"], ["--all-versions", "yard-table"], ["native", "-p", "3.11"],
                          ["--raw", "--all"], ["absent", "--not-available"]):
            with self.subTest(arguments):
                index, folder = self.ask(*arguments), self.ask(*arguments, where="folder")
                self.assert_ran(index)
                self.assertEqual(index.stdout, folder.stdout)

    def test_only_the_latest_version_unless_asked(self):
        rows = self.ask("yard.table").stdout.splitlines()
        self.assertEqual(rows[0].split(), ["name", "version", "python", "arch"])
        self.assertEqual([row.split()[1] for row in rows[2:]], ["1.10"])
        rows = self.ask("YARD_table", "--all-versions").stdout.splitlines()
        self.assertEqual([row.split()[1] for row in rows[2:]], ["1.10", "1.9"])

    def test_a_python_can_be_asked_for(self):
        self.assertEqual(self.ask("native", "-p", "3.12", "--raw").stdout, "native-1.0-cp312-cp312-linux_x86_64.whl\n")
        self.assertEqual(len(self.ask("native", "-p", "3.13", "--raw").stdout), 0)

    def test_json_is_json(self):
        document = json.loads(self.ask("native", "--all", "--json").stdout)
        self.assertIn("native-1.0-cp311-cp311-linux_x86_64.whl", json.dumps(document))

    def test_no_match_is_an_empty_table_and_success(self):
        done = self.ask("nothing-like-it")
        self.assert_ran(done)
        self.assertEqual(len(done.stdout.splitlines()), 2)

    def test_an_index_that_is_not_there_is_told(self):
        done = self.farm.run("avail_wheels", "--index-url", "http://127.0.0.1:1/nowhere/simple/")
        self.assert_failed(done, "127.0.0.1:1")


if __name__ == "__main__":
    main()
