"""A client that openapi-python-client makes of the running server's OpenAPI document is typed: it calls each operation that answers in
JSON, and each answer has the members that the document names, no other one, and is written again as it was sent.

Needs what scripts/prepare-clients fetches into openapi-client/; skipped without it."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

from support.case import main
from support.farm import CLIENTS, COMMAND_TIMEOUT_S, ROOT
from support.prepared_store import BUILD, SITE, PreparedStore

CLIENT = CLIENTS / "openapi-client" / "bin"
CALLS = ROOT / "tests/system/support/typed_calls.py"
# What the prepared store answers with a problem: its provider of log-ins does not exist, no wheel has attestations, and no upload waits.
PROBLEMS = {"beginLogin", "finishLogin", "beginDeviceLogin", "pollDeviceLogin", "mintToken", "mintTokenOfGithub", "readAttestations",
            "appendUpload"}
FORMS = {"upload"}  # tests/system/clients_test.py sends it: no schema spells the form out


def wheel(name: str, version: str = "1.0") -> str:
    return f"{name}-{version}-py3-none-any.whl"


def arguments(store: PreparedStore) -> dict[str, dict]:
    """By the operation; those of `*` are for all that name them."""
    tasks, code = store.tasks, store.code
    head, _, secret = code.rpartition("_")
    renewal = head[:-12] + "0123456789ab_" + secret
    torch = "torch-2.6.0-cp311-cp311-linux_x86_64.whl"
    return {
        "*": {"index": "main", "filename": wheel("six"), "project": "six", "version": "1.0", "package": "six", "python": "3.11",
              "site": SITE, "build": BUILD, "task": tasks["queued"], "reason": "a test", "identity": "campus", "agent": f"{SITE}.login1", "state": "x",
              "secret": "s" * 40, "code": "x", "name": "typed", "indexes": ["main"], "time": "2026-01-02T00:00:00.000000Z", "to": "staging",
              "keep": 1, "upload": "x", "offset": 9, "component": "zlib", "torch": torch},
        "deleteFile": {"filename": wheel("other")},
        "unpinFile": {"filename": wheel("pinned")},
        "setProjectStatus": {"project": "closed", "status": "active"},
        "describeUpstreams": {"index": "mirror"},
        "explainProject": {"index": "mirror", "project": "owned"},
        "readProvenance": {"filename": wheel("parts")},
        "judgeWithTorch": {"index": "torches", "filename": torch},
        "revokeToken": {"token": store.tokens["limited"].rpartition("_")[0]},
        "renewAgent": {"credential": code, "next": renewal},
        "askForWheel": {"index": "asked"},
        "addTasks": {"tasks": [{"format": "wheelyard.task/1", "index": index, "package": "fresh", "version": "1.0", "python": "3.11"}
                               for index in ("main", "nowhere")]},
        "approveTask": {"task": tasks["waiting"]},
        "rejectTask": {"task": tasks["unwanted"]},
        "endTask": {"task": tasks["held"], "attempt": "w1kq7x9aab3cde", "result": "failed"},
        "showTask": {"task": tasks["ended"]},
        "mintToken": {"token": "x"}, "mintTokenOfGithub": {"token": "x"}, "burnToken": {"token": "x"},
    }


@unittest.skipUnless(CLIENT.is_dir(), "openapi-python-client could not be fetched: scripts/prepare-clients")
class TypedClientTest(unittest.TestCase):
    def test_a_generated_client_calls_each_operation_and_knows_its_answer(self):
        with tempfile.TemporaryDirectory() as folder:
            store = PreparedStore(Path(folder))
            with store.copy(Path(folder) / "copy") as farm:
                farm.start()
                self.call_all(Path(folder), store, farm)

    def call_all(self, folder: Path, store: PreparedStore, farm) -> None:
        status, _, body = farm.get("/api/v1/openapi.json")
        self.assertEqual(status, 200)
        document = folder / "openapi.json"
        document.write_bytes(body)
        (folder / "config.yml").write_text("post_hooks: []\n")
        done = subprocess.run([CLIENT / "openapi-python-client", "generate", "--path", document, "--meta", "none", "--fail-on-warning", "--output-path",
                               folder / "wheels_api", "--config", folder / "config.yml"], capture_output=True, text=True,
                              timeout=COMMAND_TIMEOUT_S, env=farm.environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (folder / "arguments.json").write_text(json.dumps(arguments(store)))
        done = subprocess.run([CLIENT / "python", "-B", CALLS, document, farm.url, folder / "arguments.json", store.tokens["admin"],
                               store.tokens["builder"]], cwd=folder, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S,
                              env=farm.environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        # A problem that publishing clients read has two members of theirs (registry/http/reply.hpp), of no table.
        told = done.stdout.replace("Problem ! .message ! .errors", "Problem")
        answers = {name: answer for name, answer in (line.split(" ", 1) for line in told.splitlines())}
        self.assertEqual({name for name, answer in answers.items() if answer == "Problem"}, PROBLEMS, done.stdout)
        self.assertEqual({name for name, answer in answers.items() if answer == "not called"}, FORMS, done.stdout)
        for name, answer in answers.items():
            with self.subTest(name):
                self.assertNotIn("!", answer)
        self.assertGreater(len(answers), 60)
        print(f"({len(answers)} operations)", end=" ", flush=True)


if __name__ == "__main__":
    main()
