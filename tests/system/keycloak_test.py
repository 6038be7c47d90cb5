"""People log in with Keycloak, the provider that docs/how-to/log-in.md names first: by page and by device code, through a confidential client that has
to use PKCE. Their groups count with the full path, the set of keys has one for encryption, and a key that the provider begins to use is fetched. A
service account uploads with its access token, which is for two audiences."""

import secrets
import unittest

from support.case import main
from support.clients import RawUpload
from support.full import full
from support.keycloak import SECRET, Keycloak, why_no_keycloak
from support.log_in import LAB, LogInCase, wait_until
from support.ports import free_port
from support.wheels import Wheel

START_S = 600  # Keycloak's first one, on a core that others use, too
ROTATED_S = 150  # the registry fetches documents at most once a minute


@full
@unittest.skipIf(why_no_keycloak(), why_no_keycloak())
class KeycloakTest(LogInCase):
    @classmethod
    def setUpClass(cls):
        port = free_port()
        cls.make_farm(IDENTITY.format(issuer=f"http://127.0.0.1:{port}/realms/campus"))
        secret = cls.farm.config.parent / "campus.secret"
        secret.touch(0o600)
        secret.write_text(SECRET + "\n")
        cls.keycloak = Keycloak(cls.folder, port, cls.redirect)
        cls.addClassCleanup(cls.keycloak.stop)
        wait_until(cls.keycloak.is_ready, "Keycloak does not start", START_S)
        cls.start_farm()

    def setUp(self):
        """The first exchange loads Keycloak's classes, for longer than the registry waits."""
        wait_until(lambda: self.log_in("anna")[0] == 200, "no log-in succeeds", START_S)

    def test_the_page_gives_what_the_group_with_its_full_path_may(self):
        status, token = self.log_in("anna", "publish")
        self.assertEqual(status, 200, token)
        self.assertEqual((token["shown_name"], token["actions"], token["indexes"]), ("Anna Müller", ["read", "task", "upload"], [LAB]))
        self.assertTrue(token["created_by"].startswith(self.keycloak.issuer + " "), token["created_by"])
        self.assertEqual(self.pip(token["token"]).returncode, 0)
        # Otto's group is /builders, not /hpc/builders.
        self.refused(403, "login.no_rights", self.log_in("otto", "publish"))

    def test_a_device_code_gives_a_token_for_reading(self):
        secret = secrets.token_hex(32)
        token, state, _ = self.log_in_by_device("anna", secret)
        self.assertEqual((token["shown_name"], token["actions"]), ("Anna Müller", ["read", "task"]))
        self.assertEqual(self.pip(token["token"]).returncode, 0)
        self.refused(400, "login.state", self.step("device/poll", secret=secret, state=state))

    def test_a_code_is_exchanged_once(self):
        secret = secrets.token_hex(32)
        answer = self.answer_of_provider("anna", secret)
        self.assertEqual(answer["iss"], self.keycloak.issuer)
        self.assertEqual(self.step("finish", secret=secret, **answer)[0], 200)
        other = self.answer_of_provider("anna", secret)
        self.refused(403, "login.refused", self.step("finish", secret=secret, **other | {"code": answer["code"]}))

    def mint(self, client: str) -> tuple[int, dict]:
        token = self.keycloak.token_of_service_account(client)
        return self.post("/_/oidc/mint-token", {"token": token})

    def test_a_service_account_uploads_what_the_table_with_its_client_says(self):
        status, minted = self.mint("ci")
        self.assertEqual((status, minted.get("success")), (200, True), minted)
        wheel = Wheel("solver").write(self.folder)
        self.assertEqual(RawUpload(self.farm, minted["token"], wheel, LAB).send()[0], 404)  # private, and not its index
        self.assertEqual(RawUpload(self.farm, minted["token"], wheel, "open").send()[0], 200)
        self.refused(422, "publisher.token", self.mint("other-ci"))

    def test_a_key_that_the_provider_begins_to_use_is_fetched(self):
        before = {key["kid"] for key in self.keycloak.keys()}
        self.assertIn("enc", {key["use"] for key in self.keycloak.keys()})
        self.keycloak.rotate_key()
        self.assertTrue({key["kid"] for key in self.keycloak.keys()} > before)
        wait_until(lambda: self.log_in("anna")[0] == 200, "no token with the new key is accepted", ROTATED_S)


IDENTITY = '''
[[identity]]
name = "campus"
title = "University account"
issuer = "{issuer}"
client_id = "wheelyard"
client_secret_file = "campus.secret"
allow_http = true
[[identity.allow]]
group = "/hpc/builders"
indexes = ["lab"]
actions = ["read", "task", "upload"]
[[publisher]]
name = "nightly"
issuer = "{issuer}"
audience = "wheelyard-registry"
index = "open"
projects = ["solver"]
azp = "ci"
claims = {{ preferred_username = "service-account-ci" }}
allow_http = true
'''

if __name__ == "__main__":
    main()
