"""One call of an operation at a door of the registry, and its answer as text that is the same in every run.

Doors: `http` (a request with a token), `url` (the command with --url and --token-file), `beside` (the command with -c beside a running
server), `alone` (the same without a server)."""

from __future__ import annotations  # for Python 3.9

import getpass
import http.client
import json
import re
import shlex
from dataclasses import dataclass, replace

from support.farm import COMMAND_TIMEOUT_S, Farm
from support.prepared_store import PreparedStore

DOORS = ("http", "url", "beside", "alone")
LIKE_ANOTHER = ("uploader", "limited", "gone", "nobody")  # the command with a URL prints any refusal as that of `elsewhere`
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
DAY = re.compile(r"\b20\d\d-\d\d-\d\d\b")
VARYING_MEMBERS = re.compile(r'"(age_s|free_bytes|expires|store)": ?("[0-9a-f]{64}"|-?\d+)')
STRANGER = re.compile(r"\bpublic:[0-9a-f]{12}\b")
SIZE = re.compile(r"the disk has [\d.]+ \wi?B left")


@dataclass(frozen=True)
class Case:
    """A call: `request` is METHOD, path and perhaps a body after a blank; `command` the words after wheelyard-registry."""
    says: str
    request: str = ""
    command: str = ""
    by: str = "admin"     # names of prepared_store.TOKENS, or `nobody`
    has_url: bool = True  # whether the command takes --url
    body: str = ""


@dataclass(frozen=True)
class Answer:
    status: int      # of HTTP, or the exit status
    text: str
    refusal: str = ""  # what a refused command prints, or would print of this problem
    code: str = ""     # of a problem

    @property
    def is_refused(self) -> bool:
        return bool(self.refusal)


def text_of_problem(problem: dict) -> str:
    """As the programs print an error: base::Error::text()."""
    text = problem["detail"]
    value, advice = problem.get("value", ""), problem.get("advice", "")
    if text.endswith(".") and (value or advice):
        text = text[:-1]
    return text + (f": `{value}`" if value else "") + (f" ({advice})" if advice else "")


class Door:
    """A copy of the prepared store, asked in one way."""

    def __init__(self, kind: str, store: PreparedStore, farm: Farm):
        self.kind, self.store, self.farm = kind, store, farm

    def __enter__(self) -> "Door":
        if self.kind != "alone":
            self.farm.start()
        return self

    def __exit__(self, *_) -> None:
        self.farm.stop()

    def takes(self, case: Case) -> bool:
        if self.kind == "http":
            return bool(case.request)
        if self.kind == "url":
            return bool(case.command) and case.has_url and case.by not in LIKE_ANOTHER
        return bool(case.command) and case.by == "admin"  # a command has the rights of its user

    def ask(self, case: Case) -> Answer:
        return self.request(case) if self.kind == "http" else self.command(case)

    def request(self, case: Case) -> Answer:
        method, path = self.filled(case.request).split(" ", 1)
        headers = {} if case.by == "nobody" else {"Authorization": f"Bearer {self.store.tokens.get(case.by, case.by)}"}
        connection = http.client.HTTPConnection(self.farm.host, self.farm.port, timeout=COMMAND_TIMEOUT_S)
        try:
            connection.request(method, path, self.filled(case.body).encode() if method != "GET" else None, headers)
            answer = connection.getresponse()
            body = answer.read().decode()
        finally:
            connection.close()
        if answer.headers.get("Content-Type") == "application/problem+json":
            problem = {name: self.normal(value) if isinstance(value, str) else value for name, value in json.loads(body).items()}
            if problem.get("value") == f"<id of {case.by}>":
                problem["value"] = "<id of the caller>"
            said = problem["title"] + "." == problem["detail"] or problem["title"] == problem["detail"]
            parts = [problem["code"], *([] if said else [problem["title"]]), *(f"{name}: {problem[name]}" for name in ("detail", "value", "advice") if problem.get(name))]
            return Answer(answer.status, "\n".join(parts), text_of_problem(problem), problem["code"])
        return Answer(answer.status, self.normal(body))

    def command(self, case: Case) -> Answer:
        target = ["-c", self.farm.config]
        if self.kind == "url":
            target = ["--url", self.farm.url, "--token-file", self.farm.folder / f"{case.by}.token"]
        done = self.farm.run("wheelyard-registry", *shlex.split(self.filled(case.command)), *target)
        out, err = self.normal(done.stdout), self.normal(done.stderr).replace(f"`<id of {case.by}>`", "`<id of the caller>`")
        lines = [*out.splitlines(), *("! " + line for line in err.splitlines())]
        return Answer(done.returncode, "\n".join(lines), err.strip().removeprefix("wheelyard-registry: ") if done.returncode else "")

    def filled(self, text: str) -> str:
        """With the values of <task NAME>, <id of NAME>, <token of NAME> and <code>."""
        for name, task in self.store.tasks.items():
            text = text.replace(f"<task {name}>", task)
        for name, token in self.store.tokens.items():
            text = text.replace(f"<id of {name}>", token.rpartition("_")[0]).replace(f"<token of {name}>", token)
        return text.replace("<code>", self.store.code)

    def normal(self, text: str) -> str:
        text = re.sub(r"wy_[0-9a-f]{12}_\w+", "<token>", text)
        text = self.store.without_names(text)
        text = text.replace(str(self.farm.folder), "<folder>").replace(f"local:{getpass.getuser()}", "local:<user>")
        text = TIME.sub("<time>", text)
        text = DAY.sub("<day>", text)
        text = SIZE.sub("the disk has <size> left", text)
        text = VARYING_MEMBERS.sub(r'"\1":<\1>', text)
        text = STRANGER.sub("<stranger>", text)
        text = re.sub(r"127\.0\.0\.1:\d{4,5}", "127.0.0.1:<port>", text)
        text = re.sub(r'"before":"[0-9a-f]{16}"', '"before":"<revision>"', text)  # of all tables: the port of an upstream is in them
        text = re.sub(r"\bt[0-9a-f]{12}\b", "<task>", text)
        text = re.sub(r"-{5,}", "-----", text)  # below a column whose width is that of a name
        return re.sub(r"(?<=\S) {2,}", "  ", text).rstrip()


def each(case: Case) -> list[Case]:
    """One case for each name in `by`."""
    return [replace(case, by=name) for name in case.by.split()]
