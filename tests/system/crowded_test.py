"""As many clients as a process's open files allow, idle ones and slow downloads: pages and uploads are still served, and a
client beyond the limit gets an answer with the reason."""

import http.client
import json
import re
import socket
import time

from support.case import FarmCase, main
from support.clients import RawUpload
from support.farm import INDEX, Farm
from support.wheels import Wheel, incompressible, sha256_of

OPEN_FILES = 600
LARGE_BYTES = 12_000_000  # more than the socket's buffers on both sides take
PATIENCE_S = 60
OK = b"HTTP/1.1 200 OK"


class CrowdedTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        cls.farm = cls.enterClassContext(Farm(settings=f"idle_timeout_s = {10 * PATIENCE_S}\nstall_timeout_s = {10 * PATIENCE_S}"))
        cls.token = cls.farm.create_token()
        cls.farm.start(wrapper=("prlimit", f"--nofile={OPEN_FILES}:{OPEN_FILES}"))

    def client(self, path: str, receive_buffer: int = 0, at: str = "127.0.0.1") -> socket.socket:
        """It has asked for `path`, from the address `at`."""
        client = socket.socket()
        self.addCleanup(client.close)
        client.settimeout(PATIENCE_S)
        if receive_buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        client.bind((at, 0))
        client.connect(("127.0.0.1", self.farm.port))
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: test\r\n\r\n".encode())
        return client

    def served_client(self, path: str, receive_buffer: int = 0, at: str = "127.0.0.1") -> socket.socket:
        client = self.client(path, receive_buffer, at)
        self.assertEqual(client.recv(15), OK)
        return client

    def ask(self, path: str) -> tuple[int, str]:
        """(status, the problem's code or the body)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.farm.port, timeout=PATIENCE_S)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
            if answer.status == 503:
                self.assertTrue(answer.headers["Retry-After"])
            is_problem = answer.headers["Content-Type"] == "application/problem+json"
            return answer.status, json.loads(body)["code"] if is_problem else body.decode(errors="replace")
        finally:
            connection.close()

    def metric(self, name: str) -> int:
        return int(re.search(rf"(?m)^wheelyard_{name} (\d+)$", self.ask("/metrics")[1])[1])

    def wait_until(self, holds) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not holds():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)  # until the server has noticed that clients have gone

    def test_quiet_clients_and_slow_downloads_keep_nobody_from_pages_and_uploads(self):
        large = Wheel("large", extra_members={"large/data": incompressible(LARGE_BYTES)}).write(self.folder)
        self.assertEqual(RawUpload(self.farm, self.token, large).send()[0], 200)
        sha256 = sha256_of(large)
        file = f"/{INDEX}/files/{sha256[:2]}/{sha256}/{large.name}"
        page = f"/{INDEX}/simple/large/"
        self.assertIn("serve.few_descriptors", self.farm.log.read_text())
        most, max_files = self.metric("max_connections"), self.metric("max_files")
        self.assertGreater(most, max_files)
        self.assertGreater(most + max_files, OPEN_FILES // 2)

        loading = [self.served_client(file, receive_buffer=32_768) for _ in range(max_files)]
        self.assertEqual(self.ask(file), (503, "server.files"))
        self.wait_until(lambda: self.metric("connections") == max_files + 1)  # and the one that asks
        quiet = [self.served_client(page, at=f"127.0.{1 + i % 2}.1") for i in range(most - max_files - 1)]
        self.wait_until(lambda: self.ask(page)[0] == 200)
        self.wait_until(lambda: self.ask(file) == (503, "server.files"))
        small = Wheel("small").write(self.folder)
        self.wait_until(lambda: RawUpload(self.farm, self.token, small).send()[0] == 200)
        self.wait_until(lambda: self.ask(f"/{INDEX}/simple/small/")[0] == 200)

        last: list[socket.socket] = []

        def take_the_last_place() -> bool:
            last.append(self.client(page, at="127.0.3.1"))
            if last[-1].recv(15) == OK:
                return True
            last.pop().close()
            return False
        self.wait_until(take_the_last_place)
        self.assertEqual(self.ask(page), (503, "server.connections"))
        for client in (*loading, *last):
            client.close()
        self.wait_until(lambda: self.ask(file)[0] == 200)
        for client in quiet:  # no client was disconnected
            self.assertIn(b"large-1.0", client.recv(65_536))
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n")
            self.assertEqual(client.recv(15), OK)
        self.assertNotIn("accept_failed", self.farm.log.read_text())

    def test_one_network_gets_half_of_the_connections(self):
        half = (self.metric("max_connections") + 1) // 2
        page = "/healthz"
        self.wait_until(lambda: self.metric("connections") == 1)  # the one that asks
        quiet = [self.served_client(page, at=f"127.0.9.{1 + i % 200}") for i in range(half)]
        refused = self.client(page, at="127.0.9.250")
        self.assertEqual(refused.recv(12), b"HTTP/1.1 503")
        self.assertEqual(self.ask(page)[0], 200)
        self.served_client(page, at="127.0.10.1")
        quiet.pop().close()
        self.wait_until(lambda: self.client(page, at="127.0.9.250").recv(15) == OK)


if __name__ == "__main__":
    main()
