"""Commands on a data folder ask its running server over control.sock: only the store's owner and root are answered, and only operations;
where no server can be asked, the command does the work itself and says why."""

import concurrent.futures
import contextlib
import json
import os
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from support.case import FarmPerTestCase, OwnFarmsCase, main
from support.clients import RawUpload
from support.farm import BIN, COMMAND_TIMEOUT_S, Farm, for_all_users
from support.wheels import Wheel

FIRST, SECOND = "first", "second"
CANNOT_BE_ASKED = "The server of this store cannot be asked"
OWNER, PROXY, OTHER = 61001, 61002, 61003  # users without a name
PYTHON = "/usr/bin/python3"  # that of the tests may lie in a home that others may not enter
COMMANDS_AT_ONCE = 24
ADDRESS_BYTES = 107  # unix(7)
GREETED = """import socket, sys
peer = socket.socket(socket.AF_UNIX)
peer.connect(sys.argv[1])
peer.settimeout(30)
peer.sendall(b'{"operation":"describeIndexes","arguments":{}}\\n')
answer = b""
while piece := peer.recv(65536):
    answer += piece
print(answer.decode())"""


def lines_of(path: Path, sent: bytes) -> list[dict]:
    """All lines that the server sends to one that sends this."""
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(COMMAND_TIMEOUT_S)
        peer.connect(str(path))
        peer.sendall(sent)
        peer.shutdown(socket.SHUT_WR)
        answer = b""
        try:
            while piece := peer.recv(65536):
                answer += piece
        except ConnectionResetError:  # the server has closed before it read all
            pass
    return [json.loads(line) for line in answer.splitlines()]


class Socket:
    """What the tests of this file ask of a farm."""

    def command(self, *words, farm: Farm | None = None, **options):
        farm = farm or self.farm
        return farm.run("wheelyard-registry", *words, "-c", farm.config, **options)

    def create(self, name: str, farm: Farm | None = None, **options):
        """By the file, which is applied: with the server, or without one."""
        (farm or self.farm).set_index(name)
        return self.command("apply", farm=farm, **options)

    def actors(self, index: str, farm: Farm | None = None) -> list[str]:
        done = self.command("audit", "--index", index, "--json", farm=farm)
        self.assert_ran(done)
        return [event["actor"] for event in map(json.loads, done.stdout.splitlines()) if event["kind"] == "index_changed"]

    def assert_asked(self, done, *phrases: str):
        """The server did it."""
        self.assert_ran(done, *phrases)
        self.assertEqual(done.stderr, "")


class ControlSocketTest(Socket, FarmPerTestCase):
    indexes = (FIRST,)

    def setUp(self):
        super().setUp()
        self.socket = self.farm.data / "control.sock"
        self.wheel = Wheel("wombat").write(self.folder)

    def upload(self) -> None:
        self.assertEqual(RawUpload(self.farm, self.farm.create_token(), self.wheel, FIRST).send()[0], 200)

    def yank(self, **options):
        return self.command("yank", FIRST, self.wheel.name, "--reason", "old", **options)

    def yanked(self) -> str:
        return self.farm.files("wombat", FIRST)[self.wheel.name].get("yanked", False)

    def test_it_is_the_owners_alone_and_goes_with_the_server(self):
        found = self.socket.lstat()
        self.assertTrue(stat.S_ISSOCK(found.st_mode))
        self.assertEqual((stat.S_IMODE(found.st_mode), found.st_uid), (0o600, self.farm.data.stat().st_uid))
        self.assert_asked(self.create(SECOND), "applied")
        self.farm.stop()
        self.assertFalse(self.socket.exists())
        self.assert_ran(self.create("third"), "no server runs")

    def test_it_answers_operations_and_nothing_else(self):
        greeting = {"format": "wheelyard.control/1"}
        for sent in (b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
                     b"GET /api/v1/indexes HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 127.0.0.1\r\nAuthorization: Bearer x\r\n\r\n",
                     b"POST /first/legacy/ HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", b"\0\xff\n", b"", b"{"):
            with self.subTest(sent=sent):
                answer = lines_of(self.socket, sent)
                self.assertEqual(len(answer), 1, answer)
                self.assertEqual(answer[0] | greeting, answer[0])
        for asked, code in (({}, "request.operation"), ({"operation": "none"}, "request.operation"), ([], "request.operation"),
                            ({"operation": "describeIndex", "arguments": {"index": "none"}}, "index.unknown"),
                            ({"operation": "yankFile", "arguments": []}, "index.unknown")):
            with self.subTest(asked=asked):
                self.assertEqual(lines_of(self.socket, json.dumps(asked).encode() + b"\n")[1]["problem"]["code"], code)
        asked = {"operation": "describeIndexes", "arguments": {}, "authorization": "Bearer x", "x-forwarded-for": "10.0.0.1"}
        answer = json.loads(lines_of(self.socket, json.dumps(asked).encode() + b"\n")[1]["answer"])
        self.assertEqual([index["name"] for index in answer["indexes"]], [FIRST])
        # And the other way round: what only this machine may ask has no address.
        self.assertEqual(self.farm.get("/api/v1/applyIndexes", method="POST")[0], 404)
        self.assertEqual(self.farm.get("/control.sock")[0], 404)

    def test_what_a_crash_left_is_removed(self):
        self.upload()
        self.farm.kill()
        self.assertTrue(self.socket.exists())
        done = self.yank()
        self.assert_asked(done, "done")  # no server runs, so there is nothing to say
        self.farm.start()
        self.assertEqual(self.yanked(), "old")
        self.assert_asked(self.create(SECOND), "applied")

    def test_a_server_that_hangs_is_given_up_before_anything_was_asked(self):
        self.upload()
        try:
            self.stop_at_rest()
            with concurrent.futures.ThreadPoolExecutor() as pool:
                yank = pool.submit(self.yank)
                check = pool.submit(self.apply, "--check")
            self.assert_ran(yank.result(), CANNOT_BE_ASKED, "does not answer")
            self.assert_ran(check.result(), CANNOT_BE_ASKED, "no index changes")
            self.assert_failed(self.create(SECOND), CANNOT_BE_ASKED, "The server of this store has to change its indexes")
        finally:
            self.farm.process.send_signal(signal.SIGCONT)
        deadline = time.monotonic() + COMMAND_TIMEOUT_S
        while self.yanked() != "old":  # the server sees the commit of another process
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        self.assert_asked(self.create(SECOND), "applied")

    def test_a_server_of_another_version_is_not_asked(self):
        self.upload()
        version = lines_of(self.socket, b"")[0]["version"]
        self.farm.stop()
        for greeting in ({"format": "wheelyard.control/1", "version": version + "+other"}, {"format": "wheelyard.control/2", "version": version},
                         {"version": version}):
            with self.subTest(greeting=greeting), FakeServer(self.socket, [json.dumps(greeting)]) as server:
                self.assert_failed(self.yank(), "The server of this store is of another version than this program", "restart the server")
                self.assertEqual(server.asked, "")
        self.assertNotIn("yank", self.command("audit", "--index", FIRST, "--json").stdout)
        with FakeServer(self.socket, ["no JSON"]):
            self.assert_ran(self.yank(), CANNOT_BE_ASKED)
        with FakeServer(self.socket, []):
            self.assert_ran(self.yank(), CANNOT_BE_ASKED, "closed")
        good = json.dumps({"format": "wheelyard.control/1", "version": version})
        with FakeServer(self.socket, [good, '{"done":1,"of":2}', '{"answer":"no JSON"}']) as server:
            self.assertNotEqual(self.yank().returncode, 0)  # such a server is asked: the answer is its own
            self.assertEqual(json.loads(server.asked)["operation"], "yankFile")

    def test_a_server_that_ends_in_between_leaves_the_command_with_an_error(self):
        self.upload()
        with self.slow_catalog():
            command = self.begin("yank", FIRST, self.wheel.name, "--reason", "old")
            self.farm.kill()
            out, err = command.communicate(timeout=COMMAND_TIMEOUT_S)
        self.assertEqual(command.returncode, 1, out + err)
        self.assertIn("The server has not said what it did", err)
        self.farm.start()
        self.assertIn(self.yanked(), ("old", False))
        self.assert_asked(self.yank())
        self.farm.check_tree()

    def test_ctrl_c_ends_the_wait_and_not_the_change(self):
        self.upload()
        with self.slow_catalog():
            command = self.begin("yank", FIRST, self.wheel.name, "--reason", "old")
            command.send_signal(signal.SIGINT)
            _, err = command.communicate(timeout=COMMAND_TIMEOUT_S)
        self.assertEqual(command.returncode, -signal.SIGINT, err)
        self.assertIn("The server ends what it began", err)
        deadline = time.monotonic() + COMMAND_TIMEOUT_S
        while self.yanked() != "old":
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def test_a_stop_of_the_server_answers_who_waits(self):
        self.upload()
        with self.slow_catalog():
            command = self.begin("yank", FIRST, self.wheel.name, "--reason", "old")
            self.farm.process.terminate()
            time.sleep(0.1)
        out, err = command.communicate(timeout=COMMAND_TIMEOUT_S)
        self.assertRegex(out + err, "done|page is not published yet")
        self.assertEqual(self.farm.process.wait(COMMAND_TIMEOUT_S), 0)
        self.farm.start()
        self.assertEqual(self.yanked(), "old")

    def stop_at_rest(self) -> None:
        """SIGSTOP, in no publish run and no transaction: a command would wait for their locks."""
        deadline = time.monotonic() + COMMAND_TIMEOUT_S
        while True:
            self.farm.process.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, self.farm.process.pid, os.WSTOPPED)  # all of its threads
            with contextlib.suppress(sqlite3.OperationalError), contextlib.closing(
                    sqlite3.connect(self.farm.data / "catalog.sqlite", timeout=0, isolation_level=None)) as catalog:
                catalog.execute("BEGIN IMMEDIATE")
                if not list((self.farm.tree / ".wheelyard").glob("**/lock")):
                    return
            self.farm.process.send_signal(signal.SIGCONT)
            self.assertLess(time.monotonic(), deadline, "it is never at rest")
            time.sleep(0.05)

    def slow_catalog(self):
        """The catalog's lock is held, as by a long backup: who changes it waits."""
        class Held:
            def __enter__(held):
                held.database = sqlite3.connect(self.farm.data / "catalog.sqlite", timeout=COMMAND_TIMEOUT_S, isolation_level=None)
                held.database.execute("BEGIN IMMEDIATE")
                return held

            def __exit__(held, *_):
                held.database.rollback()
                held.database.close()
        return Held()

    def begin(self, *words) -> subprocess.Popen:
        """The command, once the server has its request, for which it begins a thread."""
        idle = self.threads()
        command = subprocess.Popen([BIN / "wheelyard-registry", *words, "-c", self.farm.config], env=self.farm.environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(command.kill)
        deadline = time.monotonic() + COMMAND_TIMEOUT_S
        while (now := self.threads()) <= idle:
            idle = min(idle, now)  # that of an earlier command may just be ending
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(command.poll())
            time.sleep(0.01)
        return command

    def threads(self) -> int:
        return len(list(Path(f"/proc/{self.farm.process.pid}/task").iterdir()))

    def test_several_commands_at_once_are_all_done(self):
        names = [f"new-{number}" for number in range(COMMANDS_AT_ONCE)]
        with concurrent.futures.ThreadPoolExecutor(COMMANDS_AT_ONCE) as pool:
            for done in pool.map(lambda name: self.command("token", "create", "--name", name, "--action", "read", "--index", FIRST), names):
                self.assert_asked(done)
        listed = self.command("token", "list")
        self.assert_asked(listed, *names)

    def test_a_folder_that_is_mounted_elsewhere_is_the_same_store(self):
        there = self.folder / "there"
        there.mkdir()
        namespace = ("unshare", "--mount") if os.geteuid() == 0 else ("unshare", "--user", "--map-root-user", "--mount")
        script = f'mount --bind "{self.farm.folder}" "{there}" && exec "{BIN}/wheelyard-registry" "$@" -c "{there}/registry.toml"'
        for name, more in ((SECOND, ()), ("third", ("--pid", "--fork", "--kill-child"))):
            self.farm.set_index(name)
            done = subprocess.run([*namespace, *more, "sh", "-c", script, "sh", "apply"], env=self.farm.environment,
                                  capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
            if "Operation not permitted" in done.stderr:
                self.skipTest("no mount namespace can be made here")
            self.assert_asked(done, "applied")
            self.assertEqual(self.farm.get(f"/{name}/simple/")[0], 200)


class FakeServer:
    """Greets and answers with these lines, whatever is asked, and closes."""

    def __init__(self, path: Path, lines: list[str]):
        self.path, self.lines, self.asked = path, lines, ""

    def __enter__(self) -> "FakeServer":
        self.path.unlink(missing_ok=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen()
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.thread.join()
        self.listener.close()
        self.path.unlink()

    def serve(self) -> None:
        peer, _ = self.listener.accept()
        with peer, peer.makefile("rw") as stream:
            peer.settimeout(COMMAND_TIMEOUT_S)
            for number, line in enumerate(self.lines):
                stream.write(line + "\n")
                stream.flush()
                if number == 0:
                    self.asked = stream.readline()


class OtherFoldersTest(Socket, OwnFarmsCase):
    def farm_in(self, folder: Path, wrapper: tuple[str, ...] = ()) -> Farm:
        farm = Farm((FIRST,), folder=folder)
        self.addCleanup(farm.stop)
        return farm.start(wrapper)

    def test_a_path_longer_than_an_address(self):
        folder = self.folder / ("deep-" * 20) / ("er-" * 30)
        folder.mkdir(parents=True)
        farm = self.farm_in(folder)
        self.assertGreater(len(bytes(farm.data / "control.sock")), ADDRESS_BYTES)
        self.assert_asked(self.create(SECOND, farm), "applied")
        farm.stop()
        self.assertFalse((farm.data / "control.sock").exists())

    def test_a_folder_of_exactly_the_longest_address(self):
        for more in (0, 1):
            room = ADDRESS_BYTES + more - len(bytes(self.folder / "x" / "data" / "control.sock")) + 1
            folder = self.folder / ("y" * room)
            folder.mkdir()
            farm = self.farm_in(folder)
            self.assertEqual(len(bytes(farm.data / "control.sock")), ADDRESS_BYTES + more)
            self.assert_asked(self.create(SECOND, farm), "applied")
            farm.stop()

    def test_a_server_in_a_user_namespace_of_its_own(self):
        namespace = ("unshare", "--user", "--map-root-user", "--mount")
        if subprocess.run([*namespace, "true"], capture_output=True).returncode != 0:
            self.skipTest("no user namespace can be made here")
        farm = self.farm_in(self.folder, (*namespace, "--"))
        self.assert_asked(self.create(SECOND, farm), "applied")


@unittest.skipUnless(os.geteuid() == 0 and Path(PYTHON).exists(), "only root can be several users")
class UsersTest(Socket, OwnFarmsCase):
    def as_user(self, user: int, *words, **options):
        return subprocess.run(list(map(str, words)), user=user, group=user, extra_groups=[], env=self.farm.environment, capture_output=True,
                              text=True, timeout=COMMAND_TIMEOUT_S, **options)

    def setUp(self):
        super().setUp()
        place = Path(tempfile.mkdtemp(prefix="wheelyard-users-"))
        self.addCleanup(shutil.rmtree, place, ignore_errors=True)
        place.chmod(0o755)
        self.farm = Farm((FIRST,), folder=place, settings="")
        (place / "home").mkdir()
        for each in (place, place / "home", self.farm.config):
            os.chown(each, OWNER, OWNER)
        self.addCleanup(self.farm.stop)

    def serve(self, *wrapper: str) -> Path:
        self.farm.start(wrapper)
        os.chown(self.farm.config, OWNER, OWNER)
        return self.farm.data / "control.sock"

    def registry(self, *words) -> tuple:
        return (for_all_users(BIN, "wheelyard-registry") / "wheelyard-registry", *words, "-c", self.farm.config)

    def check_who_is_answered(self, path: Path, server: str):
        self.assertEqual((stat.S_IMODE(path.stat().st_mode), path.stat().st_uid), (0o600, OWNER))
        self.farm.set_index("by-owner")
        self.assert_asked(self.as_user(OWNER, *self.registry("apply")), "applied")
        self.assert_asked(self.create("by-root"), "applied")
        self.farm.set_index("by-other")
        self.assertEqual(self.actors("by-owner")[-1:] + self.actors("by-root")[-1:], [f"local:{OWNER}", "local:root"])
        for user in (PROXY, OTHER):
            with self.subTest(server=server, user=user):
                refused = self.as_user(user, PYTHON, "-c", GREETED, path)
                self.assertIn("PermissionError", refused.stderr)
                self.assert_failed(self.as_user(user, *self.registry("apply")))
        # Whatever the mode: the peer's credentials decide. All may pass the folder, as a proxy may.
        path.chmod(0o666)
        path.parent.chmod(0o755)
        for user in (PROXY, OTHER):
            with self.subTest(server=server, user=user, mode="0666"):
                done = self.as_user(user, PYTHON, "-c", GREETED, path)
                lines = [json.loads(line) for line in done.stdout.splitlines() if line]
                if lines:  # else the connection was closed while it sent
                    self.assertEqual([line["problem"]["code"] for line in lines], ["control.refused"])
                    self.assertNotIn("indexes", done.stdout)
                self.assert_failed(self.as_user(user, *self.registry("apply")), CANNOT_BE_ASKED)
        self.assertIn("control.refused", self.farm.log.read_text())
        self.assertEqual(self.farm.get("/by-other/simple/")[0], 404)

    def test_a_server_of_its_own_user(self):
        wrapper = ("setpriv", f"--reuid={OWNER}", f"--regid={OWNER}", "--clear-groups", "--")
        self.check_who_is_answered(self.serve(*wrapper), "the owner")

    def test_a_server_of_root_on_the_folder_of_another_user(self):
        self.farm.data.mkdir()
        os.chown(self.farm.data, OWNER, OWNER)
        self.check_who_is_answered(self.serve(), "root")


if __name__ == "__main__":
    main()
