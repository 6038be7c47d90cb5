"""More silent clients and slow downloads than a process's open files allow, of few networks and of many: whoever is of another
network gets its pages, uploads, logs in and renews its token, and none is refused."""

import http.client
import json
import re
import secrets
import socket

from support.case import FarmCase, main
from support.clients import RawUpload
from support.farm import INDEX, Farm
from support.wheels import Wheel, incompressible, sha256_of

OPEN_FILES = 600
LARGE_BYTES = 12_000_000  # more than the socket's buffers on both sides take
PATIENCE_S = 240
HONEST = "127.0.3.1"


class CrowdedTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        cls.farm = cls.enterClassContext(Farm(settings=f"header_timeout_s = {10 * PATIENCE_S}\nstall_timeout_s = {10 * PATIENCE_S}"))
        cls.token = cls.farm.create_token()
        enrolled = cls.farm.run("wheelyard-registry", "agent", "enrol", "alpha", "--index", INDEX, "--config", cls.farm.config, "--json")
        cls.credential = json.loads(enrolled.stdout)["token"]
        cls.farm.start(wrapper=("prlimit", f"--nofile={OPEN_FILES}:{OPEN_FILES}"))

    def client(self, sends: str, at: str, receive_buffer: int = 0) -> socket.socket:
        client = socket.socket()
        self.addCleanup(client.close)
        client.settimeout(PATIENCE_S)
        if receive_buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        client.bind((at, 0))
        client.connect(("127.0.0.1", self.farm.port))
        client.sendall(sends.encode())
        return client

    def loading(self, path: str, at: str) -> socket.socket:
        client = self.client(f"GET {path} HTTP/1.1\r\nHost: test\r\n\r\n", at, receive_buffer=32_768)
        self.assertEqual(client.recv(15), b"HTTP/1.1 200 OK")
        return client

    def ask(self, path: str, at: str = HONEST, method: str = "GET", body=None, headers: dict | None = None) -> tuple[int, str]:
        """(status, the problem's code or the body)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.farm.port, timeout=PATIENCE_S, source_address=(at, 0))
        try:
            connection.request(method, path, body, headers or {})
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

    def check_that_nobody_is_kept_out(self, name: str, at: str = HONEST) -> None:
        upload = RawUpload(self.farm, self.token, Wheel(name).write(self.folder))
        self.assertEqual(self.ask(upload.path, at, "POST", upload.body, upload.headers)[0], 200)
        self.assertEqual(self.ask(f"/{INDEX}/simple/{name}/", at)[0], 200)
        self.assertEqual(self.ask("/api/v1/login", at)[0], 200)
        following = f"wy_{secrets.token_hex(6)}_{secrets.token_hex(32)}"
        renewal = {"format": "wheelyard.agent_renewal/1", "site": "alpha", "credential": self.credential, "next": following}
        status, answer = self.ask("/api/v1/agents/renew", at, "POST", json.dumps(renewal), {"Content-Type": "application/json"})
        self.assertEqual(status, 200, answer)
        type(self).credential = following

    def test_slow_downloads_and_silent_clients_of_few_or_many_networks_keep_nobody_out(self):
        large = Wheel("large", extra_members={"large/data": incompressible(LARGE_BYTES)}).write(self.folder)
        self.assertEqual(RawUpload(self.farm, self.token, large).send()[0], 200)
        sha256 = sha256_of(large)
        file = f"/{INDEX}/files/{sha256[:2]}/{sha256}/{large.name}"
        self.assertIn("serve.few_descriptors", self.farm.log.read_text())
        most, max_files = self.metric("max_connections"), self.metric("max_files")
        self.assertGreater(most, max_files)
        self.assertGreater(most + max_files, OPEN_FILES // 2)

        loading = [self.loading(file, "127.0.1.1") for _ in range((max_files + 1) // 2)]
        self.assertEqual(self.ask(file, "127.0.1.2"), (503, "server.files"))  # of the same network
        self.assertEqual(self.ask(file)[0], 200)
        for networks in (2, 200):
            silent = [self.client("" if at < most else "GET / HTTP/1.1\r\nHost:", f"127.1.{at % networks}.1") for at in range(2 * most)]
            self.check_that_nobody_is_kept_out(f"small{networks}")
            self.assertGreater(self.metric("connections"), most // 2)
            self.check_that_nobody_is_kept_out(f"near{networks}", "127.1.0.2")  # of a network that has its share
            self.check_that_nobody_is_kept_out(f"local{networks}", "127.0.0.1")
            for client in silent:
                client.close()
        end = large.read_bytes()[-100:]
        for client in loading:  # who asked for something kept its place
            data = b""
            while not data.endswith(end):
                received = client.recv(1 << 20)
                self.assertTrue(received)
                data = data[-len(end):] + received
        self.assertNotIn("accept_failed", self.farm.log.read_text())


if __name__ == "__main__":
    main()
