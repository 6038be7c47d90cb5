"""Commands of root beside a service of another user: what they make belongs to that user, and `serve --check` asks as it.

As root alone: nobody else may give a folder away.
"""

import os
import subprocess
import unittest
from pathlib import Path

from support.case import OwnFarmsCase, main
from support.farm import BIN, COMMAND_TIMEOUT_S

SERVICE = 65534


@unittest.skipUnless(os.geteuid() == 0, "only root can run commands for another user")
class ServiceUserTest(OwnFarmsCase):
    def setUp(self):
        super().setUp()
        self.folder.chmod(0o755)
        self.home = self.folder / "srv"
        self.home.mkdir()
        os.chown(self.home, SERVICE, SERVICE)
        self.etc = self.folder / "etc"

    def run_root(self, *words, **more) -> subprocess.CompletedProcess:
        return subprocess.run([BIN / "wheelyard-registry", *map(str, words)], capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S, **more)

    def owners(self, folder: Path) -> set[int]:
        return {path.lstat().st_uid for path in [folder, *folder.rglob("*")]}

    def init(self) -> Path:
        """As an installed package: root's configuration, the service's store."""
        self.assert_ran(self.run_root("init", self.etc, umask=0o077))
        config = self.etc / "registry.toml"
        config.write_text('config_version = 1\n[server]\nlisten = "127.0.0.1:0"\n[store]\ndirectory = "%s"\n[[index]]\nname = "main"\n' % (self.home / "data"))
        self.etc.chmod(0o755)
        return config

    def test_what_root_makes_belongs_to_the_service(self):
        config = self.init()
        self.assertEqual(config.stat().st_mode & 0o777, 0o644)
        self.assert_ran(self.run_root("token", "create", "-c", config, "--name", "a", "--index", "main"))
        self.assertEqual(self.owners(self.home), {SERVICE})
        backup = self.folder / "backup"
        self.assert_ran(self.run_root("backup", "-c", config, backup))
        self.assert_ran(self.run_root("restore", backup, self.home / "restored"))
        self.assertEqual(self.owners(self.home), {SERVICE})
        config.write_text(config.read_text().replace("srv/data", "srv/restored"))
        self.assert_ran(self.run_root("serve", "--check", "-c", config))

    def test_files_that_stay_with_root_are_named_as_such(self):
        config = self.init()
        self.assert_ran(self.run_root("token", "create", "-c", config, "--name", "a", "--index", "main"))
        backup, restored = self.folder / "backup", self.folder / "of root"
        self.assert_ran(self.run_root("backup", "-c", config, backup))
        done = self.run_root("restore", backup, self.home / "restored")
        self.assert_ran(done)
        self.assertNotIn("chown", done.stdout)
        self.assert_ran(self.run_root("restore", backup, restored), f"chown -R USER: '{restored}'")
        config.write_text(config.read_text().replace(str(self.home / "data"), str(restored)))
        self.assert_ran(self.run_root("serve", "--check", "-c", config), "the store is root's")
        os.chown(restored, SERVICE, SERVICE)
        done = self.run_root("serve", "--check", "-c", config)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(str(restored), done.stderr)

    def test_a_folder_of_root_in_the_store_of_the_service_is_found(self):
        config = self.init()
        self.assert_ran(self.run_root("token", "create", "-c", config, "--name", "a", "--index", "main"))
        done = self.run_root("serve", "--check", "-c", config)
        self.assert_ran(done)
        self.assertNotIn("root's", done.stdout)
        (self.home / "data" / "blobs").mkdir(exist_ok=True)
        os.chown(self.home / "data" / "blobs", 0, 0)
        done = self.run_root("serve", "--check", "-c", config)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("data/blobs", done.stderr)

    def test_the_check_of_root_says_what_the_service_cannot_read_or_write(self):
        config = self.init()
        self.assert_ran(self.run_root("token", "create", "-c", config, "--name", "a", "--index", "main"))
        self.assert_ran(self.run_root("serve", "--check", "-c", config))
        catalog = self.home / "data" / "catalog.sqlite"
        os.chown(catalog, 0, 0)
        done = self.run_root("serve", "--check", "-c", config)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("catalog", done.stderr)
        os.chown(catalog, SERVICE, SERVICE)
        self.assert_ran(self.run_root("serve", "--check", "-c", config))
        config.chmod(0o600)
        done = self.run_root("serve", "--check", "-c", config)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(str(config), done.stderr)


if __name__ == "__main__":
    main()
