"""A job of continuous integration publishes without a stored secret: the real `uv publish --trusted-publishing always`, over TLS, in the environments
of GitHub's and GitLab's jobs, exchanges an identity token of an issuer of the test's own for a token of ours, uploads with it and burns it. twine exchanges
one only at the public index, so it uploads with what curl got. What the token may not do, and a second use, is refused in words that uv prints."""

import base64
import http.server
import json
import re
import secrets
import shutil
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from support.case import main
from support.certificate import make_certificate_of_authority
from support.clients import RawUpload
from support.farm import CLIENTS, COMMAND_TIMEOUT_S, ROOT, Farm
from support.ports import free_port
from support.wheels import Wheel

MAIN, OTHER = "main", "other"
AUDIENCE = "wheels.example.org"  # as in docs/how-to/publish-from-ci.md
REQUEST_TOKEN = "of-the-runner"


def base64url(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


class Issuer(http.server.ThreadingHTTPServer):
    """Describes itself and its RSA key, and gives jobs tokens as GitHub's runners do: at an address of their environment."""

    def __init__(self, folder: Path):
        super().__init__(("127.0.0.1", 0), Answers)
        self.key = folder / "issuer.pem"
        subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", self.key], check=True, capture_output=True)
        modulus = subprocess.run(["openssl", "rsa", "-in", self.key, "-noout", "-modulus"], check=True, capture_output=True, text=True).stdout
        self.modulus = bytes.fromhex(modulus.strip().split("=")[1])
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.claims: dict = {}  # of the job that runs
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def token(self, audience: str = AUDIENCE, **claims) -> str:
        now = int(time.time())
        said = {"iss": self.url, "aud": audience, "sub": "repo:octo-org/solver:ref:refs/tags/v1", "iat": now, "nbf": now, "exp": now + 300,
                "jti": secrets.token_hex(16), "repository": "octo-org/solver", "ref": "refs/tags/v1", "event_name": "push"} | self.claims | claims
        signed = base64url(b'{"typ":"JWT","alg":"RS256","kid":"k1"}') + "." + base64url(json.dumps(said).encode())
        signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.key], input=signed.encode(), check=True, capture_output=True).stdout
        return signed + "." + base64url(signature)


class Answers(http.server.BaseHTTPRequestHandler):
    server: Issuer

    def do_GET(self):
        issuer = self.server
        if self.path == "/.well-known/openid-configuration":
            answer = {"issuer": issuer.url, "jwks_uri": issuer.url + "/keys", "id_token_signing_alg_values_supported": ["RS256"]}
        elif self.path == "/keys":
            answer = {"keys": [{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "k1", "n": base64url(issuer.modulus), "e": "AQAB"}]}
        elif self.headers.get("Authorization", "").lower() == f"bearer {REQUEST_TOKEN}" and self.path.startswith("/token?"):
            answer = {"value": issuer.token(urllib.parse.parse_qs(self.path.split("?", 1)[1])["audience"][0])}
        else:
            self.send_error(404)
            return
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class PublishFromCiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="wheelyard-ci-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        make_certificate_of_authority(cls.folder)
        cls.issuer = Issuer(cls.folder)
        cls.addClassCleanup(cls.issuer.server_close)
        cls.addClassCleanup(cls.issuer.shutdown)
        cls.tls_port = free_port()
        cls.farm = cls.enterClassContext(Farm((MAIN, OTHER), index_settings={OTHER: PUBLISHER.format(issuer=cls.issuer.url)},
                                              settings=f'also_listen = ["https://127.0.0.1:{cls.tls_port}"]\ncertificate_file = "{cls.folder}/chain.pem"\n'
                                                       f'certificate_key_file = "{cls.folder}/key.pem"'))
        cls.auditor = cls.farm.create_token("*", name="auditor", actions=("audit",))
        cls.farm.start()
        deadline = time.monotonic() + COMMAND_TIMEOUT_S
        while cls.mint(cls.issuer.token())[0] == 503:
            assert time.monotonic() < deadline, "the registry has not fetched the issuer's keys"
            time.sleep(0.1)

    def setUp(self):
        self.issuer.claims = {}

    @classmethod
    def ask(cls, method: str, path: str, body: bytes | None = None, token: str = "") -> tuple[int, dict]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        request = urllib.request.Request(cls.farm.url + path, body, headers, method=method)
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=COMMAND_TIMEOUT_S) as reply:
                return reply.status, json.load(reply)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    @classmethod
    def mint(cls, token: str) -> tuple[int, dict]:
        return cls.ask("POST", "/_/oidc/mint-token", json.dumps({"token": token}).encode())

    def refused(self, answer: tuple[int, dict], status: int, code: str, part: str = ""):
        """As clients of PyPI read it, and as a problem of ours."""
        self.assertEqual((answer[0], answer[1].get("code")), (status, code), answer)
        self.assertTrue(answer[1]["message"])
        self.assertEqual([error["code"] for error in answer[1]["errors"]], [code])
        self.assertIn(part, answer[1]["errors"][0]["description"])

    def uv_publish(self, wheel: Path, index: str = MAIN, **job: str) -> subprocess.CompletedProcess:
        environment = self.farm.environment | {"UV_NO_CONFIG": "1", "UV_NO_CACHE": "1", "SSL_CERT_FILE": f"{self.folder}/authority.pem"} | job
        return subprocess.run([CLIENTS / "uv/bin/uv", "publish", "--trusted-publishing", "always",
                               "--publish-url", f"https://127.0.0.1:{self.tls_port}/{index}/legacy/", wheel],
                              env=environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)

    def github(self) -> dict[str, str]:
        return {"CI": "true", "GITHUB_ACTIONS": "true", "ACTIONS_ID_TOKEN_REQUEST_URL": self.issuer.url + "/token?api-version=2.0",
                "ACTIONS_ID_TOKEN_REQUEST_TOKEN": REQUEST_TOKEN}

    def tokens_of_jobs(self) -> list[dict]:
        listed = self.farm.run("wheelyard-registry", "token", "list", "--json", "-c", self.farm.config)
        self.assertEqual(listed.returncode, 0, listed.stderr)
        return [row for row in json.loads(listed.stdout) if row["name"].startswith("publisher:")]

    def test_uv_publishes_from_a_job_of_github_and_burns_its_token(self):
        known = {row["id"] for row in self.tokens_of_jobs()}
        done = self.uv_publish(Wheel("solver").write(self.folder), **self.github())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("solver-1.0-py3-none-any.whl", self.farm.files("solver", MAIN))
        event = self.ask("GET", "/api/v1/audit?newest=1&project=solver", token=self.auditor)[1]["events"][0]
        self.assertEqual(event["actor"], "publisher:solver")
        row, = (row for row in self.tokens_of_jobs() if row["id"] not in known)
        self.assertEqual((row["indexes"], row["projects"], row["actions"]), ([MAIN], ["solver"], ["upload"]))
        self.assertEqual((row["state"], row["created_by"]), ("revoked", f"{self.issuer.url} repo:octo-org/solver:ref:refs/tags/v1"))

    def test_uv_publishes_from_a_job_of_gitlab(self):
        token = self.issuer.token(event_name="", pipeline_source="push")
        done = self.uv_publish(Wheel("solver", "2.0").write(self.folder), CI="true", GITLAB_CI="true", WHEELS_EXAMPLE_ORG_ID_TOKEN=token)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("solver-2.0-py3-none-any.whl", self.farm.files("solver", MAIN))
        self.refused(self.mint(token), 422, "publisher.used")
        older = self.ask("POST", "/_/oidc/github/mint-token", json.dumps({"token": token}).encode())  # where older actions of GitHub ask
        self.refused(older, 422, "publisher.used")

    def run_block(self, version: str, identity: str) -> tuple[subprocess.CompletedProcess, str]:
        """The block of docs/how-to/publish-from-ci.md, with this server's address; also with what arguments curl was run, which others may see."""
        block = re.search(r"```sh\n(.*?)```", (ROOT / "docs/how-to/publish-from-ci.md").read_text(), re.DOTALL)[1]
        block = block.replace("https://wheels.example.org", f"https://127.0.0.1:{self.tls_port}")
        job = Path(tempfile.mkdtemp(dir=self.folder))
        Wheel("solver", version).write(job / "dist")
        (job / "bin").mkdir()
        curl = job / "bin/curl"
        curl.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{job}/arguments"\nexec "{shutil.which("curl")}" "$@"\n')
        curl.chmod(0o755)
        authority = f"{self.folder}/authority.pem"
        environment = self.farm.environment | {"IDENTITY": identity, "CURL_CA_BUNDLE": authority, "REQUESTS_CA_BUNDLE": authority}
        environment["PATH"] = f"{job}/bin:{CLIENTS}/twine/bin:{environment['PATH']}"
        done = subprocess.run(["sh", "-c", block], env=environment, cwd=job, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
        return done, (job / "arguments").read_text()

    def test_twine_uploads_with_the_token_that_curl_got(self):
        self.assertEqual(self.ask("GET", "/_/oidc/audience"), (200, {"audience": AUDIENCE}))
        token = self.issuer.token()
        done, arguments = self.run_block("3.0", token)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("mint-token", arguments)
        self.assertNotIn(token, arguments)
        self.assertIn("solver-3.0-py3-none-any.whl", self.farm.files("solver", MAIN))
        # A refusal is shown, and ends the job before it uploads.
        done, _ = self.run_block("3.1", token)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("publisher.used", done.stdout)
        self.assertNotIn("twine", (done.stdout + done.stderr).lower())

    def test_a_token_of_a_job_uploads_its_project_to_its_index_until_it_is_burnt(self):
        status, minted = self.mint(self.issuer.token())
        self.assertEqual((status, minted["success"]), (200, True), minted)
        self.assertLess(abs(minted["expires"] - time.time() - 900), 120)

        def upload(wheel: Wheel, index: str) -> tuple[int, str]:
            status, problem = RawUpload(self.farm, minted["token"], wheel.write(self.folder), index).send()
            return status, problem.get("code")
        self.assertEqual(upload(Wheel("other"), MAIN), (403, "auth.project_refused"))
        self.assertEqual(upload(Wheel("solver", "4.0"), OTHER), (403, "auth.index_refused"))
        self.assertEqual(self.ask("POST", "/_/oidc/burn-token", json.dumps({"token": minted["token"]}).encode()), (202, {}))
        self.assertEqual(upload(Wheel("solver", "5.0"), MAIN), (403, "auth.token_refused"))

    def test_uv_prints_the_claim_that_does_not_match(self):
        wheel = Wheel("solver", "6.0").write(self.folder)
        self.issuer.claims = {"ref": "refs/heads/main"}
        done = self.uv_publish(wheel, **self.github())
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("`ref` is `refs/heads/main`", done.stderr)
        self.issuer.claims = {"event_name": "pull_request"}
        done = self.uv_publish(wheel, **self.github())
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("pull request", done.stderr)
        self.assertNotIn("solver-6.0-py3-none-any.whl", self.farm.files("solver", MAIN))
        # What was wanted is in the log alone.
        self.assertNotIn("refs/tags", done.stderr)
        self.assertIn("ref=refs/tags/*", self.farm.log.read_text())

    def test_a_refusal_has_the_form_that_clients_read_whatever_refuses(self):
        self.refused(self.mint(self.issuer.token("other.example")), 422, "publisher.token", "other.example")
        self.refused(self.ask("POST", "/_/oidc/mint-token", b"x" * 30_000), 413, "api.body_too_large")
        self.refused(self.ask("GET", "/_/oidc/mint-token"), 405, "request.method")


PUBLISHER = '''
[[publisher]]
name = "solver"
issuer = "{issuer}"
audience = "wheels.example.org"
index = "main"
projects = ["solver"]
claims = {{ repository = "octo-org/solver", ref = "refs/tags/*" }}
allow_http = true
'''

if __name__ == "__main__":
    main()
