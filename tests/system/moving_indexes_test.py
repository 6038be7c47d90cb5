"""Who may read an index, where its projects come from, and whether it exists, changed while the server runs and clients install: each change
holds from the next request on, nobody finds half of an index, and a kill leaves the old state or the new one."""

import http.client
import json
import threading
import time
from pathlib import Path

from support.case import FarmPerTestCase, main
from support.clients import PIPS_WITH_REPORT, RawUpload, installed_value, pip_install
from support.farm import COMMAND_TIMEOUT_S
from support.live_tree import bytes_of, paths_in
from support.upstream import Upstream
from support.wheels import Wheel, incompressible

FIRST, SECOND = "first", "second"
TOKEN = 'read = "token"'
PROJECT, COUNT = "quokka", 30
LARGE = 3 << 20  # such files are sent while they arrive
KILL_DELAYS_S = (0, 0.003, 0.01, 0.03, 0.1)
PIP = PIPS_WITH_REPORT[0]


class MovingIndexesTest(FarmPerTestCase):
    indexes = (FIRST, SECOND)

    def upload(self, name: str, index: str, token: str, **more) -> None:
        status, problem = RawUpload(self.farm, token, Wheel(name, **more).write(self.folder / "own"), index).send()
        self.assertEqual(status, 200, problem)

    def status(self, token: str | None = None, path: str = f"/{SECOND}/simple/{PROJECT}/") -> int:
        return self.farm.get(path, headers={"Authorization": f"Bearer {token}"} if token else {})[0]

    def names_in(self, folder: Path) -> list[str]:
        return [str(path) for path in paths_in(folder) if PROJECT in path.name or PROJECT.encode() in bytes_of(path)]

    def pip(self, target: str, *words: str, url: str = "", index: str = SECOND):
        options = ("--index-url", url) if url else ()
        return pip_install(self.farm, PIP, self.folder / target, *words, index=index, options=options)

    def report_site(self, token: str) -> None:
        report = {"format": "wheelyard.site/1", "site": "wallaby", "index": SECOND, "time": "2026-01-01T00:00:00.000000Z",
                  "cells": [{"package": PROJECT, "version": "1.0", "python": "3.11", "accelerator": "cpu", "state": "have"}]}
        connection = http.client.HTTPConnection("127.0.0.1", self.farm.port, timeout=COMMAND_TIMEOUT_S)
        connection.request("PUT", f"/api/v1/indexes/{SECOND}/sites/wallaby", json.dumps(report), {"Authorization": f"Bearer {token}"})
        self.assertEqual(connection.getresponse().status, 200)
        connection.close()

    def read_all_the_time(self, token: str) -> list[tuple[str, int]]:
        """Until stop is set: requests over one connection, with and without the token. Returns (who, status) in order."""
        seen: list[tuple[str, int]] = []
        connection = http.client.HTTPConnection("127.0.0.1", self.farm.port, timeout=COMMAND_TIMEOUT_S)
        number = 0
        while not self.stop.is_set():
            number += 1
            path = f"/{SECOND}/simple/{PROJECT}-{number % COUNT}/"
            for who, headers in (("anyone", {}), ("reader", {"Authorization": f"Bearer {token}"})):
                connection.request("GET", path, headers=headers)
                answer = connection.getresponse()
                answer.read()
                seen.append((who, answer.status))
        connection.close()
        return seen

    def test_an_index_becomes_private_and_public_again_while_it_is_read(self):
        process = self.farm.process.pid
        token = self.farm.create_token(SECOND, actions=("*",))
        self.upload(PROJECT, SECOND, token)
        for number in range(COUNT):
            self.upload(f"{PROJECT}-{number}", SECOND, token)
        self.report_site(token)
        open_connection = http.client.HTTPConnection("127.0.0.1", self.farm.port, timeout=COMMAND_TIMEOUT_S)
        self.addCleanup(open_connection.close)
        open_connection.request("GET", f"/{SECOND}/simple/{PROJECT}/")
        self.assertEqual(open_connection.getresponse().read().count(b"<a "), 1)
        self.stop = threading.Event()
        seen: list[list[tuple[str, int]]] = []
        readers = [threading.Thread(target=lambda: seen.append(self.read_all_the_time(token))) for _ in range(3)]
        for reader in readers:
            reader.start()
        private = self.farm.data / "private"
        for number in range(3):
            self.assert_ran(self.set_index(SECOND, TOKEN), 'read: "public" -> "token"', "applied")
            self.assertEqual((self.status(), self.status(token)), (401, 200))
            self.assertEqual(self.status(path=f"/{SECOND}/status.json"), 401)
            self.assertEqual(self.status(token, f"/{SECOND}/status.json"), 200)
            self.assertEqual(self.names_in(self.farm.tree), [])
            if number == 0:
                open_connection.request("GET", f"/{SECOND}/simple/{PROJECT}/")
                answer = open_connection.getresponse()
                answer.read()
                self.assertEqual(answer.status, 401)
                self.assert_failed(self.pip("denied", PROJECT))
                url = self.farm.simple_url(SECOND).replace("://", f"://__token__:{token}@")
                self.assert_ran(self.pip("permitted", PROJECT, url=url))
            self.assert_ran(self.set_index(SECOND), 'read: "token" -> "public"', "applied")
            self.assertEqual((self.status(), self.status(path=f"/{SECOND}/status.json")), (200, 200))
            self.assertEqual(self.names_in(private), [])
        self.stop.set()
        for reader in readers:
            reader.join()
        self.assert_ran(self.pip("public", PROJECT))
        self.assertTrue(installed_value(PIP, self.folder / "public", PROJECT))
        self.assertEqual(len(seen), len(readers))
        statuses = {one for of_reader in seen for one in of_reader}
        self.assertLessEqual(statuses, {("anyone", 200), ("anyone", 401), ("anyone", 503), ("reader", 200), ("reader", 503)})
        self.assertIn(("anyone", 401), statuses)
        self.assertEqual((self.farm.process.pid, self.farm.process.poll()), (process, None))
        self.farm.check_tree()

    def test_a_kill_while_an_index_changes_its_readers_leaves_one_state_whole(self):
        token = self.farm.create_token(SECOND, actions=("*",))
        self.upload(PROJECT, SECOND, token)
        read = "public"
        for delay_s in KILL_DELAYS_S * 2:
            wanted = "token" if read == "public" else "public"
            command = threading.Thread(target=self.set_index, args=(SECOND, f'read = "{wanted}"'))
            command.start()
            time.sleep(0.1 + delay_s)  # when the kill comes; any moment must do
            self.farm.kill()
            command.join()
            self.farm.start()
            read = "token" if self.status() == 401 else "public"
            with self.subTest(delay_s=delay_s, wanted=wanted, read=read):
                self.assertEqual(read, wanted)  # a start applies what the file says
                self.assertEqual((self.status(), self.status(token)), (401 if read == "token" else 200, 200))
                self.assertEqual(bool(self.names_in(self.farm.tree)), read == "public")
                self.assertEqual(bool(self.names_in(self.farm.data / "private")), read == "token")
        self.farm.check_tree()

    def test_a_removed_index_is_gone_and_a_private_one_does_not_come_back_public(self):
        token = self.farm.create_token(FIRST, SECOND, actions=("*",))
        self.upload(PROJECT, SECOND, token)
        self.upload("koala", FIRST, token)
        self.remove_second()
        self.assert_ran(self.apply("--check"), "second: removed")
        self.assertEqual(self.status(), 200)
        self.assert_ran(self.apply(), "second: removed", "applied")
        self.assertEqual((self.status(), self.status(path=f"/{FIRST}/simple/koala/")), (404, 200))
        self.assert_refused(RawUpload(self.farm, token, Wheel("emu").write(self.folder), SECOND), 404, "index.unknown")
        self.assert_failed(self.pip("gone", PROJECT))
        self.assert_ran(self.set_index(SECOND, TOKEN), "applied")  # its files were kept
        self.assertEqual((self.status(), self.status(token), self.names_in(self.farm.tree)), (401, 200, []))
        self.remove_second()
        self.assert_ran(self.apply(), "second: removed")
        self.assert_failed(self.set_index(SECOND), "was private")
        self.assertEqual((self.status(token), self.names_in(self.farm.tree)), (404, []))
        self.assert_ran(self.set_index(SECOND, TOKEN))
        self.assert_ran(self.set_index(SECOND))
        self.assert_ran(self.pip("back", PROJECT))
        self.farm.check_tree()

    def remove_second(self) -> None:
        self.farm.indexes = (FIRST,)
        self.farm.write_config(self.farm.port)

    def rule(self, upstream: Upstream, more: str = "") -> str:
        return f'[[index.upstream]]\nname = "public"\nurl = "{upstream.url}"\nprivate_hosts = ["127.0.0.1"]\n{more}'

    def test_upstreams_are_added_changed_and_removed_while_clients_install(self):
        process = self.farm.process.pid
        with Upstream() as one, Upstream() as other:
            one.offer(Wheel("yard-six").write(self.folder / "one"))
            one.offer(Wheel("yard-five").write(self.folder / "one"))
            other.offer(Wheel("yard-six", version="2.0").write(self.folder / "other"))
            self.assert_failed(self.pip("without", "yard-six"))
            self.assert_ran(self.set_index(SECOND, self.rule(one)), "upstream: changed", "applied")
            self.assert_ran(self.pip("with", "yard-six"))
            self.assertTrue(installed_value(PIP, self.folder / "with", "yard_six"))
            self.assertEqual(sorted(self.farm.files("yard-six", SECOND)), ["yard_six-1.0-py3-none-any.whl"])

            # Another address: its page is another one, although the old one would be fresh for ten minutes.
            self.assert_ran(self.set_index(SECOND, self.rule(other)))
            self.assertEqual(sorted(self.farm.files("yard-six", SECOND)), ["yard_six-2.0-py3-none-any.whl"])
            self.assertEqual(self.status(path=f"/{SECOND}/simple/yard-five/"), 404)
            self.assert_ran(self.pip("other", "yard-six==2.0"))
            denied = self.rule(one, 'deny = ["yard-six"]\n')
            self.assert_ran(self.set_index(SECOND, denied))
            self.assertEqual(self.status(path=f"/{SECOND}/simple/yard-six/"), 404)
            self.assertEqual(self.status(path=f"/{SECOND}/simple/yard-five/"), 200)

            # An owned name is not taken from upstream from the next request on, nor through an index that inherits.
            self.assert_ran(self.set_index(SECOND, 'owns = ["yard-five"]\n' + denied))
            self.assertEqual(self.status(path=f"/{SECOND}/simple/yard-five/"), 404)
            self.assert_failed(self.pip("owned", "yard-five"))
            self.assert_ran(self.set_index(SECOND, denied))
            self.assert_ran(self.set_index(FIRST, f'inherits = ["{SECOND}"]'))
            self.assert_ran(self.pip("inherited", "yard-five", index=FIRST))
            self.assert_ran(self.set_index(SECOND))
            for index in (FIRST, SECOND):
                self.assertEqual(self.status(path=f"/{index}/simple/yard-five/"), 404)
        self.assertEqual((self.farm.process.pid, self.farm.process.poll()), (process, None))
        self.farm.check_tree()

    def test_a_fetch_ends_although_its_upstream_is_removed_or_becomes_private(self):
        token = self.farm.create_token(SECOND, actions=("*",))
        with Upstream() as upstream:
            for number, is_removed in enumerate((True, False)):
                wheel = Wheel(f"yard-large-{number}", extra_members={f"yard_large_{number}/data": incompressible(LARGE)})
                offered = upstream.offer(wheel.write(self.folder / "large"), hold_after=LARGE // 2)
                self.assert_ran(self.set_index(SECOND, self.rule(upstream)))
                got: list[tuple[int, bytes]] = []
                [entry] = self.farm.files(f"yard-large-{number}", SECOND).values()
                path = f"/{SECOND}" + entry["url"].removeprefix("../..")

                def fetch(path=path, got=got):
                    status, _, body = self.farm.get(path)
                    got.append((status, body))
                client = threading.Thread(target=fetch)
                client.start()
                deadline = time.monotonic() + COMMAND_TIMEOUT_S
                while upstream.count("/files/" + wheel.filename) == 0:
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.01)
                self.assert_ran(self.set_index(SECOND, "" if is_removed else f"{TOKEN}\n{self.rule(upstream)}"))
                offered.go.set()
                client.join()
                self.assertEqual((got[0][0], len(got[0][1])), (200, len(offered.body)))
                self.assertEqual(self.status(path=path), 404 if number == 0 else 401)
                self.assertFalse([path for path in paths_in(self.farm.tree) if path.name == wheel.filename and path.is_file()])
            self.assertEqual(self.status(token, path), 200)


if __name__ == "__main__":
    main()
