"""2,000 files imported beside a server under load, again and again: each file is shown within seconds of the import's end, without a restart.
Seen once in an earlier version: the project was 404 until the server was started again.

    WHEELYARD_FULL=1               200 rounds of 2,000 files instead of 2 of 100
    WHEELYARD_IMPORT_ROUNDS=20     another number of them
"""

import http.client
import os
import threading
import time

from support.case import OwnFarmsCase, main
from support.clients import RawUpload
from support.farm import COMMAND_TIMEOUT_S, INDEX, Farm
from support.full import IS_FULL
from support.wheels import Wheel

FILES = 2000 if IS_FULL else 100
ROUNDS = int(os.environ.get("WHEELYARD_IMPORT_ROUNDS") or (200 if IS_FULL else 2))
ROUNDS_OF_A_STORE = 20  # so that the last round is not slower than the first
READERS = 4


class ImportLoopTest(OwnFarmsCase):
    def read_steadily(self, farm: Farm, path: str, stop: threading.Event, seen: list[int]) -> None:
        """As clients that wait for the project: its page, the root page, the project's page again, on one connection."""
        connection = http.client.HTTPConnection("127.0.0.1", farm.port, timeout=COMMAND_TIMEOUT_S)
        while not stop.is_set():
            for address in (path, f"/{INDEX}/simple/"):
                connection.request("GET", address, headers={"Accept": "application/vnd.pypi.simple.v1+json"})
                answer = connection.getresponse()
                answer.read()
                seen.append(answer.status)
        connection.close()

    def upload_steadily(self, farm: Farm, token: str, project: str, stop: threading.Event, seen: list[int]) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            seen.append(RawUpload(farm, token, Wheel(project, version=f"1.{number}").write(self.folder / project), INDEX).send()[0])

    def round(self, farm: Farm, token: str, number: int) -> float:
        project, folder = f"looped-{number}", self.folder / f"round-{number}"
        names = {Wheel(project, version=f"1.{n}").write(folder).name for n in range(FILES)}
        stop, reads, uploads = threading.Event(), [], []
        load = [threading.Thread(target=self.read_steadily, args=(farm, f"/{INDEX}/simple/{project}/", stop, reads), daemon=True) for _ in range(READERS)]
        load.append(threading.Thread(target=self.upload_steadily, args=(farm, token, f"beside-{number}", stop, uploads), daemon=True))
        for thread in load:
            thread.start()
        try:
            self.assert_ran(farm.run("wheelyard-registry", "import", "-c", farm.config, "-q", INDEX, folder, timeout=10 * COMMAND_TIMEOUT_S))
            ended = time.monotonic()
            while set(farm.files(project)) != names:
                self.assertLess(time.monotonic(), ended + COMMAND_TIMEOUT_S, f"round {number}: {len(farm.files(project))} of {FILES} files")
                time.sleep(0.02)  # until another process has done something: nothing announces it
            shown_s = time.monotonic() - ended
        finally:
            stop.set()
            for thread in load:
                thread.join()
        self.assertLessEqual(set(reads), {200, 404})
        self.assertEqual(reads[-1], 200)
        self.assertEqual(set(uploads), {200})
        for entry in list(farm.files(project).values())[:: max(1, FILES // 20)]:
            self.assertEqual(farm.get(f"/{INDEX}" + entry["url"].removeprefix("../.."), method="HEAD")[0], 200)
        return shown_s

    def test_what_was_imported_beside_a_server_under_load_is_shown_without_a_restart(self):
        shown: list[float] = []
        for first in range(0, ROUNDS, ROUNDS_OF_A_STORE):
            with Farm() as farm:
                token = farm.create_token()
                farm.start()
                for number in range(first, min(ROUNDS, first + ROUNDS_OF_A_STORE)):
                    shown.append(self.round(farm, token, number))
                    if IS_FULL:
                        print(f"round {number + 1} of {ROUNDS}: shown after {shown[-1]:.2f} s", flush=True)
                farm.check_tree()
        print(f"({ROUNDS} rounds of {FILES} files, shown after {max(shown):.2f} s at most)", end=" ", flush=True)


if __name__ == "__main__":
    main()
