"""The data of an earlier version (tests/old_data): unpacked for a test, and looked at as its users would look at it.

tests/old_data/make stored what `look` returned when it wrote the data; old_data_test.py compares that with what the programs of today
make of the same data. Nothing here may depend on the day, the folder or the port.
"""

from __future__ import annotations  # for Python 3.9

import hashlib
import html.parser
import json
import lzma
import os
import re
import subprocess
import tarfile
import time
from pathlib import Path
from urllib.parse import urljoin

from support.farm import INDEX, ROOT, Farm

FOLDER = ROOT / "tests" / "old_data"
ARCHIVE = FOLDER / "data.tar.xz"
EXPECTED = FOLDER / "expected.json.xz"
ENROLLED = FOLDER / "enrolled.tar.xz"  # has its expectations in it

BASE, SECRET, STAGING, LATE = "base", "secret", "staging", "late"
INDEXES = (BASE, INDEX, SECRET, STAGING, LATE)
# Below the ports that a system gives out by itself, so that nothing listens there when the data is read again.
PORT, UPSTREAM_PORT = 19070, 19071
OLD_URL = f"http://127.0.0.1:{PORT}"
JSON_PAGE = "application/vnd.pypi.simple.v1+json"

SETTINGS = "[tasks]\nlease_s = 60\nkept_days = 36500"  # ended tasks stay, whenever the data is read
INDEX_SETTINGS = {
    BASE: f'[[index.upstream]]\nname = "public"\nurl = "http://127.0.0.1:{UPSTREAM_PORT}/simple/"\nprivate_hosts = ["127.0.0.1"]\n'
          'allow = ["yard-up", "yard-kept"]',  # the agents look for other names, and it is gone
    INDEX: f'title = "Nodes of the old days"\ninherits = ["{BASE}"]\nowns = ["yard-own"]\nstaging = "{STAGING}"',
    SECRET: f'read = "token"\ntitle = "Only for some"\ninherits = ["{BASE}"]',
}


def farm_in(folder: Path) -> Farm:
    """The farm of the data; where `folder` is empty, one to fill."""
    return Farm((BASE, INDEX, SECRET, STAGING), folder, SETTINGS, INDEX_SETTINGS)


def expected() -> dict:
    return json.loads(lzma.decompress(EXPECTED.read_bytes()))


def put_printed_tables(farm: Farm) -> subprocess.CompletedProcess:
    """What a server says that commands of an earlier version left out of the file, put into it as it says."""
    refused = farm.run("wheelyard-registry", "serve", "-c", farm.config)
    printed = re.findall(r'^name = "(.*)"$', refused.stdout, re.MULTILINE)
    head, *tables = farm.config.read_text().split("\n[[index]]\n")
    kept = [table for table in tables if re.match(r'name = "(.*)"', table)[1] not in printed]
    farm.config.write_text("\n[[index]]\n".join([head, *kept]) + "\n" + refused.stdout)
    return refused


def unpack(to: Path, archive_file: Path = ARCHIVE) -> None:
    """The archive has its files as they were, times included. An upload that nobody continued for days would be dropped."""
    with tarfile.open(archive_file) as archive:
        for member in archive:
            archive.extract(member, to)
    for path in (to / "data/resumable").glob("*"):
        os.utime(path, (time.time(), time.time()))


def replace_everywhere(folder: Path, old: str, new: str) -> None:
    """In every text file: an agent's site file, scripts and records name their folder and the registry."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and old.encode() in (data := path.read_bytes()):
            path.write_bytes(data.replace(old.encode(), new.encode()))


class _Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag, attributes):
        if tag == "a":
            self.found.append(dict(attributes).get("href") or "")


def links_of(page: bytes) -> list[str]:
    links = _Links()
    links.feed(page.decode())
    return sorted(links.found)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def look_at_pages(farm: Farm, token: str) -> dict:
    """Every page of every index in both forms, and every file with what is beside it."""
    seen: dict[str, dict] = {"json": {}, "html": {}, "files": {}, "people": {}}
    for index in INDEXES:
        root = f"/{index}/simple/"
        pages = [root]
        while pages:
            path = pages.pop()
            status, _, body = farm.get(path, JSON_PAGE, headers=bearer(token))
            assert status == 200, (path, status, body)
            page = seen["json"][path] = json.loads(body)
            pages += [f"{root}{project['name']}/" for project in page.get("projects", ())]
            status, _, body = farm.get(path, "text/html", headers=bearer(token))
            assert status == 200, (path, status, body)
            seen["html"][path] = links_of(body)
            for entry in page.get("files", ()):
                address = urljoin(path, entry["url"])
                for suffix in ("", ".metadata", ".prov"):
                    status, _, body = farm.get(address + suffix, headers=bearer(token))
                    seen["files"][address + suffix] = hashlib.sha256(body).hexdigest() if status == 200 else status
        for path in (f"/{index}/project/search.json", f"/{index}/status.json"):
            status, _, body = farm.get(path, headers=bearer(token))
            seen["people"][path] = json.loads(body) if status == 200 else status
        seen["people"][f"/{index}/project/search.json"] = search_rows(farm, index, token)
    return seen


def search_rows(farm: Farm, index: str, token: str) -> dict | int:
    """What the search knows of each project, in the form that it had at the time of the data: one list, each row with its name."""
    status, _, body = farm.get(f"/{index}/project/search.name=.json", headers=bearer(token))
    if status != 200:
        return status
    return {"projects": [[name, *row] for name, row in json.loads(body)["rows"].items()]}


def from_root(page: dict, path: str) -> dict:
    """The page with its links from the root, as earlier versions sent some."""
    return page | {"files": [entry | {"url": urljoin(path, entry["url"])} for entry in page["files"]]} if "files" in page else page


def look_at_upstream(farm: Farm) -> dict:
    """What base's upstream supplies, through the index that inherits it: its page, and the file that was fetched."""
    path = f"/{INDEX}/simple/yard-up/"
    status, _, body = farm.get(path, JSON_PAGE)
    assert status == 200, (status, body)
    page = json.loads(body)
    fetched, = (urljoin(path, entry["url"]) for entry in page["files"] if entry["filename"].startswith("yard_up-1.0-"))
    status, _, body = farm.get(fetched)
    assert status == 200, (status, body)
    return {"page": page, "fetched": fetched, "sha256": hashlib.sha256(body).hexdigest()}


def look_at_tasks(farm: Farm, token_file: Path) -> dict:
    def task(*words: str) -> str:
        done = farm.run("wheelyard-registry", "task", *words, "--url", farm.url, "--token-file", token_file)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout
    rows = [json.loads(line) for line in task("list", "--json").splitlines()]
    return {row["id"]: {"row": row, "shown": json.loads(task("show", row["id"], "--json")), "log": task("log", row["id"])} for row in rows}


def look_at_dump(farm: Farm) -> list[dict]:
    """Events, files, tokens and indexes."""
    done = farm.run("wheelyard-registry", "dump", "-c", farm.config)
    assert done.returncode == 0, (done.stdout, done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def look_at_refusals(farm: Farm, addresses: list[str]) -> dict[str, int]:
    """Without a token."""
    return {address: farm.get(address)[0] for address in addresses}


def ask_who(farm: Farm, token: str) -> int:
    """The status that the registry gives a token."""
    return farm.get(f"/{SECRET}/simple/", JSON_PAGE, headers=bearer(token))[0]


def list_wheels(farm: Farm, url: str = OLD_URL):
    """By avail_wheels, of the index at the address that it had."""
    return farm.run("avail_wheels", "--index-url", f"{url}/{INDEX}/simple/", "--all", "--json")
