"""Commands of root beside a service of another user: what they make belongs to that user, `serve --check` asks as it,
and no link that the service sets leads root's rights to root's files.

As root alone: nobody else may give a folder away.
"""

import contextlib
import os
import pwd
import subprocess
import unittest
from pathlib import Path

from support.case import OwnFarmsCase, main
from support.farm import BIN, COMMAND_TIMEOUT_S
from support.live_tree import paths_in
from support.wheels import Wheel

SERVICE = 65534
# Of a data folder; "." is itself.
FOLDERS = (".", "blobs", "blobs/sha256", "staging", "resumable", "damaged", "collecting", "upstream", "prefetch", "torch", "sites",
           "notify", "public", "public/main", "public/main/simple", "private")
FILES = ("catalog.sqlite", "catalog.sqlite-wal", "tasks.sqlite", "serve.lock", "control.sock", "reserve", "verify.json")


@unittest.skipUnless(os.geteuid() == 0, "only root can run commands for another user")
class ServiceUserTest(OwnFarmsCase):
    def setUp(self):
        super().setUp()
        self.folder.chmod(0o755)
        self.home = self.folder / "srv"
        self.home.mkdir()
        os.chown(self.home, SERVICE, SERVICE)
        self.etc = self.folder / "etc"

    def run_root(self, *words, program: str = "wheelyard-registry", **more) -> subprocess.CompletedProcess:
        return subprocess.run([BIN / program, *map(str, words)], capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S, **more)

    def victim(self) -> Path:
        """A folder that only root may touch, with names that a store has, too."""
        folder = self.folder / "victim"
        (folder / "staging").mkdir(parents=True)
        folder.chmod(0o700)
        for name in ("shadow", "staging/passwd"):
            (folder / name).write_text("root's")
        return folder

    def contents(self, folder: Path) -> dict:
        return {path: (path.lstat().st_mode, path.lstat().st_uid, path.is_file() and path.read_bytes()) for path in [folder, *folder.rglob("*")]}

    def check_links(self, place: Path, victim: Path, target: Path, *commands, **more):
        """With `place` as a link of the service to `target`, no command changes anything of `victim`."""
        kept = place.with_name(place.name + ".kept")
        if place.exists():
            place.rename(kept)
        place.symlink_to(target)
        os.chown(place, SERVICE, SERVICE, follow_symlinks=False)
        before = self.contents(victim)
        for command in commands:
            with self.subTest(place=str(place), command=command):
                self.run_root(*command, **more)
                self.assertEqual(self.contents(victim), before)
        subprocess.run(["rm", "-rf", place], check=True)
        if kept.exists():
            kept.rename(place)

    def owners(self, folder: Path) -> set[int]:
        """Of everything below it that is there for as long as the look takes: a server at work makes and removes files."""
        found = set()
        for path in (folder, *paths_in(folder)):
            with contextlib.suppress(FileNotFoundError):
                found.add(path.lstat().st_uid)
        return found

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
        self.assertEqual(done.returncode, 2, done.stdout)
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
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("data/blobs", done.stderr)

    def test_the_check_of_root_says_what_the_service_cannot_read_or_write(self):
        config = self.init()
        self.assert_ran(self.run_root("token", "create", "-c", config, "--name", "a", "--index", "main"))
        self.assert_ran(self.run_root("serve", "--check", "-c", config))
        catalog = self.home / "data" / "catalog.sqlite"
        os.chown(catalog, 0, 0)
        done = self.run_root("serve", "--check", "-c", config)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("catalog", done.stderr)
        os.chown(catalog, SERVICE, SERVICE)
        self.assert_ran(self.run_root("serve", "--check", "-c", config))
        config.chmod(0o600)
        done = self.run_root("serve", "--check", "-c", config)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn(str(config), done.stderr)

    def filled(self) -> Path:
        config = self.init()
        self.assert_ran(self.run_root("import", "main", Wheel("yard", "1.0").write(self.folder / "wheels"), "-c", config))
        self.assertEqual(self.owners(self.home), {SERVICE})
        return config

    def test_no_command_of_root_follows_a_link_out_of_the_store(self):
        config, victim, data = self.filled(), self.victim(), self.home / "data"
        other = Wheel("other", "1.0").write(self.folder / "wheels")
        commands = [("token", "list", "-c", config), ("gc", "-c", config), ("verify", "-c", config), ("dump", "-c", config),
                    ("import", "main", other, "-c", config), ("audit-export", self.folder / "export", "-c", config),
                    ("backup", self.folder / "backup", "-c", config), ("serve", "--check", "-c", config)]
        for name in FOLDERS:
            self.check_links(data / name, victim, victim, *commands)
        for name in FILES:
            self.check_links(data / name, victim, victim / "shadow", *commands)
        self.assert_ran(self.run_root("verify", "-c", config))
        self.assertEqual(self.owners(self.home), {SERVICE})

    def test_no_command_of_root_follows_a_link_out_of_a_published_tree(self):
        self.filled()
        victim, tree = self.victim(), self.home / "tree"
        publish = ("publish", "--store", self.home / "data", "--to", tree, "--index", "main")
        check = ("check", "--to", tree, "--store", self.home / "data")
        indexer = {"program": "wheelyard-indexer"}
        self.assert_ran(self.run_root(*publish, **indexer))
        self.assertEqual(self.owners(self.home), {SERVICE})
        folders = [tree, *(path for path in tree.rglob("*") if path.is_dir() and not path.is_symlink())]
        for folder in folders:
            self.check_links(folder, victim, victim, (*publish, "--all"), (*check, "--repair"), **indexer)
        self.assert_ran(self.run_root(*publish, "--all", **indexer))
        self.assert_ran(self.run_root(*check, **indexer))

    def test_root_does_not_work_in_the_state_of_an_agent_of_another_user(self):
        state = self.home / "state"
        site = self.folder / "site.toml"
        site.write_text(f'''config_version = 1
name = "main"
[state]
directory = "{state}"
[work]
directory = "{self.folder / "work"}"
[scheduler]
kind = "local"
[[python]]
version = "3.11"
executable = "/usr/bin/python3"
''')
        for command in (["plan"], ["status"], ["tick"], ["cron-line"], ["site", "check"], ["retry", "--all"]):
            done = self.run_root(*command, "--site", site, program="wheelyard-builder")
            self.assert_failed(done, "belongs to another user", str(state), f"run this as {pwd.getpwuid(SERVICE).pw_name}")
        self.assertEqual(list(self.home.iterdir()), [])

    def test_what_root_names_itself_may_be_roots_alone(self):
        config, own = self.filled(), self.folder / "own"
        own.mkdir(mode=0o700)
        wheel = Wheel("secret", "1.0").write(own)
        for place in (wheel, own):  # a file, and the files of a folder
            self.assert_ran(self.run_root("import", "main", place, "-c", config))
        self.assert_ran(self.run_root("token", "create", "-c", config, "--name", "a", "--index", "main", "--to", own / "token"))
        self.assert_failed(self.run_root("token", "create", "-c", config, "--name", "a", "--index", "none", "--to", own / "other"))
        self.assertFalse((own / "other").exists())
        for _ in range(2):  # a new one, and an earlier one
            self.assert_ran(self.run_root("backup", "-c", config, own / "backup"))
        self.assert_ran(self.run_root("backup", "--link", "-c", config, own / "linked"))
        self.assert_ran(self.run_root("audit-export", "-c", config, own / "export"))
        self.assertEqual(self.owners(own / "backup"), {0})
        self.assert_ran(self.run_root("restore", own / "backup", self.home / "restored"))
        self.assertEqual(self.owners(self.home), {SERVICE})
        self.assertIn("local:root", self.run_root("dump", "-c", config).stdout)
        keys = own / "keys"
        self.assert_ran(self.run_root("attest", "init", keys, env=os.environ | {"WHEELYARD_REGISTRY_CONFIG": str(config)}))
        self.assertEqual([(keys / name).stat().st_uid for name in ("root.key", "provenance.key")], [0, SERVICE])

    def test_a_server_of_root_has_the_rights_of_the_stores_owner(self):
        config, own = self.filled(), self.folder / "own"
        own.mkdir(mode=0o700)
        command = [BIN / "wheelyard-registry", "serve", "-c", config, "--ready-file", own / "ready"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server, contextlib.ExitStack() as ending:
            ending.callback(server.kill)  # also after a failure: leaving a Popen waits for its process without a limit
            self.assertIn("listening", server.stdout.readline())
            other = Wheel("other", "1.0").write(own)
            self.assert_ran(self.run_root("import", "main", other, "-c", config))
            done = self.run_root("yank", "main", other.name, "--reason", "old", "-c", config)
            self.assert_ran(done)
            self.assertNotIn("cannot be asked", done.stderr)
            self.assertEqual(self.owners(self.home), {SERVICE})
            server.terminate()
            self.assertEqual(server.wait(COMMAND_TIMEOUT_S), 0)
        self.assertTrue((own / "ready").read_text().startswith("http"))
        (own / "key").write_text("root's")
        good = config.read_text()
        for more in ('[attest]\nkey', '[stores]\nblobs = "s3://farm"\nblobs_credentials_file'):
            config.write_text(f'{good}{more} = "{own}/key"\n')
            done = self.run_root("serve", "-c", config)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(f"user {SERVICE} as that user", done.stderr)
        config.write_text(good)

    def test_a_new_data_folder_below_one_of_root_is_the_service_s(self):
        config, other = self.filled(), self.etc / "other.toml"
        other.write_text(config.read_text().replace(str(self.home / "data"), str(self.folder / "new")))
        self.assert_ran(self.run_root("store", "migrate", "-q", "-c", config, "--to", other))
        self.assertEqual(self.owners(self.folder / "new"), {SERVICE})

    def test_root_that_may_become_nobody_works_as_root(self):
        """As in a container without CAP_SETUID."""
        config = self.filled()
        done = subprocess.run(["setpriv", "--bounding-set=-setuid,-setgid", BIN / "wheelyard-registry", "gc", "-c", config],
                              capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
        self.assert_ran(done)

    def test_what_a_user_may_not_read_is_not_said_to_be_missing(self):
        config = self.init()
        self.etc.chmod(0o700)
        for program, *words in (("wheelyard-registry", "token", "list", "-c", config), ("wheelyard-indexer", "check", "--to", self.etc / "tree")):
            done = self.run_root(*words, program=program, user=SERVICE, group=SERVICE, extra_groups=[])
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"Permission denied as user {pwd.getpwuid(SERVICE).pw_name}: {words[-1]}", done.stderr)


if __name__ == "__main__":
    main()
