"""Keycloak on loopback, with a realm for the tests: people in nested groups, a confidential client for log-ins that has to use PKCE, and a
service account for jobs. `scripts/prepare-clients` fetches it with WHEELYARD_FULL=1; it needs Java 17, 600 MB of memory, 200 MB of disk and, to start, a minute of one core."""

import json
import os
import shutil
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

from support.farm import CLIENTS

HOME = CLIENTS / "keycloak"
SECRET = "a confidential client's: %+&"
PASSWORD = "x"
ADMIN = "admin"
REQUEST_S = 60  # of one request: the first of a kind loads classes


def why_no_keycloak() -> str:
    return "" if (HOME / ".complete").is_file() and shutil.which("java") else "Keycloak is not installed: scripts/prepare-clients with WHEELYARD_FULL=1, and Java 17"


def person(name: str, first: str, last: str, group: str) -> dict:
    return {"username": name, "enabled": True, "firstName": first, "lastName": last, "email": f"{name}@campus.example", "emailVerified": True,
            "credentials": [{"type": "password", "value": PASSWORD, "temporary": False}], "groups": [group]}


def realm(redirect: str) -> dict:
    """`/builders` and `/hpc/builders` have one name in two places: the full path tells them apart."""
    groups = {"name": "groups", "protocol": "openid-connect", "protocolMapper": "oidc-group-membership-mapper",
              "config": {"claim.name": "groups", "full.path": "true", "id.token.claim": "true", "access.token.claim": "false", "userinfo.token.claim": "false"}}
    audience = {"name": "registry", "protocol": "openid-connect", "protocolMapper": "oidc-audience-mapper",
                "config": {"included.custom.audience": "wheelyard-registry", "id.token.claim": "false", "access.token.claim": "true"}}
    job = {"enabled": True, "publicClient": False, "secret": SECRET, "serviceAccountsEnabled": True, "standardFlowEnabled": False, "protocolMappers": [audience]}
    return {"realm": "campus", "enabled": True,
            "groups": [{"name": "hpc", "subGroups": [{"name": "builders"}]}, {"name": "builders"}],
            "users": [person("anna", "Anna", "Müller", "/hpc/builders"), person("otto", "Otto", "Maier", "/builders")],
            "clients": [{"clientId": "wheelyard", "enabled": True, "publicClient": False, "secret": SECRET, "redirectUris": [redirect],
                         "attributes": {"pkce.code.challenge.method": "S256", "oauth2.device.authorization.grant.enabled": "true"}, "protocolMappers": [groups]},
                        {"clientId": "ci", **job}, {"clientId": "other-ci", **job}]}


class Keycloak:
    def __init__(self, folder: Path, port: int, redirect: str):
        self.url = f"http://127.0.0.1:{port}"
        self.issuer = f"{self.url}/realms/campus"
        self.log = folder / "keycloak.log"
        home = folder / "keycloak"
        # It writes into its own folder: what it builds at the first start, its database.
        shutil.copytree(HOME, home)
        imported = home / "data" / "import"
        imported.mkdir(parents=True)
        (imported / "campus-realm.json").write_text(json.dumps(realm(redirect)))
        environment = os.environ | {"KC_BOOTSTRAP_ADMIN_USERNAME": ADMIN, "KC_BOOTSTRAP_ADMIN_PASSWORD": PASSWORD, "JAVA_OPTS_KC_HEAP": "-Xms64m -Xmx400m"}
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(["sh", home / "bin" / "kc.sh", "start-dev", "--http-host=127.0.0.1", f"--http-port={port}", "--import-realm"],
                                            env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        return "Listening on:" in self.log.read_text()

    def stop(self) -> None:
        """kc.sh becomes the server: one process."""
        self.process.kill()
        self.process.wait()

    def ask(self, path: str, body: bytes | None, content: str = "application/x-www-form-urlencoded", token: str = "") -> bytes:
        headers = {"Content-Type": content} | ({"Authorization": f"Bearer {token}"} if token else {})
        with urllib.request.urlopen(urllib.request.Request(self.url + path, body, headers), timeout=REQUEST_S) as reply:
            return reply.read()

    def token(self, of_realm: str, **form: str) -> str:
        """An access token."""
        body = urllib.parse.urlencode(form).encode()
        return json.loads(self.ask(f"/realms/{of_realm}/protocol/openid-connect/token", body))["access_token"]

    def token_of_service_account(self, client: str) -> str:
        return self.token("campus", grant_type="client_credentials", client_id=client, client_secret=SECRET)

    def keys(self) -> list[dict]:
        return json.loads(self.ask("/realms/campus/protocol/openid-connect/certs", None))["keys"]

    def rotate_key(self) -> None:
        """Tokens have another key from now on; the one before stays in the set."""
        admin = self.token("master", grant_type="password", client_id="admin-cli", username=ADMIN, password=PASSWORD)
        self.ask("/admin/realms/campus/components", json.dumps({
            "name": "newer", "providerId": "rsa-generated", "providerType": "org.keycloak.keys.KeyProvider",
            "config": {"priority": ["200"], "keySize": ["2048"]}}).encode(), "application/json", admin)
