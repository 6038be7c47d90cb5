"""twine and uv upload, three generations of pip install: from this farm's index and from nowhere else."""

from support.case import FarmCase, main
from support.clients import PIPS, PIPS_WITH_REPORT, installed_value, pip_install, report_of, twine_upload, uv_publish
from support.wheels import Wheel, incompressible, sha256_of


class ClientsTest(FarmCase):
    def test_what_twine_uploads_every_pip_installs_at_once(self):
        wheel = Wheel("Yard.Loop", "1.0", value=42).write(self.folder)
        self.assert_ran(twine_upload(self.farm, self.token, wheel))
        for pip in PIPS:
            with self.subTest(pip):
                target = self.folder / pip
                self.assert_ran(pip_install(self.farm, pip, target, "yard-loop==1.0"))
                self.assertEqual(installed_value(pip, target, "yard_loop"), "42")

    def test_the_report_of_pip_names_our_url_and_the_sha256_that_was_uploaded(self):
        wheel = Wheel("yard-report", "2.1+site.1").write(self.folder)
        self.assert_ran(twine_upload(self.farm, self.token, wheel))
        for pip in PIPS_WITH_REPORT:
            with self.subTest(pip):
                report = self.folder / f"{pip}.json"
                self.assert_ran(pip_install(self.farm, pip, self.folder / pip, "yard_report",
                                            options=("--report", report)))
                url, sha256 = report_of(report)["yard-report"]
                self.assertEqual(sha256, sha256_of(wheel))
                self.assertTrue(url.startswith(f"{self.farm.url}/debian12/files/{sha256[:2]}/{sha256}/"), url)

    def test_the_newest_version_that_runs_on_this_python_is_chosen(self):
        for wheel in (Wheel("yard-choice", "1.0", value=1), Wheel("yard-choice", "1.1rc1", value=2),
                      Wheel("yard-choice", "2.0", requires_python=">=99", value=3),
                      Wheel("yard-choice", "3.0", tags=("cp311-cp311-linux_nowhere",), value=4,
                            extra_members={})):
            self.assert_ran(twine_upload(self.farm, self.token, wheel.write(self.folder)))
        for pip in PIPS:
            with self.subTest(pip):
                target = self.folder / pip
                self.assert_ran(pip_install(self.farm, pip, target, "yard-choice"))
                self.assertEqual(installed_value(pip, target, "yard_choice"), "1")

    def test_pip_checks_the_hash_that_the_index_shows(self):
        wheel = Wheel("yard-hashed", "1.0").write(self.folder)
        self.assert_ran(twine_upload(self.farm, self.token, wheel))
        requirements = self.folder / "requirements.txt"
        requirements.write_text(f"yard-hashed==1.0 --hash=sha256:{sha256_of(wheel)}\n")
        for pip in PIPS:
            self.assert_ran(pip_install(self.farm, pip, self.folder / pip, "-r", str(requirements)))
        requirements.write_text(f"yard-hashed==1.0 --hash=sha256:{'0' * 64}\n")
        self.assert_failed(pip_install(self.farm, "pip-new", self.folder / "other", "-r", str(requirements)),
                           "DO NOT MATCH THE HASHES")

    def test_what_is_not_on_the_farm_is_not_found(self):
        for pip in PIPS:
            self.assert_failed(pip_install(self.farm, pip, self.folder / pip, "pip"),
                               "No matching distribution found for pip")

    def test_uv_publishes_and_pip_installs(self):
        wheel = Wheel("yard-uv", "1.0", value=7).write(self.folder)
        self.assert_ran(uv_publish(self.farm, self.token, wheel))
        self.assert_ran(uv_publish(self.farm, self.token, wheel))  # the same file again
        self.assert_ran(pip_install(self.farm, "pip-new", self.folder / "t", "yard-uv"))
        self.assertEqual(installed_value("pip-new", self.folder / "t", "yard_uv"), "7")

    def test_several_megabytes_arrive_as_they_were_sent(self):
        wheel = Wheel("yard-big", "1.0", extra_members={"yard_big/blob": incompressible(24 << 20)}).write(self.folder)
        self.assert_ran(twine_upload(self.farm, self.token, wheel))
        entry = self.farm.files("yard-big")[wheel.name]
        self.assertEqual((entry["size"], entry["hashes"]["sha256"]), (wheel.stat().st_size, sha256_of(wheel)))
        self.assert_ran(pip_install(self.farm, "pip-new", self.folder / "t", "yard-big"))
        self.assertEqual((self.folder / "t/yard_big/blob").stat().st_size, 24 << 20)

    def test_the_tree_is_whole_after_all_that(self):
        self.farm.check_tree()
        self.assertEqual(self.farm.staging_leftovers(), [])


if __name__ == "__main__":
    main()
