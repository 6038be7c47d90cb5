"""avail_wheels against a running farm and against a folder: the same wheels, the same table."""

import json
import subprocess

from support.case import FarmCase, main
from support.clients import CLIENTS, pip_install, twine_upload
from support.farm import COMMAND_TIMEOUT_S, INDEX
from support.package_index import PackageIndex, write_sdist
from support.site import Site
from support.wheels import Wheel, sha256_of


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
        cls.farm.wait_for_wheel_list(wheel.filename)

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

    def test_a_missing_index_is_reported(self):
        done = self.farm.run("avail_wheels", "--index-url", "http://127.0.0.1:1/nowhere/simple/")
        self.assert_failed(done, "127.0.0.1:1")

    def test_a_lock_of_uv_is_told_from_wheels_with_other_bytes_and_what_is_missing_is_requested(self):
        lock, requests, site = (self.folder / name for name in ("pylock.toml", "requests", "site.toml"))
        requests.mkdir()
        site.write_text(f'config_version = 1\nrequests = "{requests}"\n')
        client = self.folder / "requirements.in"
        client.write_text("yard-table==1.10\nyard-other\nnative ; sys_platform == 'win32'\n")

        def uv(*words) -> subprocess.CompletedProcess:
            return subprocess.run([str(word) for word in (CLIENTS / "uv/bin/uv", "pip", "--no-config", "--no-cache", *words)],
                                  env=self.farm.environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)

        python = ("--python", CLIENTS / "pip-new/bin/python")
        self.assert_ran(uv("compile", "--universal", "--format", "pylock.toml", *python, client,
                           "--default-index", self.farm.simple_url(), "--output-file", lock))

        def states(*arguments: str) -> dict[str, tuple[str, str]]:
            done = self.ask("--lock", str(lock), "--site", str(site), "-p", "3.11", "--json", *arguments)
            self.assert_ran(done)
            self.said = done.stderr
            return {one["name"]: (one["state"], one.get("why", "")) for one in json.loads(done.stdout)["lock"]["packages"]}

        self.assertEqual(states(), {"yard-other": ("here", ""), "yard-table": ("here", "")})
        self.assertIn("1 is not, by markers", self.said)
        install = ("install", *python, "--target", self.folder / "into", "-r", lock)
        self.assert_ran(uv(*install))

        table = Wheel("yard-table", "1.10")
        text, hashed = lock.read_text(), f'sha256 = "{sha256_of(self.wheelhouse / table.filename)}"'
        self.assertIn(hashed, text)
        lock.write_text(text.replace(hashed, f'sha256 = "{"0" * 64}"'))
        self.assert_failed(uv(*install, "--reinstall"), "Hash mismatch")
        lock.write_text(lock.read_text() + '[[packages]]\nname = "native"\nversion = "0.9"\nsdist = { url = "https://files.example.org/native-0.9.tar.gz", '
                        f'hashes = {{ sha256 = "{"0" * 64}" }} }}\n')
        self.assertEqual(states("--request-missing"),
                         {"yard-other": ("here", ""), "yard-table": ("other_bytes", f"another wheel of this version is here: {table.filename}"),
                          "native": ("missing", "the lock has only an sdist; here is 1.0")})
        request, = requests.iterdir()
        self.assertIn('package = "native"', request.read_text())

    def test_hashes_of_a_requirements_file_are_those_that_pip_checks(self):
        table, file = Wheel("yard-table", "1.10"), self.folder / "hashed.txt"
        right = sha256_of(self.wheelhouse / table.filename)
        for sha256, answer in ((right, "yes"), ("0" * 64, "no")):
            with self.subTest(answer):
                file.write_text(f"yard-table==1.10 \\\n    --hash=sha256:{sha256}\n")
                done = self.ask("-r", str(file), "--why", "--json")
                self.assert_ran(done)
                wheel, = json.loads(done.stdout)["wheels"]
                self.assertEqual((wheel["here"]["runs"], "--hash" in wheel["here"].get("why", "")), (answer, answer == "no"))
                installed = pip_install(self.farm, "pip-new", self.folder / f"pip-{answer}", "-r", str(file))
                if answer == "yes":
                    self.assert_ran(installed)
                else:
                    self.assert_failed(installed, "DO NOT MATCH THE HASHES")

    def test_status_is_the_builders_own_and_what_is_asked_for_comes_into_its_plan(self):
        requests = self.folder / "requests"
        requests.mkdir()
        user_file = self.folder / "avail_wheels.toml"
        user_file.write_text(f'config_version = 1\nstatus = "{self.farm.url}/{INDEX}/status.json"\nrequests = "{requests}"\n')
        with PackageIndex(self.folder / "sources") as sources:
            for name in ("pinned", "yard-asked"):
                write_sdist(sources.folder, name, "1.0")
            site = Site(self.farm, sources, self.token, {"yard-table": "1.10", "pinned": "1.0", "nobody-has-this": "1.0"},
                        recipes={"pinned": f'[source]\nkind = "sdist"\n[source.sha256]\n"1.0" = "{"0" * 64}"\n'},
                        scheduler='kind = "local"\nmax_attempts = 1\n')
            site.builder("run")

            def status(*arguments: str) -> dict[str, dict]:
                """What users see after the next tick."""
                self.assert_ran(site.builder("tick"))
                done = self.farm.run("avail_wheels", "--site", user_file, "--status", "--json", *arguments)
                self.assert_ran(done)
                return {cell["name"]: cell for cell in json.loads(done.stdout)["cells"]}

            report = status()
            self.assertEqual({name: cell["state"] for name, cell in report.items()},
                             {"yard-table": "have", "pinned": "given up", "nobody-has-this": "impossible"})
            self.assertIn("0" * 64, report["pinned"]["why"])
            self.assertEqual(list(status("nobody*")), ["nobody-has-this"])

            asked = self.farm.run("avail_wheels", "--site", user_file, "--request", "Yard.Asked==1.0")
            self.assert_ran(asked, "Requested yard-asked")
            self.assertEqual(status("yard-asked"), {})
            request, = requests.iterdir()
            site.file.write_text(site.file.read_text() + request.read_text())  # as the administrator takes it over
            self.assertIn(status("yard-asked")["yard-asked"]["state"], ("wanted", "active"))
        user_file.write_text(f'config_version = 1\nstatus = "{self.farm.url}/nobody/status.json"\n')
        self.assert_failed(self.farm.run("avail_wheels", "--site", user_file, "--status"), "404")


if __name__ == "__main__":
    main()
