"""A real Prometheus on loopback, which scrapes registries every second."""

from __future__ import annotations  # for Python 3.9

import json
import time
import urllib.parse
import urllib.request
from pathlib import Path

from support.daemons import Daemons, which
from support.ports import free_port

PATIENCE_S = 240


def missing() -> str:
    """Why none can be started here; empty: one can."""
    return "" if which("prometheus") and which("promtool") else "no Prometheus: scripts/install-deps --test installs it"


class Prometheus:
    def __init__(self, folder: Path, rules: Path, ports: list[int]):
        self.folder, self.port, self.daemons = folder, free_port(), Daemons()
        self.newest: set[str] = set()
        targets = ", ".join(f"'127.0.0.1:{port}'" for port in ports)
        (folder / "prometheus.yml").write_text(
            "global: {scrape_interval: 1s, evaluation_interval: 1s}\n" f"rule_files: ['{rules}']\n"
            f"scrape_configs:\n  - job_name: wheelyard\n    scrape_timeout: 1s\n    static_configs: [{{targets: [{targets}]}}]\n")

    def __enter__(self) -> "Prometheus":
        self.daemons.start("prometheus", ["prometheus", f"--config.file={self.folder / 'prometheus.yml'}", f"--storage.tsdb.path={self.folder / 'tsdb'}",
                                          f"--web.listen-address=127.0.0.1:{self.port}"], self.folder / "prometheus.log", {})
        return self

    def __exit__(self, *_) -> None:
        self.daemons.stop_all()

    def ask(self, path: str, **arguments: str) -> dict:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(arguments)}", timeout=PATIENCE_S) as answer:
            return json.load(answer)["data"]

    def query(self, expression: str) -> list[dict]:
        return self.ask("query", query=expression)["result"]

    def firing(self) -> set[str]:
        self.newest = {alert["labels"]["alertname"] for alert in self.ask("alerts")["alerts"] if alert["state"] == "firing"}
        return self.newest

    def wait(self, condition, what: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                if condition():
                    return
            except OSError:  # it starts
                pass
            if time.monotonic() > deadline:
                raise AssertionError(f"not {what}, but {self.newest}\n{(self.folder / 'prometheus.log').read_text()[-2000:]}")
            time.sleep(0.2)  # until other processes have done something: nothing announces it
