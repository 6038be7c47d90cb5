"""The answers of every operation of the registry at its doors: HTTP with tokens, the command with a URL, the command beside a running server,
the command without one. tests/golden/operations has them; WHEELYARD_UPDATE_GOLDEN=1 writes them again. A change of an answer is a change on
purpose, and each golden begins with what differs between doors."""

import concurrent.futures
import difflib
import json
import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from support.case import main
from support.doors import DOORS, Answer, Case, Door, each
from support.farm import ROOT
from support.operation_cases import ABSENT, FAMILIES, PRIVATE, reading, values_of
from support.prepared_store import PreparedStore

GOLDEN = ROOT / "tests" / "golden" / "operations"
AT_ONCE = 4
MEMORY = "/dev/shm"  # no test of the disk: its flushes take more time than the answers
SHOWN_BYTES = 300  # of a body that is sent


def without_actor(text: str) -> str:
    return re.sub(r"local:<user>|\badmin\b", "<actor>", text)


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def differences(case: Case, answers: dict[str, Answer]) -> list[str]:
    """What one who may do everything is answered differently at the doors: the refusal, or its text; the document of --json."""
    found = []
    commands = {door: answer for door, answer in answers.items() if door != "http"}
    groups = grouped({door: (answer.status, without_actor(answer.text)) for door, answer in commands.items()})
    if len(groups) > 1:
        found.append("commands: " + " | ".join(f"{doors}: {first_line(text, tuple(one for _, (_, one) in groups))}" for doors, (_, text) in groups))
    http = answers.get("http")
    local = answers.get("alone")
    if http is None or local is None:
        return found
    if http.is_refused != local.is_refused:
        found.append(f"refused: http {http.code or http.status} | alone {first_line(local.text)}")
    elif http.is_refused and http.refusal != local.refusal and "url" not in answers:
        found.append(f"sentence: http {http.code} {http.refusal} | alone {first_line(local.refusal)}")
    elif "--json" in case.command and is_json(http.text) and is_json(local.text):
        if json.loads(without_actor(http.text)) != json.loads(without_actor(local.text)):
            found.append("the document of --json is not that of http")
    return found


def first_line(text: str, others: tuple[str, ...] = ()) -> str:
    """The first line that the others lack."""
    known = set.intersection(*(set(other.splitlines()) for other in others)) if others else set()
    lines = [line for line in text.splitlines() if line not in known] or ["nothing more"]
    return lines[0].removeprefix("! wheelyard-registry: ").removeprefix("! ")[:SHOWN_BYTES]


def grouped(answers: dict) -> list[tuple[str, object]]:
    """Doors, or tokens, with one answer together."""
    groups: list[tuple[list[str], object]] = []
    for name, answer in answers.items():
        for names, known in groups:
            if known == answer:
                names.append(name)
                break
        else:
            groups.append(([name], answer))
    return [(", ".join(names), answer) for names, answer in groups]


def shown(body: str) -> str:
    return body if len(body) <= SHOWN_BYTES else body[:SHOWN_BYTES - 100] + f"… {len(body)} bytes"


def indented(text: str) -> str:
    return "".join(f"    {line}\n" if line else "\n" for line in text.split("\n")) if text else ""


def render(case: Case, answers: dict[tuple[str, str], Answer]) -> str:
    """`answers`: by door and token."""
    text = f"\n== {case.says}\n"
    at_http = {by: (answer.status, answer.text) for (door, by), answer in answers.items() if door == "http"}
    if at_http:
        text += f"{shown(case.request)} {shown(case.body)}".rstrip() + "\n"
        for names, (status, answer) in grouped(at_http):
            text += f"  {names}: {status}\n" + indented(answer)
    commands = {door if door != "url" else f"url as {by}": (answer.status, answer.text) for (door, by), answer in answers.items() if door != "http"}
    if commands:
        text += "$ " + shown(case.command.replace("\n", "\\n")) + "\n"
        for names, (status, answer) in grouped(commands):
            text += f"  {names}: exit {status}\n" + indented(answer)
    return text


class OperationsTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="wheelyard-operations-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.store = PreparedStore(cls.folder)
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            cls.answers = {(family, door): pool.submit(cls.ask_all, family, door) for family in FAMILIES for door in DOORS}

    @classmethod
    def ask_all(cls, family: str, kind: str) -> list[list[tuple[str, Answer]]]:
        """For each case the tokens and their answers, from a fresh copy of the store."""
        farm = cls.store.copy(cls.folder / f"{family}-{kind}")
        with Door(kind, cls.store, farm) as door:
            return [[(one.by, door.ask(one)) for one in each(case) if door.takes(one)] for case in FAMILIES[family]]

    def check(self, family: str):
        by_door = {door: self.answers[family, door].result() for door in DOORS}
        differ, entries, count = [], "", dict.fromkeys(DOORS, 0)
        for at, case in enumerate(FAMILIES[family]):
            answers = {(door, by): answer for door in DOORS for by, answer in by_door[door][at]}
            for door, _ in answers:
                count[door] += 1
            self.assertTrue(answers, case.says)
            differ += [f"  {case.says}: {one}" for one in differences(case, {door: answer for (door, by), answer in answers.items() if by == "admin"})]
            entries += render(case, answers)
        self.assertEqual(len({case.says for case in FAMILIES[family]}), len(FAMILIES[family]), "two cases of one name")
        text = "answers: " + ", ".join(f"{count[door]} {door}" for door in DOORS) + f"\ndiffers: {len(differ)}\n" + "".join(line + "\n" for line in differ) + entries
        file = GOLDEN / f"{family}.txt"
        if os.environ.get("WHEELYARD_UPDATE_GOLDEN") == "1":
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        expected = file.read_text(encoding="utf-8") if file.exists() else ""
        if text != expected:  # a comparison of equal lines would take seconds
            change = "".join(difflib.unified_diff(expected.splitlines(True), text.splitlines(True), str(file), "now"))
            self.fail(change + "\nWHEELYARD_UPDATE_GOLDEN=1 with this test writes it")


    def test_whatever_reads_an_index_answers_those_who_may_and_tells_no_other_of_a_private_one(self):
        """The standard answers of every GET of the API with an index in its address, as the server itself lists them."""
        with Door("http", self.store, self.store.copy(self.folder / "each")) as door:
            paths = json.loads(door.farm.get("/api/v1/openapi.json")[2])["paths"]
            operations = {path: item["get"] for path, item in paths.items() if path.startswith("/api/v1/indexes/{index}") and "get" in item}
            self.assertIn("/api/v1/indexes/{index}/storage", operations)
            for path, operation in operations.items():
                with self.subTest(operation["operationId"]):
                    self.check_reading(door, path, operation)

    def test_the_table_of_operations_says_who_may_read(self):
        """Every GET of docs/reference/operations.md, with a token of each action alone."""
        table = re.findall(r"(?m)^\| `GET [^`]*` \| `(\w+)` \|[^|]*\| ([^|]+) \|", (ROOT / "docs/reference/operations.md").read_text())
        rights = {operation: right.partition(";")[0] for operation, right in table}
        actions = sorted({word for right in rights.values() for word in re.findall("`([a-z]+)`", right)} | {"upload", "status", "gc"})
        with Door("http", self.store, self.store.copy(self.folder / "rights")) as door:
            tokens = {action: door.farm.create_token("*", name=action, actions=(action,)) for action in actions}
            paths = json.loads(door.farm.get("/api/v1/openapi.json")[2])["paths"]
            for path, operation in ((path, item["get"]) for path, item in paths.items() if "get" in item):
                right = rights.get(operation["operationId"])
                for action, token in tokens.items() if right else ():
                    with self.subTest(operation["operationId"], action=action):
                        answer = door.ask(reading(path, operation, values_of(operation), token))
                        self.assertEqual(answer.status == 200, f"`{action}`" in right or right.startswith(("none", "any token", "a right")))

    def check_reading(self, door: Door, path: str, operation: dict) -> None:
        def answer(by: str, **instead: str) -> Answer:
            return door.ask(reading(path, operation, values_of(operation) | instead, by))

        good = answer("admin")
        self.assertEqual(good.status, 200, good.text)
        self.assertEqual(good.text.startswith("{"), "application/json" in operation["responses"]["200"]["content"])  # the rest is not JSON
        stranger, revoked = answer("nobody"), answer("gone")
        if "security" in operation:
            self.assertEqual((stranger.status, stranger.code, revoked.code), (401, "auth.missing", "auth.token_refused"))
        else:
            self.assertEqual((stranger.status, revoked.text), (200, stranger.text))
        self.assertEqual(answer("admin", index=ABSENT).code, "index.unknown")
        for by in ("elsewhere", "nobody"):  # what they may know is an index that is not there
            private, absent = answer(by, **PRIVATE), answer(by, **PRIVATE | {"index": ABSENT})
            self.assertTrue(private.is_refused, private.text)
            self.assertEqual(private.text.replace(PRIVATE["index"], ABSENT), absent.text)


def add_tests() -> None:
    for family in FAMILIES:
        setattr(OperationsTest, f"test_the_answers_of_{family}_are_the_same_as_before", lambda self, family=family: self.check(family))


add_tests()

if __name__ == "__main__":
    main()
