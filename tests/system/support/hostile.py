"""A server whose texts try to control the terminal of who reads them, and whose documents do not end."""

import http.client
import json
import zlib
from http.server import BaseHTTPRequestHandler

from support.farm import Farm
from support.loopback_server import LoopbackServer

# A title and a colour (C0), erasing and a colour (C1), directions (bidi), what overwrites its line, and what looks like the next one.
FORGED = "forged: line"
HOSTILE = f"\x1b]0;owned\x07\x1b[31m\x9b2J\u202e\u2066\u200f\x7f\rback\n{FORGED}"
# The members of documents that hold free text; others would make the answer one of another kind.
FREE = {"reason", "title", "name", "actor", "actor_name", "state_reason", "yanked_reason", "uploaded_by", "detail", "advice", "value", "agent",
        "asked_by", "change", "created_by", "message", "license", "yanked", "_yanked"}
WHEEL_LIST_TEXT = HOSTILE.replace("\n", " ").replace("\r", " ")
ENDLESS_PIECE = b"<a href=x>" + b"a" * (1 << 16)


def bomb() -> bytes:
    """512 MiB of spaces, packed in pieces: a child's peak of memory begins as that of the process that forked it."""
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    return b"".join(packer.compress(b" " * (1 << 20)) for _ in range(512)) + packer.flush()


BOMB = bomb()


def altered(value, keys: set[str] | None, key: str = ""):
    """With the hostile text behind each text; `keys`: only of these members. What is no free text is one line."""
    if isinstance(value, dict):
        return {name: altered(item, keys, name) for name, item in value.items()}
    if isinstance(value, list):
        return [altered(item, keys, key) for item in value]
    if not isinstance(value, str) or key == "format" or (keys is not None and key not in keys):
        return value
    return value + (HOSTILE if key in FREE else HOSTILE.replace("\n", " "))


def wheel_list(name: str) -> bytes:
    """docs/reference/wheel-list.md: one project, whose only wheel is yanked."""
    line = f"{name}-1.0-py3-none-any.whl\ty{WHEEL_LIST_TEXT}\t>=3.8{WHEEL_LIST_TEXT}\t\t100\t{'a' * 64}\n".encode()
    facts = (json.dumps({"machines": ["vax" + HOSTILE], "needed": ["lib" + HOSTILE]}) + "\n").encode()
    directory = f"{name}\t1\t0\t{len(line)}\t0\t{len(facts)}\n".encode()
    head = f"wheelyard.catalogue/1\t1\t0\t2026-01-01T00:00:00.000000Z\tmain\t1\t1\t{len(directory)}\t{len(line)}\t{len(facts)}\twhole\n"
    return head.encode() + directory + line + facts


def page(port: int) -> dict:
    def file(filename: str, **more) -> dict:
        return {"filename": filename, "url": f"http://127.0.0.1:{port}/{filename}", "hashes": {"sha256": "a" * 64}, "size": 100, "yanked": False} | more
    return {"meta": {"api-version": "1.1"}, "name": "evil", "files": [
        file("evil-1.0-py3-none-any.whl", yanked=HOSTILE), file("evil-2.0-py3-none-any.whl", **{"requires-python": ">=3" + HOSTILE}),
        file(f"evil-3.0-cp311-cp311-{HOSTILE}.whl"), file(f"evil-4.0+{HOSTILE}-py3-none-any.whl"), file("../../evil-5.0-py3-none-any.whl")]}


class HostileServer(LoopbackServer):
    """/some/… and /all/… answer as the farm does, with the hostile text in some or all texts; /pages/ and /list/ are indexes; what is
    below /endless/, /bomb/ and /loop/ does not end."""

    def __init__(self, farm: Farm):
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                kind, _, rest = self.path.lstrip("/").partition("/")
                if kind in ("some", "all"):
                    return self.forward("/" + rest, FREE if kind == "some" else None)
                if kind == "endless":
                    self.send_response(200)
                    self.send_header("Content-Type", "text/html")
                    self.end_headers()
                    self.close_connection = True
                    while True:
                        self.wfile.write(ENDLESS_PIECE)
                if kind == "bomb":
                    return self.answer(200, BOMB, "application/vnd.pypi.simple.v1+json", {"Content-Encoding": "gzip"})
                if kind == "loop":
                    return self.answer(302, b"", "text/html", {"Location": self.path})
                if kind == "list" and rest.endswith("catalogue.txt"):
                    return self.answer(200, wheel_list("evil"), "text/plain")
                if kind in ("list", "pages") and rest.endswith("/evil/"):
                    return self.answer(200, json.dumps(page(outer.port)).encode())
                return self.answer(404, json.dumps({"title": HOSTILE, "status": 404, "code": "x" + HOSTILE, "detail": HOSTILE, "advice": HOSTILE}).encode())

            do_POST = do_PUT = do_GET

            def forward(self, path: str, keys: set[str] | None):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                connection = http.client.HTTPConnection("127.0.0.1", farm.port, timeout=240)
                headers = {name: value for name, value in self.headers.items() if name.lower() in ("authorization", "content-type", "accept")}
                connection.request(self.command, path, body, headers)
                found = connection.getresponse()
                text, content_type = found.read(), found.headers.get("Content-Type", "")
                connection.close()
                if "json" in content_type:
                    text = json.dumps(altered(json.loads(text), keys), ensure_ascii=False).encode()
                self.answer(found.status, text, content_type)

            def answer(self, status: int, body: bytes, content_type: str = "application/vnd.pypi.simple.v1+json", more: dict[str, str] | None = None):
                self.send_response(status)
                for name, value in ({"Content-Type": content_type, "Content-Length": str(len(body))} | (more or {})).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        super().__init__(Handler)
