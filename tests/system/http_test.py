"""The server as a site exposes it: TLS with a certificate that changes while it serves, a Unix socket, IPv6, compressed pages,
numbers for monitoring, the document of its addresses."""

import gzip
import http.client
import json
import random
import re
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import warnings
from pathlib import Path

from support.case import FarmCase, main
from support.certificate import make_certificate
from support.clients import RawUpload
from support.farm import INDEX, ROOT, Farm
from support.wheels import Wheel

PATIENCE_S = 240


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path):
        super().__init__("unix")
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE_S)
        self.sock.connect(self.path)


class HttpTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        cls.folder_of_class = Path(tempfile.mkdtemp(prefix="wheelyard-http-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder_of_class, ignore_errors=True)
        make_certificate(cls.folder_of_class, "first")
        listen = ['"https://127.0.0.1:0"', '"unix:http.sock"'] + (['"[::1]:0"'] if has_ipv6() else [])
        cls.farm = cls.enterClassContext(Farm((INDEX,), settings=f"also_listen = [{', '.join(listen)}]\n"
                                              f'certificate_file = "{cls.folder_of_class}/chain.pem"\n'
                                              f'certificate_key_file = "{cls.folder_of_class}/key.pem"\n'
                                              'trusted_proxies = ["unix"]\nlog_requests = true'))
        cls.token = cls.farm.create_token()
        cls.farm.start()

    def port_of(self, start: str) -> int:
        return int(re.findall(re.escape(start) + r":(\d+)", self.farm.log.read_text())[-1])  # of the last start

    def client_context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self.folder_of_class / "chain.pem")
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        return context

    def https(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection("127.0.0.1", self.port_of("https://127.0.0.1"), context=self.client_context(),
                                           timeout=PATIENCE_S)

    def name_of_certificate(self) -> str:
        """The CN that a new connection is shown; it verifies nothing."""
        address = ("127.0.0.1", self.port_of("https://127.0.0.1"))
        shown = subprocess.run(["openssl", "x509", "-noout", "-subject", "-nameopt", "RFC2253"], check=True, capture_output=True,
                               text=True, input=ssl.get_server_certificate(address)).stdout
        return shown.strip().rpartition("CN=")[2]

    def test_uploads_pages_and_files_travel_through_tls(self):
        wheel = Wheel("overtls", extra_members={"overtls/data.bin": random.Random(1).randbytes(3_000_000)}).write(self.folder)
        upload = RawUpload(self.farm, self.token, wheel)
        connection = self.https()
        connection.request("POST", upload.path, upload.body, upload.headers)
        answer = connection.getresponse()
        self.assertEqual((answer.status, json.loads(answer.read())["filename"]), (200, wheel.name))
        connection.request("GET", f"/{INDEX}/simple/overtls/index.json")
        link = json.loads(connection.getresponse().read())["files"][0]["url"]
        connection.request("GET", urllib.parse.urljoin(f"/{INDEX}/simple/overtls/", link))
        self.assertEqual(connection.getresponse().read(), wheel.read_bytes())
        connection.request("GET", f"/{INDEX}/")
        self.assertIn(f"https://127.0.0.1:{connection.port}/{INDEX}/simple/", connection.getresponse().read().decode())
        connection.close()

    def test_an_old_tls_and_plain_http_are_refused_on_the_tls_port(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = ssl.TLSVersion.TLSv1_1
        context.set_ciphers("ALL:@SECLEVEL=0")
        address = ("127.0.0.1", self.port_of("https://127.0.0.1"))
        with socket.create_connection(address, PATIENCE_S) as plain, self.assertRaises((ssl.SSLError, ConnectionError)):
            context.wrap_socket(plain)
        with socket.create_connection(address, PATIENCE_S) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            try:
                self.assertFalse(plain.recv(4096).startswith(b"HTTP/"))
            except ConnectionError:
                pass

    def test_clients_say_what_is_wrong_with_a_certificate(self):
        chain, key, expired = (self.folder_of_class / name for name in ("chain.pem", "key.pem", "expired.pem"))
        subprocess.run(["openssl", "x509", "-in", chain, "-signkey", key, "-days", "-1", "-out", expired], check=True, capture_output=True)
        old = self.enterContext(Farm((INDEX,), settings='also_listen = ["https://127.0.0.1:0"]\n'
                                     f'certificate_file = "{expired}"\ncertificate_key_file = "{key}"'))
        old.start()
        old_port = int(re.search(r"https://127.0.0.1:(\d+)", old.log.read_text())[1])
        port = self.port_of("https://127.0.0.1")
        for at, trusted, says, advises_bundle in ((f"127.0.0.1:{port}", chain, "", False), (f"127.0.0.1:{port}", None, "of an authority", True),
                                                  (f"localhost:{port}", chain, "for another host name", False),
                                                  (f"127.0.0.1:{old_port}", expired, "has expired", False)):
            with self.subTest(says):
                done = self.farm.run("avail_wheels", "--index-url", f"https://{at}/{INDEX}/simple/",
                                     environment=self.farm.environment | {"XDG_CACHE_HOME": str(self.folder / f"cache {says}")}
                                     | ({"SSL_CERT_FILE": str(trusted)} if trusted else {}))
                self.assertEqual(done.returncode, 1 if says else 0, done.stderr)
                self.assertIn(says, done.stderr)
                self.assertEqual("SSL_CERT_FILE" in done.stderr, advises_bundle, done.stderr)

    def test_sighup_brings_the_new_certificate_and_a_broken_one_changes_nothing(self):
        make_certificate(self.folder_of_class, "second")
        self.farm.process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + PATIENCE_S
        while self.name_of_certificate() != "second":
            self.assertLess(time.monotonic(), deadline, self.farm.log.read_text())
            time.sleep(0.02)
        chain = self.folder_of_class / "chain.pem"
        good = chain.read_bytes()
        chain.write_text("no certificate\n")
        self.farm.process.send_signal(signal.SIGHUP)
        while "serve.reload_failed" not in self.farm.log.read_text():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        self.assertEqual(self.name_of_certificate(), "second")
        chain.write_bytes(good)

    def test_a_proxy_reaches_the_unix_socket_and_is_believed(self):
        self.assertEqual(stat.S_IMODE((self.farm.folder / "http.sock").stat().st_mode), 0o660)
        connection = UnixConnection(self.farm.folder / "http.sock")
        connection.request("GET", f"/{INDEX}/", headers={"X-Forwarded-Proto": "https", "X-Forwarded-Host": "wheels.example.org",
                                                                  "X-Forwarded-Prefix": "/of/the/client"})
        self.assertIn(f"https://wheels.example.org/{INDEX}/simple/", connection.getresponse().read().decode())
        connection.close()

    @unittest.skipUnless(has_ipv6(), "this machine has no IPv6")
    def test_ipv6_is_served_too(self):
        connection = http.client.HTTPConnection("::1", self.port_of("http://[::1]"), timeout=PATIENCE_S)
        connection.request("GET", "/healthz")
        self.assertEqual(connection.getresponse().read(), b"ok\n")
        connection.close()

    def test_curl_finishes_an_upload_that_was_cut_by_a_restart(self):
        wheel = Wheel("resumed", extra_members={"resumed/data.bin": random.Random(2).randbytes(2_000_000)}).write(self.folder)
        upload = RawUpload(self.farm, self.token, wheel)
        header = self.folder / "token-header"
        header.write_text(f"Authorization: {upload.headers['Authorization']}\n")

        def curl(*arguments) -> str:
            done = subprocess.run(["curl", "--silent", "--show-error", "--include", "--max-time", str(PATIENCE_S), "--header",
                                   f"@{header}", *map(str, arguments)],
                                  capture_output=True, text=True, check=True)
            return done.stdout

        made = curl("--request", "POST", "--header", f"Upload-Length: {len(upload.body)}", "--header",
                    f"Content-Type: {upload.headers['Content-Type']}", f"{self.farm.url}/{INDEX}/uploads/")
        self.assertIn("201 Created", made)
        address = urllib.parse.urljoin(f"{self.farm.url}/{INDEX}/uploads/", re.search(r"(?m)^Location: (\S+)", made)[1])
        half = self.folder / "half"
        half.write_bytes(upload.body[:len(upload.body) // 2])
        patch = ("--request", "PATCH", "--header", "Expect:", "--header", "Content-Type: application/octet-stream")
        self.assertIn("204", curl(*patch, "--header", "Upload-Offset: 0", "--data-binary", f"@{half}", address))
        self.farm.kill()
        self.farm.start()
        offset = int(re.search(r"(?m)^Upload-Offset: (\d+)", curl("--head", address))[1])
        self.assertEqual(offset, half.stat().st_size)
        rest = self.folder / "rest"
        rest.write_bytes(upload.body[offset:])
        done = curl(*patch, "--header", f"Upload-Offset: {offset}", "--data-binary", f"@{rest}", address)
        self.assertIn(wheel.name, done)
        self.assertIn(f">{wheel.name}</a>", curl(f"{self.farm.url}/{INDEX}/simple/resumed/"))
        self.assertEqual(list((self.farm.data / "resumable").iterdir()), [])

    def test_pages_numbers_and_addresses_as_other_programs_read_them(self):
        for number in range(12):
            wheel = Wheel("many", f"1.{number}").write(self.folder)
            self.assertEqual(RawUpload(self.farm, self.token, wheel).send()[0], 200)
        connection = http.client.HTTPConnection("127.0.0.1", self.farm.port, timeout=PATIENCE_S)

        def read(path: str, **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer, answer.read()

        path = f"/{INDEX}/simple/many/"
        plain = read(path)[1]
        answer, packed = read(path, **{"Accept-Encoding": "gzip"})
        self.assertEqual(answer.headers["Content-Encoding"], "gzip")
        self.assertEqual(gzip.decompress(packed), plain)
        self.assertLess(len(packed) * 2, len(plain))
        self.assertEqual(read("/readyz")[1], b"ready\n")
        numbers = read("/metrics")[1].decode()
        self.assertRegex(numbers, r'(?m)^wheelyard_requests_total\{route="upload",status="200"\} \d+$')
        self.assertRegex(numbers, r"(?m)^wheelyard_serial_visible \d+$")
        self.assertRegex(numbers, r"(?m)^wheelyard_ready 1$")
        self.assertIn(b'"operationId": "yankFile"', read("/api/v1/openapi.json")[1])
        connection.close()
        log = self.farm.log.read_text()
        self.assertRegex(log, rf"(?m) request request=\S+ client=127\.0\.0\.1 method=GET path=/{INDEX}/simple/many/ ")
        self.assertNotIn(self.token.rpartition("_")[2], log)


if __name__ == "__main__":
    main()
