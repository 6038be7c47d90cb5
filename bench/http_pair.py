"""One wheelyard-registry and one nginx on loopback, one thread each, serving the same tree. Shared by the benches of the
HTTP server."""

import os
import pathlib
import resource
import socket
import subprocess
import time

INDEX = "bench"

NGINX = """
daemon off; worker_processes 1; pid {root}/nginx.pid; error_log {root}/nginx.log;
events {{ worker_connections 20000; }}
http {{
    access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; keepalive_timeout 600; types {{ text/html html; }}
    client_body_temp_path {root}/t1; proxy_temp_path {root}/t2; fastcgi_temp_path {root}/t3; uwsgi_temp_path {root}/t4;
    scgi_temp_path {root}/t5;
    server {{ listen 127.0.0.1:{port}; root {tree}; index index.html; }}
}}
"""

REGISTRY = """
config_version = 1
[server]
listen = "127.0.0.1:{port}"
io_threads = 1
idle_timeout_s = 600
max_connections = 20000
[store]
directory = "data"
[[index]]
name = "{index}"
"""


def raise_descriptor_limit(wanted=65_536):
    """Raises the limit of open files for this process and its servers: the registry accepts connections up to three
    quarters of it."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, max(most, wanted)))
    except (ValueError, PermissionError):  # not root
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, process):
    for _ in range(15_000):  # devpi-server takes a minute beside other programs
        if process.poll() is not None:
            raise SystemExit(f"{process.args[0]} ended with status {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.02)
    raise SystemExit(f"{process.args[0]} does not listen")


def processes(pid):
    text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [pid, *(int(child) for child in text.split())]


def cpu_seconds(pid):
    """User and system CPU time of the process and its children."""
    total = 0
    for one in processes(pid):
        fields = pathlib.Path(f"/proc/{one}/stat").read_text().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def resident_kib(pid):
    """Private memory of the process and its children."""
    total = 0
    for one in processes(pid):
        lines = pathlib.Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))
    return total


class Pair:
    """`with Pair(root, registry) as pair:` gives pair.ports and pair.pids, by name."""

    def __init__(self, root, registry):
        self.root = pathlib.Path(root)
        self.registry = registry
        self.ports = {"wheelyard": free_port(), "nginx": free_port()}
        self.tree = self.root / "data" / "public"
        self.processes = {}

    def write(self, name, size):
        """Creates a file of `size` bytes in the tree and returns its path in URLs."""
        path = self.tree / INDEX / name
        path.parent.mkdir(parents=True, exist_ok=True)
        for parent in path.relative_to(self.root).parents:
            (self.root / parent).chmod(0o755)  # started by root, nginx's worker runs as another user
        block = b"x" * 1_000_000
        with open(path, "wb") as file:
            for start in range(0, size, len(block)):
                file.write(block[:size - start])
        return f"/{INDEX}/{name}"

    def __enter__(self):
        self.root.chmod(0o755)
        (self.root / "registry.toml").write_text(REGISTRY.format(port=self.ports["wheelyard"], index=INDEX))
        (self.root / "nginx.conf").write_text(NGINX.format(root=self.root, port=self.ports["nginx"], tree=self.tree))
        commands = {"wheelyard": [self.registry, "serve", "--config", str(self.root / "registry.toml")],
                    "nginx": ["nginx", "-p", str(self.root), "-c", str(self.root / "nginx.conf")]}
        for name, command in commands.items():
            self.processes[name] = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wait_for(self.ports[name], self.processes[name])
        self.pids = {name: process.pid for name, process in self.processes.items()}
        return self

    def __exit__(self, *_):
        for process in self.processes.values():
            process.terminate()
            process.wait()
