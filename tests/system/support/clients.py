"""Real clients, prepared by scripts/prepare-clients: three pips, twine, uv. Each sees the farm and nothing else."""

from __future__ import annotations  # for Python 3.9

import base64
import hashlib
import http.client
import json
import subprocess
import time
import uuid
from pathlib import Path

from support.farm import CLIENTS, COMMAND_TIMEOUT_S, INDEX, Farm

PIPS = ("pip-old", "pip-debian", "pip-new")
PIPS_WITH_REPORT = ("pip-debian", "pip-new")  # `--report` is there since pip 22.2

if not (CLIENTS / ".complete").is_file():
    raise SystemExit(f"the clients are not there: run scripts/prepare-clients ({CLIENTS})")


def twine_upload(farm: Farm, token: str, *wheels: Path, index: str = INDEX, options: tuple[str, ...] = (),
                 user: str = "__token__") -> subprocess.CompletedProcess:
    return subprocess.run(
        [CLIENTS / "twine/bin/python", "-m", "twine", "upload", "--non-interactive", "--disable-progress-bar",
         "--verbose", "--repository-url", farm.upload_url(index), *options, *wheels],
        env=farm.environment | {"TWINE_USERNAME": user, "TWINE_PASSWORD": token},
        capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)


def uv_publish(farm: Farm, token: str, *wheels: Path, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess:
    return subprocess.run(
        [CLIENTS / "uv/bin/uv", "publish", "--publish-url", farm.upload_url(), *options, *wheels],
        env=farm.environment | {"UV_PUBLISH_TOKEN": token, "UV_NO_CONFIG": "1", "UV_NO_CACHE": "1"},
        capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)


def pip_install(farm: Farm, pip: str, target: Path, *requirements: str, options: tuple[str, ...] = (),
                index: str = INDEX) -> subprocess.CompletedProcess:
    """Installs from the farm's index and from nowhere else."""
    return subprocess.run(
        [CLIENTS / pip / "bin/python", "-m", "pip", "--isolated", "install", "--no-cache-dir", "--no-deps",
         "--index-url", farm.simple_url(index), "--target", target, *options, *requirements],
        env=farm.environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)


def uv_install(farm: Farm, uv: str, target: Path, *requirements: str) -> subprocess.CompletedProcess:
    """As pip_install()."""
    return subprocess.run(
        [CLIENTS / uv / "bin/uv", "pip", "install", "--no-config", "--no-cache", "--no-deps", "--python", CLIENTS / uv / "bin/python",
         "--index-url", farm.simple_url(), "--target", target, *requirements],
        env=farm.environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)


def installed_value(pip: str, target: Path, module: str) -> str:
    """What `module.value` is in the folder that pip installed to."""
    done = subprocess.run([CLIENTS / pip / "bin/python", "-I", "-c",
                           f"import sys; sys.path.insert(0, {str(target)!r}); import {module}; print({module}.value)"],
                          capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout.strip()


def report_of(path: Path) -> dict[str, tuple[str, str]]:
    """pip's --report: project → (URL, sha256) of what was installed."""
    report = json.loads(path.read_text())
    return {item["metadata"]["name"]: (item["download_info"]["url"], item["download_info"]["archive_info"]["hashes"]["sha256"])
            for item in report["install"]}


class RawUpload:
    """The upload form by hand, for what no real client sends: wrong digests, cut bodies, other tokens."""

    def __init__(self, farm: Farm, token: str | None, wheel: Path, index: str = INDEX, name: str | None = None,
                 version: str | None = None, **fields: str):
        data = wheel.read_bytes()
        is_sdist = wheel.name.endswith((".tar.gz", ".zip"))
        stem = wheel.name.removesuffix(".tar.gz").removesuffix(".zip").split("-")
        form = {
            ":action": "file_upload", "protocol_version": "1", "metadata_version": "2.1",
            "name": name or stem[0], "version": version or stem[1], "filetype": "sdist" if is_sdist else "bdist_wheel",
            "pyversion": "source" if is_sdist else stem[2],
            "sha256_digest": hashlib.sha256(data).hexdigest(), **fields,
        }
        boundary = uuid.uuid4().hex
        parts = [f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
                 for key, value in form.items() if value is not None]
        head = (f'--{boundary}\r\nContent-Disposition: form-data; name="content"; filename="{wheel.name}"\r\n'
                "Content-Type: application/octet-stream\r\n\r\n").encode()
        self.body = b"".join(parts) + head + data + f"\r\n--{boundary}--\r\n".encode()
        self.path = f"/{index}/legacy/"
        self.host, self.port = getattr(farm, "host", "127.0.0.1"), farm.port
        self.headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        if token is not None:
            self.headers["Authorization"] = "Basic " + base64.b64encode(f"__token__:{token}".encode()).decode()

    def send(self, timeout: float = COMMAND_TIMEOUT_S) -> tuple[int, dict]:
        """(status, problem document or {}). Raises ConnectionError or HTTPException where the server went away."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            connection.request("POST", self.path, self.body, self.headers)
            answer = connection.getresponse()
            body = answer.read()
            problem = json.loads(body) if answer.headers.get("Content-Type") == "application/problem+json" else {}
            return answer.status, problem
        finally:
            connection.close()

    def send_until_acknowledged(self) -> int:
        """As an uploader with patience: repeats over restarts until there is an answer below 500; the tries it took."""
        attempt, deadline = 0, time.monotonic() + COMMAND_TIMEOUT_S
        while time.monotonic() < deadline:
            attempt += 1
            try:
                status, problem = self.send()
                if status == 200:
                    return attempt
                if status < 500:
                    raise AssertionError(f"{status} {problem}")
            except (ConnectionError, http.client.HTTPException, TimeoutError):
                pass
            time.sleep(0.05)  # the registry is being started again
        raise AssertionError(f"no acknowledgement in {attempt} tries")
