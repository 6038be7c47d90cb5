"""The disk fills during an upload: the upload is refused, nothing half done stays, and the farm goes on. It fills while an agent copies
a source: the attempt waits, nothing half done holds the room, and it goes on where there is more.

The registry's data, or the agent's folder, lies on a tmpfs of a few megabytes, in a mount namespace of its own (as root, or in a user
namespace).
"""

import errno
import os
import subprocess
import time
from pathlib import Path
from urllib.parse import urljoin

from support.case import FarmCase, main
from support.clients import RawUpload, installed_value, pip_install, twine_upload
from support.farm import BIN, COMMAND_TIMEOUT_S, INDEX, START_TIMEOUT_S, Farm
from support.live_tree import staged_in
from support.package_index import PackageIndex
from support.site import Site
from support.wheels import Wheel, incompressible

DISK_MIB = 12
NAMESPACES = (("unshare", "--mount"),
              # In a chroot whose root is no mount point its propagation cannot be changed: what is mounted may show outside too.
              ("unshare", "--mount", "--propagation", "unchanged")) if os.geteuid() == 0 else (
             ("unshare", "--user", "--map-root-user", "--mount"),)
# $0: the data folder. What was there (the catalog with its token) moves onto the small disk.
MOUNT = ('kept=$(mktemp -d) && cp -a "$0/." "$kept/" && mount -t tmpfs -o size=%dm wheelyard "$0" && '
         'cp -a "$kept/." "$0/" && rm -r "$kept" && exec "$@"' % DISK_MIB)
# $0: the folder on the small disk; then the agent's program and its site.
# mount(8) by itself repeats the owner, whom a user namespace does not have.
TICK_THEN_RUN_WITH_ROOM = ('"$1" tick --site "$2"; echo "files left: $(find "$0/work" -name "*.bin" | wc -l)"; '
                           'mount --options-mode ignore -o remount,size=1g "$0" && exec "$1" run --site "$2"')


def namespace_with_mounts() -> tuple[str, ...]:
    probes = [subprocess.run([*namespace, "true"], capture_output=True, text=True) for namespace in NAMESPACES]
    for namespace, probe in zip(NAMESPACES, probes):
        if probe.returncode == 0:
            return namespace
    raise AssertionError("this test needs root or user namespaces, to mount a small disk: " + probes[0].stderr)


def left_in(data: Path) -> list[Path]:
    """What uploads have left; what the running server still needs goes by itself, with its folders."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while (found := staged_in(data)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return found


class FullDiskTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        cls.namespace = namespace_with_mounts()

    def setUp(self):
        super().setUp()
        self.farm = self.enterContext(Farm())
        self.addCleanup(self.unmount_outside)
        self.token = self.farm.create_token()
        self.admin_token = self.farm.create_token(name="administrator", actions=("yank", "quarantine"))
        self.farm.start(wrapper=(*self.namespace, "sh", "-c", MOUNT, str(self.farm.data)))
        self.see_disk_of(self.farm.process.pid)

    def see_disk_of(self, process: int):
        self.seen_data = Path(f"/proc/{process}/root{self.farm.data}")
        user = () if os.geteuid() == 0 else ("--user", "--preserve-credentials")
        self.inside = ("nsenter", "--target", str(process), *user, "--mount", "--root", "--wd")

    def unmount_outside(self):
        self.farm.stop()
        if os.path.ismount(self.farm.data):
            subprocess.run(["umount", self.farm.data], check=True)

    def test_an_upload_that_does_not_fit_is_refused_and_smaller_ones_still_work(self):
        self.assertTrue(any("tmpfs" in line and str(self.farm.data) in line
                            for line in Path(f"/proc/{self.farm.process.pid}/mounts").read_text().splitlines()))
        first = Wheel("fits", "1.0", value=1).write(self.folder)
        self.assert_ran(twine_upload(self.farm, self.token, first))

        big = Wheel("too-big", "1.0", extra_members={"too_big/data": incompressible(2 * DISK_MIB << 20)}).write(self.folder)
        status, problem = RawUpload(self.farm, self.token, big).send()
        self.assertEqual((status, problem.get("code")), (507, "upload.disk_full"), problem)
        self.assertTrue(problem["advice"], problem)
        self.assertEqual(self.farm.files("too-big"), {})
        self.assertEqual(left_in(self.seen_data), [])

        second = Wheel("fits", "1.1", value=2).write(self.folder)
        self.assert_ran(twine_upload(self.farm, self.token, second))
        self.assert_ran(pip_install(self.farm, "pip-new", self.folder / "t", "fits"))
        self.assertEqual(installed_value("pip-new", self.folder / "t", "fits"), "2")

    def fill(self, name: str = "filler") -> Path:
        """As another program fills the disk: to the last block."""
        filler = self.seen_data / name
        with filler.open("wb", buffering=0) as file, self.assertRaises(OSError) as full:
            for size in (1 << 16, 1):
                while file.write(bytes(size)) == size:
                    pass
            raise OSError(errno.ENOSPC, "a short write")
        self.assertEqual(full.exception.errno, errno.ENOSPC)
        return filler

    def command(self, name: str, *arguments) -> subprocess.CompletedProcess:
        """A command on the data folder, which only the namespace of the server shows."""
        return subprocess.run([*self.inside, str(BIN / "wheelyard-registry"), *name.split(), "-c", str(self.farm.config), *map(str, arguments)],
                              env=self.farm.environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)

    def metric(self, name: str) -> float:
        text = self.farm.get("/metrics")[2].decode()
        return float(next(line.split()[1] for line in text.splitlines() if line.startswith(f"wheelyard_{name} ")))

    def test_on_a_disk_that_another_program_has_filled_an_administrator_works_and_uploads_wait(self):
        wheels = [Wheel("bad", f"1.{number}").write(self.folder) for number in range(4)]
        for wheel in wheels:
            self.assertEqual(RawUpload(self.farm, self.token, wheel).send()[0], 200)
        self.assertTrue((self.seen_data / "reserve").is_file())
        filler = self.fill()
        status, problem = RawUpload(self.farm, self.token, Wheel("late", "1.0").write(self.folder)).send()
        self.assertEqual((status, problem.get("code")), (507, "upload.disk_full"), problem)
        self.assertEqual(self.farm.get("/readyz")[0], 503)

        administrator = self.folder / "administrator"
        administrator.write_text(self.admin_token)
        over_http = ("--url", self.farm.url, "--token-file", administrator)
        self.assert_ran(self.farm.run("wheelyard-registry", "yank", INDEX, wheels[0].name, "--reason", "bad", *over_http))
        self.assertTrue(self.farm.files("bad")[wheels[0].name]["yanked"])
        self.assertFalse((self.seen_data / "reserve").exists())
        self.assert_ran(self.farm.run("wheelyard-registry", "quarantine", INDEX, wheels[1].name, "--reason", "bad", *over_http))
        self.assert_ran(self.command("delete", INDEX, wheels[2].name, "--reason", "bad"))
        self.assertEqual(set(self.farm.files("bad")), {wheels[0].name, wheels[3].name})
        self.assert_ran(self.command("verify"))
        self.assert_ran(self.command("token revoke", self.token))
        status, problem = RawUpload(self.farm, self.token, wheels[3]).send()
        self.assertEqual((status, problem.get("code")), (403, "auth.token_refused"), problem)

        filler.unlink()
        deadline = time.monotonic() + COMMAND_TIMEOUT_S
        while self.metric("store_reserve") != 1:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.5)  # the server looks every ten seconds
        self.farm.wait_until_ready()

    def test_a_command_works_on_a_full_disk_without_the_server(self):
        wheel = Wheel("bad", "1.0").write(self.folder)
        self.assertEqual(RawUpload(self.farm, self.token, wheel).send()[0], 200)
        self.fill()
        self.assert_ran(self.command("token revoke", self.token))
        self.assertFalse((self.seen_data / "reserve").exists())

    def test_a_start_without_the_reserve_and_without_a_free_byte_serves_what_is_published(self):
        wheels = [Wheel("good", f"1.{number}").write(self.folder) for number in range(3)]
        for wheel in wheels[:2]:
            self.assertEqual(RawUpload(self.farm, self.token, wheel).send()[0], 200)
        self.fill()
        self.assert_ran(self.command("yank", INDEX, wheels[0].name, "--reason", "old"))
        self.assertFalse((self.seen_data / "reserve").exists())
        self.fill("second_filler")
        holder = subprocess.Popen([*self.inside, "sh", "-c", f"echo held && exec sleep {10 * COMMAND_TIMEOUT_S}"], stdout=subprocess.PIPE)
        self.addCleanup(holder.stdout.close)
        self.addCleanup(holder.wait)
        self.addCleanup(holder.kill)
        self.assertEqual(holder.stdout.readline(), b"held\n")  # the disk goes with its last process
        for end in (self.farm.kill, self.farm.stop):
            with self.subTest(end.__name__):
                self.see_disk_of(holder.pid)
                end()
                self.farm.log.write_text("")
                self.farm.start(wrapper=self.inside)
                self.assertIn("serve.disk_full", self.farm.log.read_text())
                self.assertEqual({name: file["yanked"] for name, file in self.farm.files("good").items()},
                                 {wheels[0].name: "old", wheels[1].name: False})
                self.assert_ran(pip_install(self.farm, "pip-new", self.folder / end.__name__, "good"))
                status, _, text = self.farm.get("/readyz")
                self.assertEqual((status, text.decode().splitlines()[0]), (503, "the store's disk is full: 0 MiB are left"))
                status, problem = RawUpload(self.farm, self.token, wheels[2]).send()
                self.assertEqual((status, problem.get("code")), (507, "upload.disk_full"), problem)
        (self.seen_data / "filler").unlink()
        self.assertEqual(RawUpload(self.farm, self.token, wheels[2]).send()[0], 200)
        self.farm.wait_until_ready()

    def test_filled_to_the_brim_by_many_uploads_everything_acknowledged_is_served(self):
        acknowledged = []
        for number in range(40):
            wheel = Wheel("brim", f"1.{number}", extra_members={"brim/data": incompressible(600_000, number)}).write(self.folder)
            status, problem = RawUpload(self.farm, self.token, wheel).send()
            if status != 200:
                self.assertIn(status, (503, 507), problem)
                break
            acknowledged.append(wheel.name)
        self.assertGreater(len(acknowledged), 3)
        self.assertLess(len(acknowledged), 40, "the disk never filled")
        shown = self.farm.files("brim")
        for name in acknowledged:
            status, _, body = self.farm.get(urljoin("/debian12/simple/brim/", shown[name]["url"]))
            self.assertEqual((status, len(body)), (200, shown[name]["size"]))
        self.assertEqual(left_in(self.seen_data), [])


class FullWorkFolderTest(FarmCase):
    """The agent's own disk."""

    def test_an_agent_waits_where_a_source_finds_no_room_and_holds_none_meanwhile(self):
        sources = self.enterContext(PackageIndex(self.folder / "sources"))
        project = self.folder / "project"
        (project / "yard_large").mkdir(parents=True)
        (project / "yard_large" / "__init__.py").write_text("value = 3\n")
        (project / "pyproject.toml").write_text(
            '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
            '[project]\nname = "yard-large"\nversion = "1.0"\n[tool.setuptools]\npackages = ["yard_large"]\n')
        for number in range(2 * DISK_MIB):
            (project / f"{number}.bin").write_bytes(bytes(1 << 20))
        site = Site(self.farm, sources, self.token, {"yard-large": "1.0"},
                    recipes={"yard-large": f'[source]\nkind = "path"\npath = "{project}"\n'})
        self.addCleanup(self.unmount_outside, site.folder)
        command = [*namespace_with_mounts(), "sh", "-c", MOUNT, str(site.folder),
                   "sh", "-c", TICK_THEN_RUN_WITH_ROOM, str(site.folder), str(BIN / "wheelyard-builder"), str(site.file)]
        done = subprocess.run(command, env=site.environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
        self.assert_ran(done, "waits: A source cannot be copied: write failed: No space left on device: `",
                        "(free space on that file system)", "files left: 0\n")
        self.assertIn("yard_large-1.0-py3-none-any.whl", self.farm.files("yard-large"))

    @staticmethod
    def unmount_outside(folder: Path):
        if os.path.ismount(folder):
            subprocess.run(["umount", folder], check=True)


if __name__ == "__main__":
    main()
