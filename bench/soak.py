#!/usr/bin/env python3
"""Does a registry keep all its guarantees during half an hour of mixed load?

Uploaders act on their own projects as the seed decides: new files, the same bytes again, other bytes under a used name,
resumable uploads, interrupted uploads and downloads, full downloads, ranges, yank, unyank, delete, promote. Every few
seconds the registry is killed or stopped and started again. An operation without a response is repeated until there is
one. At the same time, clients request wheels and cancel some, and agents claim tasks, ask for them again, upload their wheels
and report results; some vanish, and once their site is late another one takes over the task.

At the end, every acknowledged file must exist byte for byte, no deleted file may exist, and the pages of all indexes must
match the exported events (`wheelyard-registry dump`), evaluated again from the first one. Every acknowledged task must exist
and have ended, none twice, and a finished one must name an existing file (soak_tasks.py).

    scripts/prepare-clients
    WHEELYARD_BIN=build/release/bin bench/soak.py [--minutes 30] [--seed 1] [--uploaders 4] [--agents 3]

Prints seed, operations by kind, restarts, tasks, files, events, faults. Exit status 1 if there was a fault.
"""

import argparse
import hashlib
import http.client
import json
import random
import sys
import tempfile
import time
import urllib.parse
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "system"))
from support.clients import RawUpload  # noqa: E402
from support.farm import Farm  # noqa: E402
from support.wheels import Wheel, incompressible, sha256_of  # noqa: E402

import results  # noqa: E402
import soak_tasks  # noqa: E402
from soak_client import LOST, SoakClient  # noqa: E402

MAIN, STABLE = "main", "stable"


class Uploader(SoakClient):
    """Keeps what was acknowledged: (index, file name) → [bytes' sha256, yanked]."""

    def __init__(self, number, seed, farm, token, releaser, folder, end):
        super().__init__(f"uploader {number}", seed, farm, token, end)
        self.number, self.releaser, self.folder = number, releaser, folder
        self.files, self.deleted, self.made = {}, {}, 0
        self.acts = {self.upload: 6, self.upload_again: 2, self.upload_other_bytes: 2, self.upload_in_parts: 2, self.cut_upload: 2,
                     self.download: 6, self.download_range: 3, self.cut_download: 2, self.yank: 2, self.delete: 1, self.promote: 2}

    def act(self):
        act = self.random.choices(list(self.acts), list(self.acts.values()))[0]
        if act() is not False:
            self.done[act.__name__] += 1

    def change(self, word, index, name, **members):
        document = json.dumps({"format": "wheelyard.change/1", "reason": "soak", **members})
        path = f"/api/v1/indexes/{index}/files/{urllib.parse.quote(name)}/{word}"
        status, body, _ = self.until_answered(lambda: self.ask("POST", path, document, {"Content-Type": "application/json"},
                                                              self.releaser))
        self.must(status == 200, f"{word} {name}: {status} {body!r}")

    def some(self, index=MAIN):
        names = [name for (where, name) in self.files if where == index]
        return self.random.choice(names) if names else None

    def path_of(self, index, name):
        sha256 = self.files[index, name][0]
        return f"/{index}/files/{sha256[:2]}/{sha256}/{name}"

    # --- acts ---------------------------------------------------------------------------------------------------------

    def new_wheel(self):
        self.made += 1
        size = self.random.choice((100, 5_000, 200_000, 2_000_000))
        return Wheel(f"soak{self.number}-{self.made % 7}", f"1.{self.made}",
                     extra_members={"data": incompressible(size, self.random.randrange(1 << 30))}).write(self.folder)

    def upload(self):
        wheel = self.new_wheel()
        status, problem = self.until_answered(RawUpload(self.farm, self.token, wheel, MAIN).send)
        self.must(status == 200, f"upload {wheel.name}: {status} {problem}")
        self.files[MAIN, wheel.name] = [sha256_of(wheel), False]

    def upload_again(self):
        if (name := self.some()) is None:
            return False
        status, problem = self.until_answered(RawUpload(self.farm, self.token, self.folder / name, MAIN).send)
        self.must(status == 200, f"the same bytes of {name}: {status} {problem}")

    def upload_other_bytes(self):
        gone = self.random.choice(list(self.deleted)) if self.deleted and self.random.random() < 0.5 else None
        name = gone or self.some()
        if name is None:
            return False
        project, version = name.split("-")[:2]
        wheel = Wheel(project, version, value=2).write(self.folder / "other")
        status, problem = self.until_answered(RawUpload(self.farm, self.token, wheel, MAIN).send)
        self.must(status == (400 if gone else 409), f"other bytes as {name}: {status} {problem}")

    def upload_in_parts(self):
        wheel = self.new_wheel()
        form = RawUpload(self.farm, self.token, wheel, MAIN)
        length = len(form.body)
        fields = {"Upload-Length": str(length), "Content-Type": form.headers["Content-Type"]}
        status, body, headers = self.until_answered(lambda: self.ask("POST", f"/{MAIN}/uploads/", None, fields))
        self.must(status == 201, f"begin in parts: {status} {body!r}")
        where = headers["Location"]

        def go_on():
            status, _, headers = self.ask("HEAD", where)
            if status == 404:  # it had finished, and only the response was lost
                return form.send()
            offset = int(headers["Upload-Offset"])
            until = min(length, offset + max(1, length // 3))
            status, body, _ = self.ask("PATCH", where, form.body[offset:until], {"Upload-Offset": str(offset)})
            return (503, body) if status in (204, 409) else (status, body)  # 409: the interrupted part is still being written
        status, problem = self.until_answered(go_on)
        self.must(status == 200, f"in parts {wheel.name}: {status} {problem}")
        self.files[MAIN, wheel.name] = [sha256_of(wheel), False]

    def cut_upload(self):
        form = RawUpload(self.farm, self.token, self.new_wheel(), MAIN)
        connection = http.client.HTTPConnection("127.0.0.1", self.farm.port, timeout=30)
        try:
            connection.putrequest("POST", form.path)
            for name, value in {**form.headers, "Content-Length": str(len(form.body))}.items():
                connection.putheader(name, value)
            connection.endheaders(form.body[:self.random.randrange(len(form.body))])
        except LOST:
            pass
        connection.close()

    def download(self):
        if (name := self.some()) is None:
            return False
        status, body, _ = self.until_answered(lambda: self.ask("GET", self.path_of(MAIN, name)))
        self.must(status == 200 and hashlib.sha256(body).hexdigest() == self.files[MAIN, name][0], f"download {name}: {status}")

    def download_range(self):
        if (name := self.some()) is None:
            return False
        whole = (self.folder / name).read_bytes()
        begin = self.random.randrange(len(whole))
        status, body, _ = self.until_answered(lambda: self.ask("GET", self.path_of(MAIN, name), None, {"Range": f"bytes={begin}-"}))
        self.must((status, body) == (206, whole[begin:]), f"range {begin}- of {name}: {status}")

    def cut_download(self):
        if (name := self.some()) is None:
            return False
        connection = http.client.HTTPConnection("127.0.0.1", self.farm.port, timeout=30)
        try:
            connection.request("GET", self.path_of(MAIN, name))
            connection.getresponse().read(100)
        except LOST:
            pass
        connection.close()

    def yank(self):
        if (name := self.some()) is None:
            return False
        yanked = not self.files[MAIN, name][1]
        self.change("yank" if yanked else "unyank", MAIN, name)
        self.files[MAIN, name][1] = yanked

    def delete(self):
        if (name := self.some()) is None:
            return False
        self.change("delete", MAIN, name)
        self.deleted[name] = self.files.pop((MAIN, name))

    def promote(self):
        names = [name for (index, name) in self.files if index == MAIN and (STABLE, name) not in self.files and name not in self.deleted]
        if not names:
            return False
        name = self.random.choice(names)
        self.change("promote", MAIN, name, to=STABLE)
        self.files[STABLE, name] = [self.files[MAIN, name][0], self.files[MAIN, name][1]]


def replay(lines):
    """Evaluates the events of `dump` from the first on: (index, project) → file name → row."""
    pages = {}
    for line in lines:
        event = json.loads(line)
        if event["type"] != "event" or not event["filename"]:
            continue
        page = pages.setdefault((event["index"], event["project"]), {})
        if event["kind"] == "file_deleted":
            page.pop(event["filename"], None)
        else:
            page[event["filename"]] = event["details"]
    return pages


def faults_at_the_end(farm, uploaders, agents):
    promised = {key: value for client in (*uploaders, *agents) for key, value in client.files.items()}
    maybe = {key: value for agent in agents for key, value in agent.maybe.items()}  # sent by a site that was late before the response
    dump = farm.run("wheelyard-registry", "dump", "--config", farm.config)
    rebuilt = replay(dump.stdout.splitlines())
    events = sum(json.loads(line)["type"] == "event" for line in dump.stdout.splitlines())
    seen = {}
    for index, project in rebuilt:
        page = farm.files(project, index)
        expected = {name: (row["sha256"], row["size_bytes"], row["yanked"], row["metadata_sha256"])
                    for name, row in rebuilt[index, project].items()}
        found = {name: (entry["hashes"]["sha256"], entry["size"], bool(entry["yanked"]), entry["core-metadata"]["sha256"])
                 for name, entry in page.items()}
        if expected != found:
            yield f"{index}/{project}: the page and the events differ: {set(expected.items()) ^ set(found.items())}"
        for name, entry in page.items():
            seen[index, name] = [entry["hashes"]["sha256"], bool(entry["yanked"])]
            status, _, body = farm.get(f"/{index}/files/{entry['hashes']['sha256'][:2]}/{entry['hashes']['sha256']}/{name}")
            if status != 200 or hashlib.sha256(body).hexdigest() != entry["hashes"]["sha256"]:
                yield f"{index}/{name}: {status}, or other bytes"
    for key in promised.keys() | seen.keys():
        if promised.get(key) != seen.get(key) and (key in promised or maybe.get(key) != seen[key]):
            yield f"{key}: promised {promised.get(key)}, found {seen.get(key)}"
    farm.stop()
    verified = farm.run("wheelyard-registry", "verify", "--quiet", "--restart", "--config", farm.config)
    if verified.returncode != 0:
        yield f"verify: {verified.stdout}{verified.stderr}"
    if farm.staging_leftovers():
        yield f"left behind: {farm.staging_leftovers()}"
    farm.check_tree()
    print(f"{len(seen)} files in {len(rebuilt)} projects, {events} events")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--minutes", type=float, default=30)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--uploaders", type=int, default=4)
    arguments.add_argument("--agents", type=int, default=3, help="0: no tasks")
    given = results.parse_arguments(arguments)
    moments = random.Random(given.seed)
    indexes = (MAIN, STABLE, soak_tasks.SITE, soak_tasks.STAGING)
    with tempfile.TemporaryDirectory(prefix="wheelyard-soak-") as folder, Farm(indexes, settings=soak_tasks.SETTINGS,
                                                                              index_settings=soak_tasks.INDEX_SETTINGS) as farm:
        token = farm.create_token(MAIN, name="soak")
        releaser = json.loads(farm.run("wheelyard-registry", "token", "create", "--config", farm.config, "--name", "releaser",
                                    "--index", "*", "--action", "*", "--json").stdout)["token"]
        end = time.monotonic() + given.minutes * 60
        uploaders = [Uploader(number, given.seed, farm, token, releaser, Path(folder) / str(number), end) for number in range(given.uploaders)]
        tasks = soak_tasks.TaskSoak(given.seed, farm, Path(folder), end, askers=min(1, given.agents), agents=given.agents)
        farm.start()
        for uploader in uploaders:
            uploader.start()
        tasks.start()
        restarts = Counter()
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(moments.uniform(3, 12), left))
            kind = moments.choice(("killed", "stopped"))
            farm.kill() if kind == "killed" else farm.stop()
            farm.start()
            restarts[kind] += 1
        for uploader in uploaders:
            uploader.join()
        tasks.finish()
        clients = [*uploaders, *tasks.clients]
        done = sum((client.done for client in clients), Counter())
        print(f"seed {given.seed}, {given.minutes:g} minutes, {given.uploaders} uploaders, {given.agents} agents; restarts: {dict(restarts)}")
        print(f"{sum(done.values()) - done['sent again']} operations: {dict(sorted(done.items()))}")
        faults = [client.fault for client in clients if client.fault] + list(tasks.faults_at_the_end())
        faults += faults_at_the_end(farm, uploaders, tasks.agents)
        for fault in faults:
            print(f"FAULT {fault}")
        print(f"{len(faults)} faults")
        rows = [results.row(f"faults in {given.minutes:g} minutes", "faults", "lower", len(faults)),
                results.row("operations", "operations", "higher", sum(done.values()) - done["sent again"]),
                results.row("restarts, killed or stopped", "restarts", "higher", sum(restarts.values()))]
        results.record(given, "soak", "The soak: everything at once, with restarts", rows)
        return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
