"""A real S3 store in a folder: OpenStack Swift with s3api, or versitygw.

Swift runs as four servers over one device each; the rings have 2 partitions, and nothing needs memcached. A key of Swift's is
`account:user`. Both keep what they acknowledged over a kill -9.
"""

from __future__ import annotations

import datetime
import hashlib
import hmac
import http.client
import os
import shutil
import signal
import socket
import time
import urllib.parse
from pathlib import Path

from support.daemons import Daemons, which
from support.farm import CLIENTS

BUCKET = "wheels"
REGION = "us-east-1"
START_TIMEOUT_S = 120
STARTED = "bind_ip = 127.0.0.1\nworkers = 0\nlog_facility =\nlog_address =\n"

# Swift's four servers, as its own programs start them (swift/common/wsgi.py), but in one process: a start imports it once.
SERVERS = '''
import os, sys
from swift.common import utils, wsgi
from swift.common.ring import RingBuilder
utils.eventlet_monkey_patch()
import eventlet
from eventlet import wsgi as server
from swift.common.wsgi import SwiftHttpProtocol
eventlet.debug.hub_exceptions(False)
folder = sys.argv[1]
kinds = "account", "container", "object"
for kind in kinds:
    if os.path.exists(f"{folder}/{kind}.ring.gz"):
        continue
    ring, port = RingBuilder(1, 1, 0), int(wsgi.appconfig(f"{folder}/{kind}.conf")["bind_port"])
    ring.add_dev({"region": 1, "zone": 1, "ip": "127.0.0.1", "port": port, "device": "d", "weight": 1.0,
                  "replication_ip": "127.0.0.1", "replication_port": port, "meta": ""})
    ring.rebalance()
    ring.get_ring().save(f"{folder}/{kind}.ring.gz")

class Cache:
    """What memcached would keep for the proxy: what it knows of the account and the bucket."""
    def __init__(self):
        self.kept = {}
    def get(self, key, *_, **__):
        return self.kept.get(key)
    def set(self, key, value, *_, **__):
        self.kept[key] = value
    def delete(self, key, *_, **__):
        self.kept.pop(key, None)

cache = Cache()

def with_cache(app):
    def answer(environment, start_response):
        environment["swift.cache"] = cache
        return app(environment, start_response)
    return answer

quiet = type("Quiet", (), {"write": lambda self, text: None})()
threads = []
for configuration in (f"{folder}/{kind}.conf" for kind in (*kinds, "proxy")):
    conf = wsgi.appconfig(configuration)
    app = wsgi.loadapp(configuration, global_conf={"log_name": "swift"})
    listening = eventlet.listen(("127.0.0.1", int(conf["bind_port"])), backlog=1024)
    threads.append(eventlet.spawn(server.server, listening, with_cache(app), quiet, protocol=SwiftHttpProtocol, keepalive=True, capitalize_response_headers=False,
                                  custom_pool=eventlet.GreenPool(256), debug=False))
for thread in threads:
    thread.wait()
'''


def free_ports(count: int) -> list[int]:
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def versitygw() -> str | None:
    prepared = CLIENTS / "versitygw" / "versitygw"
    return str(prepared) if prepared.exists() else shutil.which("versitygw")


def missing() -> str:
    """Why no store can be started here; empty: one can."""
    if versitygw() or which("swift-proxy-server"):
        return ""
    return "no S3 store: scripts/install-deps --test installs Swift"


class S3Store:
    def __init__(self, folder: Path, kind: str = ""):
        self.folder = folder
        self.kind = kind or ("swift" if which("swift-proxy-server") else "versitygw")
        self.daemons = Daemons()
        self.port, *self.parts = free_ports(4)
        self.access, self.secret = ("farm:uploader", "sekret") if self.kind == "swift" else ("uploader", "sekret-key")
        folder.mkdir(parents=True)
        if self.kind == "swift":
            self._prepare_swift()

    def __enter__(self) -> "S3Store":
        self.start()
        status, _, body = self.request("PUT", "")
        if status not in (200, 201, 409):
            raise AssertionError(f"{status} {body!r}")
        return self

    def __exit__(self, *_) -> None:
        self.daemons.stop_all()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def settings(self, prefix: str = "", public: bool = True) -> str:
        """Lines of [stores] of a registry over this store."""
        credentials = self.folder / "credentials"
        credentials.touch(mode=0o600)
        credentials.write_text(f"{self.access}\n{self.secret}\n")
        more = f'blobs_public_endpoint = "{self.url}"\n' if public else ""
        return (f'blobs = "s3://{BUCKET}{prefix}"\nblobs_endpoint = "{self.url}"\nblobs_path_style = true\n'
                f'blobs_region = "{REGION}"\nblobs_credentials_file = "{credentials}"\n{more}')

    # --- the servers --------------------------------------------------------------------------------------------------

    def _prepare_swift(self) -> None:
        (self.folder / "srv" / "d").mkdir(parents=True)
        (self.folder / "swift.conf").write_text("[swift-hash]\nswift_hash_path_suffix = tests\n")
        for kind, port in zip(("account", "container", "object"), self.parts):
            (self.folder / f"{kind}.conf").write_text(
                f"[DEFAULT]\n{STARTED}bind_port = {port}\nswift_dir = {self.folder}\ndevices = {self.folder}/srv\nmount_check = false\n"
                f"user = {_user()}\n[pipeline:main]\npipeline = {kind}-server\n[app:{kind}-server]\nuse = egg:swift#{kind}\n")
        (self.folder / "proxy.conf").write_text(
            f"[DEFAULT]\n{STARTED}bind_port = {self.port}\nswift_dir = {self.folder}\nuser = {_user()}\n"
            "[pipeline:main]\npipeline = catch_errors s3api tempauth slo proxy-server\n"
            "[filter:catch_errors]\nuse = egg:swift#catch_errors\n"
            f"[filter:s3api]\nuse = egg:swift#s3api\nlocation = {REGION}\n"
            "[filter:tempauth]\nuse = egg:swift#tempauth\nuser_farm_uploader = sekret .admin\n"
            "[filter:slo]\nuse = egg:swift#slo\n"
            "[app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true\nallow_account_management = true\n")

    def start(self) -> None:
        if self.kind == "swift":
            environment = {"SWIFT_CONF_FILE": str(self.folder / "swift.conf")}
            (self.folder / "servers.py").write_text(SERVERS)
            self.daemons.start("swift", ["/usr/bin/python3", str(self.folder / "servers.py"), str(self.folder)],
                               self.folder / "swift.log", environment)
        else:
            for folder in ("iam", "data"):
                (self.folder / folder).mkdir(exist_ok=True)
            self.daemons.start("versitygw", [versitygw(), "--port", f"127.0.0.1:{self.port}", "--iam-dir", str(self.folder / "iam"),
                                             "--keep-alive", "--quiet", "posix", str(self.folder / "data")],
                               self.folder / "versitygw.log", {"ROOT_ACCESS_KEY": self.access, "ROOT_SECRET_KEY": self.secret})
        for port in [self.port, *(self.parts if self.kind == "swift" else [])]:
            deadline = time.monotonic() + START_TIMEOUT_S
            while not _listens(port):
                if time.monotonic() > deadline:
                    raise AssertionError("".join(log.read_text() for log in self.folder.glob("*.log")))
                time.sleep(0.02)  # until an outside process has done something: nothing announces it

    def kill(self) -> None:
        """kill -9 of all of its processes."""
        for process in self.daemons.running.values():
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.daemons.running.clear()

    # --- requests of the test's own -----------------------------------------------------------------------------------

    def request(self, method: str, key: str, body: bytes = b"", query: tuple[tuple[str, str], ...] = ()):
        """(status, headers, body); signed by the recipe of Amazon's documentation."""
        path = f"/{BUCKET}" + (f"/{key}" if key else "")
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        payload = hashlib.sha256(body).hexdigest()
        headers = {"host": f"127.0.0.1:{self.port}", "x-amz-content-sha256": payload, "x-amz-date": now}
        canonical_query = "&".join(sorted(f"{urllib.parse.quote(n, safe='')}={urllib.parse.quote(v, safe='')}" for n, v in query))
        names = ";".join(sorted(headers))
        canonical = "\n".join([method, urllib.parse.quote(path), canonical_query,
                               *(f"{name}:{headers[name]}" for name in sorted(headers)), "", names, payload])
        scope = f"{now[:8]}/{REGION}/s3/aws4_request"
        text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        signing = ("AWS4" + self.secret).encode()
        for part in (now[:8], REGION, "s3", "aws4_request"):
            signing = hmac.new(signing, part.encode(), hashlib.sha256).digest()
        signature = hmac.new(signing, text.encode(), hashlib.sha256).hexdigest()
        headers["authorization"] = f"AWS4-HMAC-SHA256 Credential={self.access}/{scope},SignedHeaders={names},Signature={signature}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, urllib.parse.quote(path) + ("?" + canonical_query if canonical_query else ""), body, headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def object(self, key: str) -> bytes | None:
        status, _, body = self.request("GET", key)
        return body if status == 200 else None

    def make_older(self, key: str, hours: float) -> None:
        """Of versitygw, whose objects are files."""
        file = self.folder / "data" / BUCKET / key
        os.utime(file, (file.stat().st_mtime - hours * 3600,) * 2)

    def keys(self, prefix: str = "") -> list[str]:
        status, _, body = self.request("GET", "", query=(("list-type", "2"), ("prefix", prefix)))
        if status != 200:
            raise AssertionError(f"{status} {body!r}")
        return sorted(part.split(b"</Key>")[0].decode() for part in body.split(b"<Key>")[1:])


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _user() -> str:
    import pwd
    return pwd.getpwuid(os.getuid()).pw_name

