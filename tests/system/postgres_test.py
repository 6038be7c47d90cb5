"""The catalog and the tasks in PostgreSQL: the same programs and clients, and what becomes of them when the database is
killed, stopped or replaced by its standby. docs/how-to/postgresql.md has the same commands.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest

from support.case import OwnFarmsCase, main
from support.clients import RawUpload, installed_value, pip_install, twine_upload
from support.daemons import Daemons, which
from support.farm import INDEX, Farm
from support.full import IS_FULL
from support.ports import free_port
from support.postgres import PASSWORD, PostgresServer, url_of
from support.unmounted import check_unmounted_store
from support.wheels import Wheel

# page_lags: it was committed, and the page could not be rendered any more.
DOWN = {"upload.no_database", "upload.outcome_unknown", "auth.unavailable", "upload.page_lags"}


class PostgresCase(OwnFarmsCase):
    standbys = 0

    def setUp(self):
        unittest.TestCase.setUp(self)
        self.server = PostgresServer()
        self.addCleanup(lambda: self.server.remove())
        self.server.start()
        self.server.create_user("farm", "wheels")
        self.servers = [self.server]
        for _ in range(self.standbys):
            standby = PostgresServer(of=self.server)
            self.addCleanup(standby.remove)
            standby.start()
            self.servers.append(standby)
        if self.standbys:  # before there is one, no commit would end
            self.server.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
            self.server.sql("SELECT pg_reload_conf()")
        self.farm = self.enterContext(Farm(self.indexes, stores=self.stores("wheels")))
        self.folder = self.farm.folder
        (self.folder / "password").write_text(PASSWORD + "\n")
        self.token = self.farm.create_token()
        self.farm.start()

    def stores(self, database: str) -> str:
        return f'database = "{url_of(*self.servers, database=database)}"\ndatabase_password_file = "password"'

    def command(self, *words) -> str:
        done = self.farm.run("wheelyard-registry", *words)
        self.assert_ran(done)
        return done.stdout

    def upload(self, project: str, version: str = "1.0") -> tuple[int, dict]:
        return RawUpload(self.farm, self.token, Wheel(project, version).write(self.folder)).send()

    def upload_in_the_end(self, project: str) -> None:
        for _ in range(600):
            status, problem = self.upload(project)
            if status == 200:
                return
            self.assertEqual(status, 503, problem)
            self.assertIn(problem["code"], DOWN)
            time.sleep(0.1)
        self.fail(f"{project} is not accepted again: {problem}")


class EverythingTest(PostgresCase):
    def test_a_registry_works_over_it_from_the_first_token_to_a_restored_backup(self):
        wheel = Wheel("six", "1.0", value=7).write(self.folder)
        self.assert_ran(twine_upload(self.farm, self.token, wheel))
        self.assert_ran(pip_install(self.farm, "pip-new", self.folder / "site", "six"))
        self.assertEqual(installed_value("pip-new", self.folder / "site", "six"), "7")
        self.assertEqual([path.name for path in self.farm.data.glob("*.sqlite*")], [])

        config = ("--config", self.farm.config)
        self.command("yank", INDEX, wheel.name, "--reason", "wrong", *config)
        self.assertEqual(self.farm.files("six")[wheel.name]["yanked"], "wrong")
        self.command("unyank", INDEX, wheel.name, *config)
        self.command("task", "add", INDEX, "torch", "2.4.0", "--python", "3.11", *config)
        tasks = self.command("task", "list", "--json", *config).splitlines()
        self.assertEqual([json.loads(task)["package"] for task in tasks], ["torch"])
        self.command("verify", *config)

        other = self.farm.create_token(name="other")
        refused = RawUpload(self.farm, other, Wheel("seven").write(self.folder))
        self.command("token", "revoke", other.split("_")[0] + "_" + other.split("_")[1], *config)
        self.assert_refused(refused, 403, "auth.token_refused")

        # A tree rendered elsewhere from the database alone.
        tree = self.folder / "tree"
        place = ("--store", self.farm.data, "--database", url_of(*self.servers), "--database-password-file", self.folder / "password")
        self.assert_ran(self.farm.run("wheelyard-indexer", "publish", *place, "--to", tree))
        self.assert_ran(self.farm.run("wheelyard-indexer", "check", *place, "--to", tree))
        self.assertTrue((tree / INDEX / "simple" / "six" / "index.html").exists())

        backup = self.folder / "backup"
        self.command("backup", backup, *config)
        self.assertTrue((backup / "catalog.sqlite").exists())
        self.server.sql("CREATE DATABASE again OWNER farm ENCODING 'UTF8' TEMPLATE template0")
        restored = self.enterContext(Farm(self.indexes, stores=self.stores("again")))
        shutil.copy(self.folder / "password", restored.folder / "password")
        to_restore = ("restore", backup, restored.data, "--database", url_of(*self.servers, database="again"),
                      "--database-password-file", self.folder / "password")
        self.command(*to_restore)
        dump = self.command("dump", *config)
        self.assertEqual(self.farm.run("wheelyard-registry", "dump", "--config", restored.config).stdout, dump)
        self.assert_failed(self.farm.run("wheelyard-registry", *to_restore), "contains a registry")
        restored.start()
        self.assertIn(wheel.name, restored.files("six"))
        # The same backup into a folder, without any PostgreSQL.
        alone = self.enterContext(Farm(self.indexes))
        self.command("restore", backup, alone.data)
        self.assertEqual(self.farm.run("wheelyard-registry", "dump", "--config", alone.config).stdout, dump)

    def test_a_server_whose_folder_of_wheels_is_not_mounted_is_refused_and_leaves_it_empty(self):
        check_unmounted_store(self, self.farm, self.token)

    def test_a_registry_in_a_folder_moves_its_catalog_and_copies_no_wheel(self):
        moved = self.enterContext(Farm(self.indexes))
        token = moved.create_token()
        moved.start()
        wheel = Wheel("yard-moved").write(moved.folder)
        self.assertEqual(RawUpload(moved, token, wheel).send()[0], 200)
        self.server.sql("CREATE DATABASE moved OWNER farm ENCODING 'UTF8' TEMPLATE template0")
        shutil.copy(self.folder / "password", moved.folder / "password")
        to = moved.folder / "registry-postgres.toml"
        to.write_text(moved.config.read_text() + f"\n[stores]\n{self.stores('moved')}\n")
        migrate = ("wheelyard-registry", "store", "migrate", "-c", moved.config, "--to", to)
        self.assert_ran(moved.run(*migrate), "not copied while a server runs")
        moved.stop()
        dump = moved.run("wheelyard-registry", "dump", "--config", moved.config).stdout
        self.assertIn(wheel.name, dump)
        done = moved.run(*migrate)
        self.assert_ran(done, f"start the server with {to}")
        self.assertNotIn("blobs", done.stdout)
        self.assert_failed(moved.run(*migrate), "contains a registry")
        moved.stores = self.stores("moved")
        moved.write_config(moved.port)
        self.assertEqual(moved.run("wheelyard-registry", "dump", "--config", moved.config).stdout, dump)
        moved.start()
        self.assertIn(wheel.name, moved.files("yard-moved"))
        self.assertEqual(RawUpload(moved, token, Wheel("yard-later").write(moved.folder)).send()[0], 200)

    def test_a_database_that_cannot_be_used_is_named_with_what_to_do_and_no_password(self):
        self.farm.stop()
        (self.folder / "password").write_text("wrong password\n")
        done = self.farm.run("wheelyard-registry", "serve", "--config", self.farm.config)
        self.assert_failed(done, "cannot be reached", "password authentication failed")
        self.assertNotIn("wrong password", done.stderr + done.stdout)
        (self.folder / "password").write_text(PASSWORD)
        self.farm.stores = self.stores("missing")
        self.farm.write_config(0)
        for more in ((), ("--check",)):
            done = self.farm.run("wheelyard-registry", "serve", "--config", self.farm.config, *more)
            self.assert_failed(done, '"missing" does not exist')
        self.assert_failed(self.farm.run("wheelyard-registry", "token", "list", "--config", self.farm.config), '"missing" does not exist')
        url = "postgres://farm:sekret@127.0.0.1/wheels"
        for words in (("wheelyard-registry", "restore", self.folder, self.folder / "restored"),
                      ("wheelyard-indexer", "publish", "--store", self.farm.data, "--to", self.folder / "never")):
            done = self.farm.run(*words, "--database", url)
            self.assert_failed(done, "must not contain a password")
            self.assertNotIn("sekret", done.stderr + done.stdout)


class SecondServerTest(PostgresCase):
    def test_a_second_server_over_one_database_is_refused_unless_both_have_an_address(self):
        second = self.enterContext(Farm(self.indexes, stores=self.stores("wheels")))
        shutil.copy(self.folder / "password", second.folder / "password")
        second.data.mkdir()
        (second.data / "blobs").symlink_to(self.farm.data / "blobs")
        address = '\n[node]\nname = "second"\naddress = "http://127.0.0.1:1"\nlease_s = 4\n'
        for more in ("", address):
            second.write_config(0)
            with open(second.config, "a") as config:
                config.write(more)
            done = second.run("wheelyard-registry", "serve", "--config", second.config)
            self.assert_failed(done, "Another server runs over this database", "[node] address", socket.gethostname())
        self.assertEqual(self.upload("meanwhile")[0], 200)
        # One that was killed is waited for, by itself and by its successor.
        self.farm.kill()
        self.farm.start()
        self.assertEqual(self.upload("afterwards")[0], 200)
        self.farm.kill()
        second.port = free_port()
        second.write_config(second.port)
        with open(second.config, "a") as config:
            config.write(address)
        second.start()
        self.assertEqual(len(second.files("afterwards")), 1)
        self.assert_failed(self.farm.run("wheelyard-registry", "serve", "--config", self.farm.config),
                           "Another server runs over this database", "second")


if IS_FULL:
    class PoolTest(PostgresCase):
        def test_a_pool_before_the_database_is_refused(self):
            if not which("pgbouncer"):
                self.skipTest("PgBouncer is not installed (scripts/install-deps --full)")
            port = free_port()
            settings, users = self.server.parent / "pool.ini", self.server.parent / "users"
            users.write_text(f'"farm" "{PASSWORD}"\n')
            daemons = Daemons()
            self.addCleanup(daemons.stop_all)
            as_nobody = ("setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups", "--") if os.getuid() == 0 else ()
            self.farm.stop()
            for mode in ("transaction", "session"):
                settings.write_text(f"[databases]\nwheels = host=127.0.0.1 port={self.server.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
                                    f"listen_port = {port}\nunix_socket_dir =\nauth_type = scram-sha-256\nauth_file = {users}\n"
                                    f"server_tls_sslmode = require\npool_mode = {mode}\n")
                (self.folder / "pool.log").unlink(missing_ok=True)
                daemons.start("pgbouncer", ["pgbouncer", str(settings)], self.folder / "pool.log", {}, as_nobody)
                self.farm.stores = f'database = "postgres://farm@127.0.0.1:{port}/wheels"\ndatabase_password_file = "password"'
                self.farm.write_config(0)
                deadline = time.monotonic() + 240
                while "process up" not in (self.folder / "pool.log").read_text():
                    self.assertLess(time.monotonic(), deadline, (self.folder / "pool.log").read_text())
                    time.sleep(0.05)  # until an outside process has done something: nothing announces it
                for words in (("serve",), ("token", "list")):
                    done = self.farm.run("wheelyard-registry", *words, "--config", self.farm.config)
                    self.assert_failed(done, "A connection pool stands before the database", "not PgBouncer")
                daemons.stop_all()


class CrashTest(PostgresCase):
    def test_what_was_acknowledged_survives_the_databases_crashes(self):
        acknowledged: list[str] = []
        others: dict[str, dict] = {}
        stopped = threading.Event()

        def upload_all(worker: int) -> None:
            number = 0
            while not stopped.is_set():
                name = f"made-{worker}-{number}"
                status, problem = self.upload(name)
                if status == 200:
                    acknowledged.append(name)
                    number += 1
                else:
                    others[f"{status} {problem.get('code')}"] = problem
                    time.sleep(0.05)

        workers = [threading.Thread(target=upload_all, args=(worker,)) for worker in range(3)]
        for worker in workers:
            worker.start()

        def wait_for_more(count: int) -> None:
            goal, deadline = len(acknowledged) + count, time.monotonic() + 240
            while len(acknowledged) < goal and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertGreaterEqual(len(acknowledged), goal, others)

        try:
            wait_for_more(5)
            backend = self.server.sql("SELECT pid FROM pg_stat_activity WHERE usename = 'farm' ORDER BY pid LIMIT 1")
            subprocess.run(["kill", "-9", backend], check=True)  # the server ends all the others, too
            wait_for_more(5)
            self.server.stop(signal.SIGQUIT)
            deadline = time.monotonic() + 240
            while not others and time.monotonic() < deadline:
                time.sleep(0.01)
            pages = self.farm.get(f"/{INDEX}/simple/{acknowledged[0]}/")[0]
            self.server.restart()
            wait_for_more(5)
        finally:
            stopped.set()
            for worker in workers:
                worker.join()
        self.assertEqual(pages, 200)  # pages need no database
        self.assertEqual({status[:4] for status in others}, {"503 "}, others)
        self.assertLessEqual({status[4:] for status in others}, DOWN, others)
        # Every acknowledged file is on its page, and in the log once.
        dump = self.command("dump", "--config", self.farm.config)
        for name in acknowledged:
            self.assertEqual(len(self.farm.files(name)), 1, name)
            filename = Wheel(name, "1.0").filename
            added = [line for line in dump.splitlines() if filename in line and "file_added" in line]
            self.assertEqual(len(added), 1, name)
        self.farm.check_tree()

    def test_a_stopped_database_is_given_up_and_used_again(self):
        self.assertEqual(self.upload("before")[0], 200)
        self.server.signal_all(signal.SIGSTOP)
        try:
            status, problem = self.upload("during")
            page = self.farm.get(f"/{INDEX}/simple/before/")[0]
        finally:
            self.server.signal_all(signal.SIGCONT)
        self.assertEqual(status, 503, problem)
        self.assertIn(problem["code"], DOWN)
        self.assertEqual(page, 200)
        self.upload_in_the_end("during")


class FailoverTest(PostgresCase):
    standbys = 1

    def test_the_standby_takes_over_with_every_acknowledged_file(self):
        primary, standby = self.servers
        names = [f"early-{i}" for i in range(5)]
        for name in names:
            self.assertEqual(self.upload(name)[0], 200)
        primary.stop(signal.SIGQUIT)
        status, problem = self.upload("between")
        self.assertEqual(status, 503, problem)
        standby.promote()
        self.upload_in_the_end("between")
        for name in [*names, "between"]:
            self.assertEqual(len(self.farm.files(name)), 1)
        self.farm.check_tree()


if __name__ == "__main__":
    main()
