"""An upstream index on loopback that behaves as a test says: right, slow, cut, lying, or not at all.

    with Upstream() as upstream:
        upstream.offer(Wheel("yard-six").write(folder))
        upstream.files["yard_six-1.0-py3-none-any.whl"].body = b"other bytes"
"""

import hashlib
import json
import re
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import quote, unquote

from support.loopback_server import LoopbackServer

JSON = "application/vnd.pypi.simple.v1+json"
DRIP_S = 1  # the registry gives up a line on which nothing comes for 10 s


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@dataclass
class Offered:
    """A file: what the page says about it, and what is sent for it."""
    body: bytes
    sha256: str = ""
    size: int | None = None
    url: str = ""                 # on the page; empty: /files/NAME
    metadata: bytes | None = None
    upload_time: str = "2026-01-01T00:00:00Z"
    redirect: str = ""            # sends 302 to this
    cut_after: int | None = None  # bytes after which the connection ends
    cuts: int = 1 << 30           # how often; later answers are whole
    first_body: bytes | None = None  # until the first cut
    first_length: int | None = None  # Content-Length until the first cut
    wait_s: float = 0.0
    hold_after: int | None = None  # bytes after which it waits until `go` is set, with a byte now and then
    is_silent: bool = False       # without such bytes
    go: threading.Event = field(default_factory=threading.Event)
    chunked: bool = False         # without Content-Length
    ranges: bool = False          # answers Range (with If-Range) by 206
    status: int = 200
    headers: dict = field(default_factory=dict)  # of an answer with another status
    more: dict = field(default_factory=dict)

    def __post_init__(self):
        self.sha256 = self.sha256 or hashlib.sha256(self.body).hexdigest()
        self.size = len(self.body) if self.size is None else self.size


class Upstream(LoopbackServer):
    def __init__(self):
        self.files: dict[str, Offered] = {}
        self.requests: list[str] = []
        self.ranges: list[tuple[str, int]] = []  # files that were sent: name, first byte
        self.pages: dict[str, tuple[int, dict, bytes]] = {}  # project → an answer instead of the page
        self.cache_control = "max-age=600"
        self.page_wait_s: dict[str, float] = {}  # by project
        self.authorization = ""  # without this header pages and files are 401
        self.authorizations: set[tuple[str, str]] = set()  # host that was requested, Authorization
        self.as_proxy: set[str] = set()  # hosts that were requested of it as of a proxy; it answers for each
        self.answers: dict[str, tuple[int, dict, bytes]] = {}  # path → an answer instead of what is there
        self.html = False  # HTML without sizes and times, as PEP 503 alone has it
        self.html_times = False  # that HTML has times, as PyTorch's index has them
        self.lock = threading.Lock()
        upstream = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                host = self.headers.get("Host", "")
                if self.path.startswith("http://"):
                    host, _, path = self.path.removeprefix("http://").partition("/")
                    self.path = "/" + path
                    upstream.as_proxy.add(host)
                upstream.authorizations.add((host, self.headers.get("Authorization", "")))
                if upstream.authorization and self.headers.get("Authorization") != upstream.authorization:
                    return self.reply(401, {"WWW-Authenticate": "Basic"}, b"who are you?")
                with upstream.lock:
                    upstream.requests.append(unquote(self.path))
                kind, _, rest = unquote(self.path).lstrip("/").partition("/")
                if unquote(self.path) in upstream.answers:
                    self.reply(*upstream.answers[unquote(self.path)])
                elif kind == "simple":
                    self.page(rest.strip("/"))
                elif kind == "files":
                    self.file(rest)
                else:
                    self.reply(404, {}, b"nothing here")

            def page(self, project: str):
                time.sleep(upstream.page_wait_s.get(project, 0))
                if project in upstream.pages:
                    return self.reply(*upstream.pages[project])
                content_type, body = upstream.page(project)
                if body is None:
                    return self.reply(404, {}, b"no such project")
                etag = '"' + hashlib.sha256(body).hexdigest()[:16] + '"'
                headers = {"Content-Type": content_type, "ETag": etag, "Cache-Control": upstream.cache_control}
                if self.headers.get("If-None-Match") == etag:
                    return self.reply(304, headers, b"")
                self.reply(200, headers, body)

            def file(self, name: str):
                if name.endswith(".metadata") and (file := upstream.files.get(name.removesuffix(".metadata"))):
                    return self.reply(200 if file.metadata else 404, {}, file.metadata or b"")
                file = upstream.files.get(name)
                if file is None:
                    return self.reply(404, {}, b"no such file")
                time.sleep(file.wait_s)
                if file.redirect:
                    return self.reply(302, {"Location": file.redirect}, b"")
                if file.status != 200:
                    return self.reply(file.status, file.headers, file.body)
                begin = self.range_begin(file)
                if begin >= len(file.body):
                    return self.reply(416, {"Content-Range": f"bytes */{len(file.body)}"}, b"")
                is_cut = file.cut_after is not None and file.cuts > 0
                upstream.ranges.append((name, begin))
                body = file.body[begin:]
                self.send_response(206 if begin else 200)
                if begin:
                    self.send_header("Content-Range", f"bytes {begin}-{len(file.body) - 1}/{len(file.body)}")
                if file.ranges:
                    self.send_header("ETag", f'"{file.sha256}"')
                if is_cut and file.first_length is not None:
                    self.send_header("Content-Length", str(file.first_length))
                elif file.chunked:
                    self.send_header("Transfer-Encoding", "chunked")
                else:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if is_cut:
                    file.cuts -= 1
                    self.piece(file.chunked and file.first_length is None, (file.first_body or body)[:file.cut_after])
                    self.close_connection = True
                    return
                first = len(body) if file.hold_after is None else file.hold_after
                self.piece(file.chunked, body[:first])
                if file.hold_after is not None:
                    while not file.go.wait(DRIP_S) and first < len(body):
                        if not file.is_silent:
                            self.piece(file.chunked, body[first:first + 1])
                            first += 1
                    self.piece(file.chunked, body[first:])
                if file.chunked:
                    self.wfile.write(b"0\r\n\r\n")

            def range_begin(self, file: Offered) -> int:
                asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
                is_same = self.headers.get("If-Range", f'"{file.sha256}"') == f'"{file.sha256}"'
                return int(asked[1]) if file.ranges and asked and is_same else 0

            def piece(self, chunked: bool, body: bytes):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(body), body) if chunked else body)

            def reply(self, status: int, headers: dict, body: bytes):
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if status != 304:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if status != 304:
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        super().__init__(Handler)

    @property
    def url(self) -> str:
        return super().url + "/simple/"

    def offer(self, path: Path, **more) -> Offered:
        self.files[path.name] = Offered(path.read_bytes(), **more)
        return self.files[path.name]

    def count(self, path: str) -> int:
        with self.lock:
            return self.requests.count(path)

    def page(self, project: str) -> tuple[str, bytes | None]:
        files = {name: file for name, file in self.files.items() if normalised(name.split("-")[0]) == project}
        if not files:
            return "", None
        if self.html:
            rows = [f'<a href="{file.url or "/files/" + quote(name)}#sha256={file.sha256}"'
                    + (f' data-upload-time="{file.upload_time}"' if self.html_times else "") + f">{name}</a>" for name, file in files.items()]
            return "text/html", f"<!DOCTYPE html><html><body>{''.join(rows)}</body></html>".encode()
        entries = [{"filename": name, "url": file.url or "/files/" + quote(name), "hashes": {"sha256": file.sha256} if file.sha256 != "-" else {},
                    "size": file.size, "upload-time": file.upload_time, "yanked": False,
                    **({"core-metadata": {"sha256": hashlib.sha256(file.metadata).hexdigest()}} if file.metadata else {}), **file.more}
                   for name, file in files.items()]
        return JSON, json.dumps({"meta": {"api-version": "1.1"}, "name": project, "versions": [], "files": entries}).encode()
