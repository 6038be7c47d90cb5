"""Every address of /api/v1/openapi.json is asked by schemathesis, as the running server describes itself, with what the document allows
and with what it does not: no answer is a fault of the server, and each is one that the document names.

Only with WHEELYARD_FULL=1 (scripts/test --full), which also has scripts/prepare-clients fetch schemathesis.
"""

import json
import subprocess
import urllib.request

from support.case import FarmCase, main
from support.clients import RawUpload
from support.farm import CLIENTS, COMMAND_TIMEOUT_S, INDEX
from support.full import full
from support.wheels import Wheel

SEED = 1
EXAMPLES = 50  # of each address
# Left out: "positive_data_acceptance", for the document does not spell out which names an index or a file may have.
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance"

# 501 is what RFC 9110 §15.6.2 has for a method that a server does not know, and no fault.
CONFIG = '[checks.not_a_server_error]\nexpected-statuses = ["2xx", "3xx", "4xx", 501]\n'
PYTHON = "3.11"


def known_values(**names: tuple[str, ...]) -> str:
    """Every second time a parameter, or a member of a body, is one of these: most of the rest leads to nothing that is there."""
    lists = "".join(f"{name} = {{ values = {json.dumps(values)} }}\n" for name, values in names.items())
    bound = "".join(f'"{where}.{name}" = {{ dictionary = "{name}", probability = 0.5 }}\n' for name in names
                    for where in ("path", "query", "body"))
    return f"[dictionaries]\n{lists}\n[parameters]\n{bound}"


@full
class OpenApiTest(FarmCase):
    def post(self, token: str, address: str, document: dict) -> dict:
        request = urllib.request.Request(self.farm.url + "/api/v1" + address, data=json.dumps(document).encode(), method="POST",
                                         headers={"Authorization": f"Bearer {token}"})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=COMMAND_TIMEOUT_S) as answer:
            return json.load(answer)

    def write_config(self, token: str) -> None:
        """With a queue of tasks, two of which are claimed."""
        tasks = [self.post(token, "/tasks", {"format": "wheelyard.task/1", "index": INDEX, "package": f"p{number}", "version": "1.0",
                                             "python": PYTHON})["id"] for number in range(6)]
        claimed = self.post(token, "/tasks/claim", {"format": "wheelyard.claim/2", "index": INDEX, "agent": "a.login1", "pythons": [PYTHON],
                                                    "accelerators": [], "room": 2})
        self.assertEqual(len(claimed["tasks"]), 2)
        known = known_values(index=(INDEX,), task=tuple(tasks), site=("a",), project=("six",), package=("six", "p9"), version=("1.0",),
                             python=(PYTHON,), filename=("six-1.0-py3-none-any.whl",))
        (self.folder / "schemathesis.toml").write_text(CONFIG + known)

    def test_the_server_answers_as_its_document_says(self):
        self.assertEqual(RawUpload(self.farm, self.token, Wheel("six").write(self.folder)).send()[0], 200)
        done = self.farm.run("wheelyard-registry", "token", "create", "--config", self.farm.config, "--name", "all", "--index", "*",
                             "--action", "*", "--json")
        token = json.loads(done.stdout)["token"]
        self.write_config(token)
        done = subprocess.run(
            [CLIENTS / "schemathesis/bin/schemathesis", "run", f"{self.farm.url}/api/v1/openapi.json", "--header",
             f"Authorization: Bearer {token}", "--checks", CHECKS, "--phases", "coverage,fuzzing", "--mode", "all", "--max-examples",
             str(EXAMPLES), "--seed", str(SEED), "--request-timeout", "30", "--generation-database", "none", "--no-color"],
            cwd=self.folder, env=self.farm.environment, capture_output=True, text=True, timeout=4 * COMMAND_TIMEOUT_S)
        print(next((f"({line.strip()})" for line in done.stdout.splitlines() if "generated," in line), ""), end=" ", flush=True)
        self.assert_ran(done)
        self.assertEqual(self.farm.get("/healthz")[0], 200)
        for phrase in ("_threw", "server.internal", " error "):
            self.assertNotIn(phrase, self.farm.log.read_text())


if __name__ == "__main__":
    main()
