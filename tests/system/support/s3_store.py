"""A real S3 store in a folder: OpenStack Swift with s3api, versitygw, or Ceph's radosgw over one monitor and one OSD.

Swift runs as four servers over one device each; the rings have 2 partitions, and nothing needs memcached. A key of Swift's is
`account:user`. All keep what they acknowledged over a kill -9.
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
import subprocess
import time
import urllib.parse
import uuid
from pathlib import Path

from support.daemons import Daemons, which
from support.farm import CLIENTS
from support.ports import free_port

BUCKET = "wheels"
REGION = "us-east-1"
START_TIMEOUT_S = 240
STARTED = "workers = 0\nlog_facility =\nlog_address =\n"

# One copy of everything, and no authentication of Ceph's own (which needs the mode "crc").
CEPH = """[global]
fsid = {cluster}
mon_initial_members = a
mon_host = v2:127.0.0.1:{monitor}
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
ms_mon_client_mode = crc
ms_mon_cluster_mode = crc
ms_mon_service_mode = crc
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 8
osd_pool_default_pgp_num = 8
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_data = {folder}/monitor
osd_data = {folder}/osd
rgw_data = {folder}/gateway
bluestore_block_size = 8589934592
run_dir = {folder}
admin_socket = {folder}/$name.asok
pid_file =
log_file =
log_to_file = false
log_to_stderr = true
mon_cluster_log_to_file = false
"""

# Swift's four servers, as its own programs start them (swift/common/wsgi.py), but in one process: a start imports it once.
SERVERS = '''
import os, sys, time
real_time, behind_s = time.time, 3600 * int(sys.argv[2])
time.time = lambda: real_time() - behind_s
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
    listening = eventlet.listen((conf["bind_ip"], int(conf["bind_port"])), backlog=1024)
    threads.append(eventlet.spawn(server.server, listening, with_cache(app), quiet, protocol=SwiftHttpProtocol, keepalive=True, capitalize_response_headers=False,
                                  custom_pool=eventlet.GreenPool(256), debug=False))
for thread in threads:
    thread.wait()
'''


def versitygw() -> str | None:
    prepared = CLIENTS / "versitygw" / "versitygw"
    return str(prepared) if prepared.exists() else shutil.which("versitygw")


def missing() -> str:
    """Why no store can be started here; empty: one can."""
    if versitygw() or which("swift-proxy-server"):
        return ""
    return "no S3 store: scripts/install-deps --test installs Swift"


class S3Store:
    def __init__(self, folder: Path, kind: str = "", host: str = "127.0.0.1", wrapper: tuple[str, ...] = ()):
        self.folder, self.host, self.wrapper = folder, host, wrapper
        self.kind = kind or ("swift" if which("swift-proxy-server") else "versitygw")
        self.daemons = Daemons()
        self.hours_behind = 0  # Swift's clock, from its next start on
        self.port, *self.parts = (free_port() for _ in range(4))
        self.access, self.secret = ("farm:uploader", "sekret") if self.kind == "swift" else ("uploader", "sekret-key")
        folder.mkdir(parents=True)
        if self.kind == "swift":
            self._prepare_swift()
        elif self.kind == "radosgw":
            self._prepare_ceph()

    def __enter__(self) -> "S3Store":
        self.start()
        status, _, body = self.request("PUT", "")
        if status not in (200, 201, 409):
            raise AssertionError(f"{status} {body!r}")
        return self

    def __exit__(self, *_) -> None:
        self.daemons.stop_all()

    @property
    def can_be_old(self) -> bool:
        """Whether make_older or restart_behind can be called."""
        return self.kind in ("swift", "versitygw")

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def settings(self, prefix: str = "", public: bool = True, endpoint: str = "") -> str:
        """Lines of [stores] of a registry over this store. `endpoint`: where the registry itself finds it, if elsewhere."""
        credentials = self.folder / "credentials"
        credentials.touch(mode=0o600)
        credentials.write_text(f"{self.access}\n{self.secret}\n")
        more = f'blobs_public_endpoint = "{self.url}"\n' if public else ""
        return (f'blobs = "s3://{BUCKET}{prefix}"\nblobs_endpoint = "{endpoint or self.url}"\nblobs_path_style = true\n'
                f'blobs_region = "{REGION}"\nblobs_credentials_file = "{credentials}"\n{more}')

    # --- the servers --------------------------------------------------------------------------------------------------

    def _prepare_swift(self) -> None:
        (self.folder / "srv" / "d").mkdir(parents=True)
        (self.folder / "swift.conf").write_text("[swift-hash]\nswift_hash_path_suffix = tests\n")
        for kind, port in zip(("account", "container", "object"), self.parts):
            (self.folder / f"{kind}.conf").write_text(
                f"[DEFAULT]\n{STARTED}bind_ip = 127.0.0.1\nbind_port = {port}\nswift_dir = {self.folder}\ndevices = {self.folder}/srv\nmount_check = false\n"
                f"user = {_user()}\n[pipeline:main]\npipeline = {kind}-server\n[app:{kind}-server]\nuse = egg:swift#{kind}\n")
        (self.folder / "proxy.conf").write_text(
            f"[DEFAULT]\n{STARTED}bind_ip = {self.host}\nbind_port = {self.port}\nswift_dir = {self.folder}\nuser = {_user()}\n"
            "[pipeline:main]\npipeline = catch_errors s3api tempauth slo proxy-server\n"
            "[filter:catch_errors]\nuse = egg:swift#catch_errors\n"
            f"[filter:s3api]\nuse = egg:swift#s3api\nlocation = {REGION}\n"
            "[filter:tempauth]\nuse = egg:swift#tempauth\nuser_farm_uploader = sekret .admin\n"
            "[filter:slo]\nuse = egg:swift#slo\n"
            "[app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true\nallow_account_management = true\n")

    def _prepare_ceph(self) -> None:
        cluster = uuid.uuid4()
        (self.folder / "ceph.conf").write_text(CEPH.format(cluster=cluster, monitor=self.parts[0], folder=self.folder))
        for name in ("monitor", "osd", "gateway"):
            (self.folder / name).mkdir()
        self._ceph("monmaptool", "--create", "--addv", "a", f"[v2:127.0.0.1:{self.parts[0]}]", "--fsid", cluster, self.folder / "map")
        self._ceph("ceph-mon", "-i", "a", "--mkfs", "--monmap", self.folder / "map")

    def _ceph(self, program: str, *words) -> None:
        done = subprocess.run([which(program), *map(str, words)], env=os.environ | {"CEPH_CONF": str(self.folder / "ceph.conf")},
                              capture_output=True, text=True, timeout=START_TIMEOUT_S)
        if done.returncode != 0:
            raise AssertionError(f"{program} {words}: {done.stderr[-4000:]}")

    def _start_ceph(self) -> None:
        def daemon(name: str, *words: str) -> None:
            self.daemons.start(name, [name, "-f", *words], self.folder / f"{name}.log", {"CEPH_CONF": str(self.folder / "ceph.conf")})

        daemon("ceph-mon", "-i", "a")
        is_new = not (self.folder / "osd" / "type").exists()
        if is_new:
            disk = uuid.uuid4()
            self._ceph("ceph", "osd", "new", disk)
            self._ceph("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", disk)
        daemon("ceph-osd", "-i", "0")
        daemon("radosgw", "-n", "client.gateway", f"--rgw-frontends=beast endpoint={self.host}:{self.port} tcp_nodelay=1")
        if is_new:
            self._ceph("radosgw-admin", "user", "create", "--uid=farm", "--display-name=farm", f"--access-key={self.access}",
                       f"--secret-key={self.secret}")

    def start(self) -> None:
        if self.kind == "radosgw":
            self._start_ceph()
        elif self.kind == "swift":
            environment = {"SWIFT_CONF_FILE": str(self.folder / "swift.conf")}
            (self.folder / "servers.py").write_text(SERVERS)
            proxy = self.folder / "proxy.conf"
            skew = "allowable_clock_skew = "
            lines = [line for line in proxy.read_text().splitlines() if not line.startswith(skew)]
            if self.hours_behind:  # clients go on with their clocks
                lines.insert(lines.index("use = egg:swift#s3api") + 1, f"{skew}{(self.hours_behind + 1) * 3600}")
            proxy.write_text("\n".join(lines) + "\n")
            self.daemons.start("swift", ["/usr/bin/python3", str(self.folder / "servers.py"), str(self.folder), str(self.hours_behind)],
                               self.folder / "swift.log", environment, self.wrapper)
        else:
            for folder in ("iam", "data"):
                (self.folder / folder).mkdir(exist_ok=True)
            self.daemons.start("versitygw", [versitygw(), "--port", f"{self.host}:{self.port}", "--iam-dir", str(self.folder / "iam"),
                                             "--keep-alive", "--quiet", "posix", str(self.folder / "data")],
                               self.folder / "versitygw.log", {"ROOT_ACCESS_KEY": self.access, "ROOT_SECRET_KEY": self.secret}, self.wrapper)
        deadline = time.monotonic() + START_TIMEOUT_S
        while not _listens(self.host, self.port):  # Swift's proxy is the last of its servers to listen
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
        headers = {"host": f"{self.host}:{self.port}", "x-amz-content-sha256": payload, "x-amz-date": now}
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
        connection = http.client.HTTPConnection(self.host, self.port, timeout=240)
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

    def restart_behind(self, hours: int) -> None:
        """Of Swift: what is stored from now on has a time before now."""
        self.kill()
        self.hours_behind = hours
        self.start()

    def keys(self, prefix: str = "") -> list[str]:
        status, _, body = self.request("GET", "", query=(("list-type", "2"), ("prefix", prefix)))
        if status != 200:
            raise AssertionError(f"{status} {body!r}")
        return sorted(part.split(b"</Key>")[0].decode() for part in body.split(b"<Key>")[1:])


def _listens(host: str, port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((host, port)) == 0


def _user() -> str:
    import pwd
    return pwd.getpwuid(os.getuid()).pw_name

