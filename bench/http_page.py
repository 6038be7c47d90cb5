#!/usr/bin/env python3
"""How much CPU does a project page cost beside nginx?

One wheelyard-registry and one nginx, one thread each, serve the same 20 KB page; wrk asks each in turn, round after round, so that
noise of the machine hits both. Printed: requests per second of the server's own CPU time (medians) and the ratio. Requests per
wall-clock second are printed too, but wrk shares the machine, so they say less.

    bench/http_page.py --registry build/release/bin/wheelyard-registry [--rounds 7] [--seconds 3] [--connections 64 1000]

Needs nginx and wrk on PATH. Nothing listens beyond 127.0.0.1.
"""

import argparse
import os
import pathlib
import re
import resource
import socket
import statistics
import subprocess
import tempfile
import time

PAGE_BYTES = 20_000
INDEX = "bench"

NGINX = """
daemon off; worker_processes 1; pid {root}/nginx.pid; error_log {root}/nginx.log;
events {{ worker_connections 4096; }}
http {{
    access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; types {{ text/html html; }}
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
[store]
directory = "data"
[[index]]
name = "{index}"
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, process):
    for _ in range(500):
        if process.poll() is not None:
            raise SystemExit(f"{process.args[0]} ended with status {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.02)
    raise SystemExit(f"{process.args[0]} does not listen")


def children(pid):
    text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in text.split()]


def cpu_seconds(pid):
    """Of the process and its children, user and system."""
    total = 0
    for one in [pid, *children(pid)]:
        fields = pathlib.Path(f"/proc/{one}/stat").read_text().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def load(url, pid, connections, seconds):
    before = cpu_seconds(pid)
    out = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", url], capture_output=True, text=True, check=True).stdout
    used = cpu_seconds(pid) - before
    requests, wall = re.search(r"(\d+) requests in ([\d.]+)s", out).groups()
    if "Non-2xx" in out:
        raise SystemExit(out)
    return int(requests) / used, int(requests) / float(wall)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--registry", required=True)
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--seconds", type=int, default=3)
    arguments.add_argument("--connections", type=int, nargs="+", default=[64, 1000])
    given = arguments.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        root.chmod(0o755)  # nginx's worker is another user when started by root
        ports = {"wheelyard": free_port(), "nginx": free_port()}
        (root / "registry.toml").write_text(REGISTRY.format(port=ports["wheelyard"], index=INDEX))
        tree = root / "data" / "public"
        (root / "nginx.conf").write_text(NGINX.format(root=root, port=ports["nginx"], tree=tree))
        registry = subprocess.Popen([given.registry, "serve", "--config", str(root / "registry.toml")], stderr=subprocess.DEVNULL)
        wait_for(ports["wheelyard"], registry)
        page = tree / INDEX / "simple" / "page"
        page.mkdir(parents=True)
        for parent in [page, *page.parents][: len(page.relative_to(root).parts)]:
            parent.chmod(0o755)
        (page / "index.html").write_text("x" * PAGE_BYTES)
        nginx = subprocess.Popen(["nginx", "-p", str(root), "-c", str(root / "nginx.conf")], stderr=subprocess.DEVNULL)
        try:
            wait_for(ports["nginx"], nginx)
            pids = {"wheelyard": registry.pid, "nginx": nginx.pid}
            for connections in given.connections:
                per_cpu = {name: [] for name in ports}
                per_wall = {name: [] for name in ports}
                for _ in range(given.rounds):
                    for name, port in ports.items():
                        url = f"http://127.0.0.1:{port}/{INDEX}/simple/page/"
                        cpu, wall = load(url, pids[name], connections, given.seconds)
                        per_cpu[name].append(cpu)
                        per_wall[name].append(wall)
                ratios = [ours / theirs for ours, theirs in zip(per_cpu["wheelyard"], per_cpu["nginx"])]
                for name in ports:
                    print(f"{connections:5} connections  {name:10} {statistics.median(per_cpu[name]):9.0f} requests per CPU second"
                          f"  {statistics.median(per_wall[name]):9.0f} per second")
                print(f"{connections:5} connections  ratio {statistics.median(ratios):.2f}"
                      f"  (rounds {min(ratios):.2f}-{max(ratios):.2f})")
        finally:
            for process in (registry, nginx):
                process.terminate()
                process.wait()


if __name__ == "__main__":
    main()
