"""nginx, Apache, HAProxy and Caddy on loopback, each with the lines of docs/how-to/put-a-web-server-in-front.md and no others that matter.

    with WebServer("nginx", folder, registry_port, "/pypi/") as server:
        server.url  # "http://127.0.0.1:PORT/pypi"
"""

from __future__ import annotations  # for Python 3.9

import os
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path

from support.farm import ROOT
from support.ports import free_port

GUIDE = ROOT / "docs/how-to/put-a-web-server-in-front.md"
TREE_SNIPPET = ROOT / "docs/reference/nginx-wheels.conf"
PROGRAMS = {"nginx": "nginx", "apache": "apache2", "haproxy": "haproxy", "caddy": "caddy"}
START_LIMIT_S = 240
SHOWN_PORT, SHOWN_PATH = "8080", "/pypi/"


def lines_of(language: str, guide: Path = GUIDE) -> str:
    """The guide's first block of this language."""
    return re.search(rf"(?ms)^```{language}\n(.*?)^```", guide.read_text())[1]


def why_none(kind: str) -> str:
    """Empty: this web server can be started."""
    return "" if shutil.which(PROGRAMS[kind], path=PATH) else f"{PROGRAMS[kind]} is not installed: scripts/install-deps --system"


PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
MODULES = ("mpm_event", "authz_core", "headers", "proxy", "proxy_http")


class WebServer:
    def __init__(self, kind: str, folder: Path, registry_port: int, path: str, lines: str = ""):
        """`path`: with both slashes, "/a/b/"; "/" is the root. `lines`: instead of the guide's."""
        self.kind, self.folder, self.port = kind, folder, free_port()
        folder.mkdir(mode=0o755, exist_ok=True)
        lines = (lines or lines_of(kind)).replace(f"127.0.0.1:{SHOWN_PORT}", f"127.0.0.1:{registry_port}").replace(SHOWN_PATH, path)
        self.lines = lines.replace(SHOWN_PATH.rstrip("/"), path.rstrip("/") or "/")
        self.url = f"http://127.0.0.1:{self.port}{path}".rstrip("/")

    def __enter__(self) -> WebServer:
        configuration, command = getattr(self, self.kind)()
        file = self.folder / "configuration"
        file.write_text(configuration)
        self.log = self.folder / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([*command, file], cwd=self.folder, env=os.environ | {"PATH": PATH, "HOME": str(self.folder)}, stdout=log, stderr=log)
        deadline = time.monotonic() + START_LIMIT_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), START_LIMIT_S).close()
                return self
            except OSError as error:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.__exit__()
                    raise AssertionError(f"{self.kind}: {error}\n{self.log.read_text()}") from error
                time.sleep(0.02)  # until it listens: nothing announces it

    def __exit__(self, *_) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()

    def nginx(self):
        temporary = " ".join(f"{name}_temp_path {self.folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        server = f"server {{ listen 127.0.0.1:{self.port};\n{self.lines}\n}}"
        if "upstream " in self.lines:  # the guide has the whole of http { }
            assert "listen 80;" in self.lines
            server = self.lines.replace("listen 80;", f"listen 127.0.0.1:{self.port};")
        return (f"daemon off; master_process off; pid {self.folder}/pid; error_log stderr;\nevents {{ }}\n"
                f"http {{ access_log off; {temporary}\n{server}\n}}\n",
                ("nginx", "-p", self.folder, "-e", "stderr", "-c"))

    def apache(self):
        loaded = "".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n" for name in MODULES)
        return (f"ServerRoot {self.folder}\nPidFile {self.folder}/pid\nDefaultRuntimeDir {self.folder}\nErrorLog /dev/stderr\n"
                f"ServerName 127.0.0.1\nListen 127.0.0.1:{self.port}\nUser www-data\nGroup www-data\n{loaded}"
                f"<VirtualHost 127.0.0.1:{self.port}>\n{self.lines}\n</VirtualHost>\n",
                ("apache2", "-D", "FOREGROUND", "-f"))

    def haproxy(self):
        assert "bind :80\n" in self.lines
        return ("defaults\n    mode http\n    timeout connect 10s\n    timeout client 60s\n    timeout server 60s\n\n"
                + self.lines.replace("bind :80\n", f"bind 127.0.0.1:{self.port}\n"), ("haproxy", "-db", "-f"))

    def caddy(self):
        assert ":80 {\n" in self.lines
        return ("{\n    admin off\n}\n" + self.lines.replace(":80 {\n", f"http://127.0.0.1:{self.port} {{\n"),
                ("caddy", "run", "--adapter", "caddyfile", "--config"))


class TreeServer(WebServer):
    """nginx over a published tree, with docs/reference/nginx-wheels.conf as it is."""

    def __init__(self, tree: Path, folder: Path):
        super().__init__("nginx", folder, 0, "/", TREE_SNIPPET.read_text())
        self.tree = tree

    def nginx(self):
        lines = TREE_SNIPPET.read_text()
        for was, now in (("listen 127.0.0.1:8080;", f"listen 127.0.0.1:{self.port};"), ("root /srv/www/wheels;", f"root {self.tree};")):
            assert was in lines, was
            lines = lines.replace(was, now)
        temporary = " ".join(f"{name}_temp_path {self.folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        return (f"daemon off; master_process off; worker_processes 1; pid {self.folder}/pid; error_log stderr;\nevents {{ }}\n"
                f"http {{ access_log off; {temporary}\n{lines}\n}}\n", ("nginx", "-p", self.folder, "-e", "stderr", "-c"))
