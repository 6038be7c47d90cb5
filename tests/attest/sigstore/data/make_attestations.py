#!/usr/bin/env python3
"""Writes private.json: the trusted root of a Sigstore instance that exists here only, attestations of it that have to be
accepted, and forged ones with the code of their refusal. Keys are new at each run, times are fixed. Needs `cryptography`.
Each expectation follows from RFC 5280, RFC 6962, PEP 740 and the order of the steps: form, log entry, certificate,
signature, what the entry is about, statement.

    make_attestations.py > private.json
"""
import base64
import datetime
import hashlib
import json

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NOW = 1_795_700_000
FILE, SHA256 = "demo-1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "ab" * 32
GITHUB = "https://token.actions.githubusercontent.com"
REPOSITORY, WORKFLOW, REF = "https://github.com/octo-org/demo", ".github/workflows/release.yml", "refs/tags/v1.0"
TYPE, PUBLISH = "application/vnd.in-toto+json", "https://index.example/attestations/publish/v1"
DER, SPKI = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo


def b64(data):
    return base64.b64encode(data).decode()


def sha256(data):
    return hashlib.sha256(data).digest()


def new_key(curve=ec.SECP256R1):
    return ec.generate_private_key(curve())


def spki(key):
    return key.public_key().public_bytes(DER, SPKI)


def sign(key, data):
    return key.sign(data, ec.ECDSA(hashes.SHA256()))


def when(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)


def name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


class Authority:
    """A root and an intermediate, which issues."""

    def __init__(self):
        self.root_key, self.key = new_key(ec.SECP384R1), new_key(ec.SECP384R1)
        self.root = self.issue("root", self.root_key, "root", self.root_key, 1)
        self.intermediate = self.issue("between", self.key, "root", self.root_key, 0)

    @staticmethod
    def issue(subject, key, issuer, by, length):
        usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
        return (x509.CertificateBuilder().subject_name(name(subject)).issuer_name(name(issuer))
                .public_key(key.public_key()).serial_number(x509.random_serial_number())
                .not_valid_before(when(NOW - 10**8)).not_valid_after(when(NOW + 10**8))
                .add_extension(x509.BasicConstraints(True, length), True).add_extension(usage, True)
                .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
                .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(by.public_key()), False)
                .sign(by, hashes.SHA384()))

    def entry(self, **validity):
        chain = [{"rawBytes": b64(one.public_bytes(DER))} for one in (self.intermediate, self.root)]
        return {"certChain": {"certificates": chain}, "validFor": {"start": "2026-01-01T00:00:00Z", **validity}}


def log_of(key, **validity):
    return {"publicKey": {"rawBytes": b64(spki(key)), "validFor": {"start": "2026-01-01T00:00:00Z", **validity}}}


CA, OLD_CA, STRANGER_CA = Authority(), Authority(), Authority()
LOG, OLD_LOG, CT, STRANGER = new_key(), new_key(), new_key(), new_key()
ROOT = {"mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
        "tlogs": [log_of(OLD_LOG, end="2026-02-01T00:00:00Z"), log_of(LOG)],
        "certificateAuthorities": [OLD_CA.entry(end="2026-02-01T00:00:00Z"), CA.entry()],
        "ctlogs": [log_of(CT)]}


def utf8(text):
    data = text.encode()
    length = bytes([len(data)]) if len(data) < 128 else bytes([0x81, len(data)])
    return b"\x0c" + length + data


def oid(text):
    return x509.ObjectIdentifier(text)


def unsigned_certificate(key, authority, issuer, subject, claims, start, life, usage, names, is_ca, may_sign, serial):
    builder = (x509.CertificateBuilder().subject_name(x509.Name([])).issuer_name(name("between"))
               .public_key(key.public_key()).serial_number(serial)
               .not_valid_before(when(start)).not_valid_after(when(start + life))
               .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key()), False))
    if may_sign is not None:  # else there is no such extension
        builder = builder.add_extension(
            x509.KeyUsage(may_sign, False, not may_sign, False, False, False, False, False, False), True)
    if usage:
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), False)
    if is_ca:
        builder = builder.add_extension(x509.BasicConstraints(True, None), True)
    names = names if names is not None else [x509.UniformResourceIdentifier(subject)]
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), True)
    for number, text in {8: issuer, **claims}.items():
        if text:
            builder = builder.add_extension(
                x509.UnrecognizedExtension(oid(f"1.3.6.1.4.1.57264.1.{number}"), utf8(text)), False)
    return builder


GITHUB_CLAIMS = {9: f"{REPOSITORY}/{WORKFLOW}@{REF}", 12: REPOSITORY, 13: "c0" * 20, 14: REF,
                 18: f"{REPOSITORY}/{WORKFLOW}@{REF}", 21: f"{REPOSITORY}/actions/runs/7/attempts/1"}


def certificate(key, authority=CA, issuer=GITHUB, subject=f"{REPOSITORY}/{WORKFLOW}@{REF}", claims=None, start=NOW - 60,
                life=600, usage=ExtendedKeyUsageOID.CODE_SIGNING, names=None, is_ca=False, may_sign=True, ct=CT,
                scts=1, sct_serial=None, sct_time=NOW - 50):
    claims = GITHUB_CLAIMS if claims is None else claims
    serial = x509.random_serial_number()

    def unsigned(number):
        return unsigned_certificate(key, authority, issuer, subject, claims, start, life, usage, names, is_ca, may_sign,
                                    number)

    before = unsigned(sct_serial or serial).sign(authority.key, hashes.SHA384()).tbs_certificate_bytes
    time = (sct_time * 1000).to_bytes(8, "big")
    signature = sign(ct, b"\0\0" + time + b"\0\1" + sha256(spki(authority.key)) + len(before).to_bytes(3, "big") +
                     before + b"\0\0")
    sct = b"\0" + sha256(spki(ct)) + time + b"\0\0" + b"\4\3" + len(signature).to_bytes(2, "big") + signature
    listed = (len(sct).to_bytes(2, "big") + sct) * scts
    listed = len(listed).to_bytes(2, "big") + listed
    header = b"\x04" + (bytes([len(listed)]) if len(listed) < 128 else
                        bytes([0x81, len(listed)]) if len(listed) < 256 else b"\x82" + len(listed).to_bytes(2, "big"))
    builder = unsigned(serial)
    if scts:
        builder = builder.add_extension(
            x509.UnrecognizedExtension(oid("1.3.6.1.4.1.11129.2.4.2"), header + listed), False)
    return builder.sign(authority.key, hashes.SHA384())


def statement(filename=FILE, digest=SHA256, predicate=PUBLISH, kind="https://in-toto.io/Statement/v1", subjects=1):
    subject = [{"name": filename, "digest": {"sha256": digest}}] * subjects
    return json.dumps({"_type": kind, "subject": subject, "predicateType": predicate, "predicate": None}).encode()


def node(left, right):
    return sha256(b"\1" + left + right)


def log_entry(body, log=LOG, time=NOW, others=6, at=4, checkpoint_key=None, promise_key=None, promised_time=None):
    """The entry in a tree of leaves that are made up."""
    leaves = [sha256(b"\0other %d" % n) for n in range(others)]
    leaves.insert(at, sha256(b"\0" + body))

    def root_and_path(level, index):
        if len(level) == 1:
            return level[0], []
        cut = 1
        while cut * 2 < len(level):
            cut *= 2
        left, right = level[:cut], level[cut:]
        if index < cut:
            mine, path = root_and_path(left, index)
            other = root_and_path(right, 0)[0]
            return node(mine, other), path + [other]
        mine, path = root_and_path(right, index - cut)
        other = root_and_path(left, 0)[0]
        return node(other, mine), path + [other]

    root, path = root_and_path(leaves, at)
    log_id = sha256(spki(log))
    promised = json.dumps({"body": b64(body), "integratedTime": promised_time or time, "logID": log_id.hex(),
                           "logIndex": 1000 + at}, separators=(",", ":"))
    text = f"log.example - 42\n{len(leaves)}\n{b64(root)}\n"
    line = b64(log_id[:4] + sign(checkpoint_key or log, text.encode()))
    return {"logIndex": str(1000 + at), "logId": {"keyId": b64(log_id)},
            "kindVersion": {"kind": "dsse", "version": "0.0.1"}, "integratedTime": str(time),
            "inclusionPromise": {"signedEntryTimestamp": b64(sign(promise_key or log, promised.encode()))},
            "inclusionProof": {"logIndex": str(at), "rootHash": b64(root), "treeSize": str(len(leaves)),
                               "hashes": [b64(one) for one in path],
                               "checkpoint": {"envelope": f"{text}\n\u2014 log.example {line}\n"}},
            "canonicalizedBody": b64(body)}


def attestation(said=None, cert=None, signer=None, logged=None, key_curve=ec.SECP256R1, entry=None):
    """`cert`, `entry`: how that part differs; `logged`: what the log's entry is about instead."""
    key = new_key(key_curve)
    certified = certificate(key, **(cert or {}))
    said = said or statement()
    signature = sign(signer or key, b"DSSEv1 %d %s %d %s" % (len(TYPE), TYPE.encode(), len(said), said))
    pem = certified.public_bytes(serialization.Encoding.PEM)
    about = {"payload": said, "signature": signature, "pem": pem, "kind": "dsse", "algorithm": "sha256", **(logged or {})}
    body = json.dumps({"apiVersion": "0.0.1", "kind": about["kind"], "spec": {
        "payloadHash": {"algorithm": about["algorithm"], "value": sha256(about["payload"]).hex()},
        "signatures": [{"signature": b64(about["signature"]), "verifier": b64(about["pem"])}]}}).encode()
    body = body[:-1] + about.get("more", b"") + b"}"
    return {"version": 1,
            "verification_material": {"certificate": b64(certified.public_bytes(DER)),
                                      "transparency_entries": [log_entry(body, **(entry or {}))]},
            "envelope": {"statement": b64(said), "signature": b64(signature)}}


def changed(path, value, base=None):
    made = base or attestation()
    at = made
    for part in path[:-1]:
        at = at[part]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return made


ENTRY = ("verification_material", "transparency_entries", 0)
PROOF = (*ENTRY, "inclusionProof")
GITLAB = {"issuer": "https://gitlab.com", "subject": "https://gitlab.com/a/b/demo//.gitlab-ci.yml@refs/tags/v1",
          "claims": {12: "https://gitlab.com/a/b/demo", 14: "refs/tags/v1",
                     18: "https://gitlab.com/a/b/demo//.gitlab-ci.yml@refs/tags/v1"}}
MAIL = x509.RFC822Name("robot@example.org")
OTHER = "https://idp.example/realms/farm"

# (name, code, the attestation, the publisher where it is accepted)
GITHUB_PUBLISHER = {"kind": "GitHub", "repository": "octo-org/demo", "workflow": "release.yml"}
other_config = {**GITHUB_CLAIMS, 18: f"https://github.com/other/demo/{WORKFLOW}@{REF}"}
cases = [
    ("a job of GitHub", "ok", attestation(), GITHUB_PUBLISHER),
    ("a job of GitHub, named by its commit", "ok",
     attestation(cert={"claims": {**GITHUB_CLAIMS, 18: f"{REPOSITORY}/{WORKFLOW}@{'c0' * 20}"}}), GITHUB_PUBLISHER),
    ("a workflow of another repository", "ok", attestation(cert={"claims": other_config}),
     {"kind": GITHUB, "subject": f"{REPOSITORY}/{WORKFLOW}@{REF}"}),
    ("a job of GitLab", "ok", attestation(cert=GITLAB),
     {"kind": "GitLab", "repository": "a/b/demo", "workflow_filepath": ".gitlab-ci.yml"}),
    ("an address of Google's", "ok",
     attestation(cert={"issuer": "https://accounts.google.com", "names": [MAIL], "claims": {}}),
     {"kind": "Google", "email": "robot@example.org"}),
    ("a provider that PyPI does not know", "ok", attestation(cert={"issuer": OTHER, "names": [MAIL], "claims": {}}),
     {"kind": OTHER, "subject": "robot@example.org"}),
    ("another order of the tags", "ok",
     attestation(statement(FILE.replace("manylinux_2_17_x86_64.manylinux2014_x86_64",
                                        "manylinux2014_x86_64.manylinux_2_17_x86_64"))), GITHUB_PUBLISHER),
    ("the provenance of SLSA", "ok", attestation(statement(predicate="https://slsa.dev/provenance/v1")), GITHUB_PUBLISHER),
    *((f"entry {at} of {others + 1}", "ok", attestation(entry={"others": others, "at": at}), GITHUB_PUBLISHER)
      for others, at in ((0, 0), (1, 1), (2, 2), (6, 6), (8, 3), (8, 8))),
    # OpenSSL takes the second of notAfter itself, which RFC 5280 includes, for expired.
    ("a certificate that ends in a second", "ok", attestation(cert={"start": NOW - 599}), GITHUB_PUBLISHER),
    ("the certificate's first second", "ok", attestation(cert={"start": NOW}), GITHUB_PUBLISHER),

    ("another version", "version", changed(("version",), 2)),
    ("no envelope", "form", changed(("envelope",), None)),
    ("no certificate", "form", changed(("verification_material", "certificate"), None)),
    ("base64 with a space", "form", changed(("envelope", "signature"), "AA AA")),
    ("no log entry", "entries", changed(("verification_material", "transparency_entries"), [])),
    ("two log entries", "entries", changed(("verification_material", "transparency_entries"), [{}, {}])),
    ("an entry of version 2", "rekor_v2", changed((*ENTRY, "kindVersion"), {"kind": "hashedrekord", "version": "0.0.2"})),
    ("an envelope of version 2", "rekor_v2", changed((*ENTRY, "kindVersion"), {"kind": "dsse", "version": "0.0.2"})),
    ("an entry of another kind", "form", changed((*ENTRY, "kindVersion"), {"kind": "intoto", "version": "0.0.1"})),
    ("no promise", "form", changed((*ENTRY, "inclusionPromise"), None)),
    ("no time", "form", changed((*ENTRY, "integratedTime"), None)),
    ("no proof", "form", changed((*ENTRY, "inclusionProof"), None)),
    ("64 hashes", "form", changed((*PROOF, "hashes"), [b64(bytes(32))] * 64)),

    ("an unknown log", "unknown_log", attestation(entry={"log": STRANGER})),
    ("a log that has ended", "unknown_log", attestation(entry={"log": OLD_LOG})),
    ("a promise of another key", "promise", attestation(entry={"promise_key": STRANGER})),
    ("a promise for another time", "promise", attestation(entry={"promised_time": NOW - 1})),
    ("a promise for another index", "promise", changed((*ENTRY, "logIndex"), "1")),
    ("a path of another leaf", "inclusion", changed((*PROOF, "logIndex"), "3")),
    ("an index after the end", "inclusion", changed((*PROOF, "logIndex"), "7")),
    ("a short path", "inclusion", changed((*PROOF, "hashes"), [])),
    ("another root", "inclusion", changed((*PROOF, "rootHash"), b64(bytes(32)))),
    ("a checkpoint of another key", "checkpoint", attestation(entry={"checkpoint_key": STRANGER})),
    ("no checkpoint", "checkpoint", changed((*PROOF, "checkpoint"), {})),
    ("a checkpoint without signatures", "checkpoint",
     (lambda made: changed((*PROOF, "checkpoint", "envelope"),
                           made["verification_material"]["transparency_entries"][0]["inclusionProof"]["checkpoint"]
                           ["envelope"].split("\n\n")[0] + "\n\n", made))(attestation())),

    ("a certificate that has expired", "chain", attestation(cert={"start": NOW - 601})),
    ("a certificate that is not valid yet", "chain", attestation(cert={"start": NOW + 1})),
    ("another authority", "chain", attestation(cert={"authority": STRANGER_CA})),
    ("an authority that has ended", "chain", attestation(cert={"authority": OLD_CA})),
    ("no certificate at all", "certificate", changed(("verification_material", "certificate"), "AAAA")),
    ("a key over P-384", "certificate", attestation(key_curve=ec.SECP384R1)),
    ("a certificate for servers", "usage", attestation(cert={"usage": ExtendedKeyUsageOID.SERVER_AUTH})),
    ("a certificate for everything", "usage", attestation(cert={"usage": None})),
    ("a certificate without a key usage", "usage", attestation(cert={"may_sign": None})),
    ("a certificate whose key does not sign", "usage", attestation(cert={"may_sign": False})),
    ("no promise of a log of certificates", "sct", attestation(cert={"scts": 0})),
    ("two promises", "sct", attestation(cert={"scts": 2})),
    ("a promise of an unknown log of certificates", "sct", attestation(cert={"ct": STRANGER})),
    ("a promise for another certificate", "sct", attestation(cert={"sct_serial": 12345})),
    ("a promise from before the log", "sct", attestation(cert={"sct_time": NOW - 10**8})),
    ("two names", "identity", attestation(cert={"names": [MAIL, x509.RFC822Name("other@example.org")]})),
    ("a name of a host", "identity", attestation(cert={"names": [x509.DNSName("example.org")]})),
    ("no provider", "identity", attestation(cert={"issuer": ""})),

    ("a signature of another key", "signature", attestation(signer=STRANGER)),
    ("an entry about another statement", "other_entry", attestation(logged={"payload": b"{}"})),
    ("an entry about another signature", "other_entry", attestation(logged={"signature": b"1"})),
    ("an entry about another certificate", "other_entry",
     attestation(logged={"pem": certificate(new_key()).public_bytes(serialization.Encoding.PEM)})),
    ("an entry with another digest", "other_entry", attestation(logged={"algorithm": "sha512"})),
    ("an entry that says its kind twice", "other_entry", attestation(logged={"more": b', "kind": "dsse"'})),
    ("an entry of a hash", "other_entry", attestation(logged={"kind": "hashedrekord"})),

    ("a statement with a member twice", "statement", attestation(statement()[:-1] + b', "predicate": null}')),
    ("no subject", "statement", attestation(statement(subjects=0))),
    ("two subjects", "statement", attestation(statement(subjects=2))),
    ("another type of statement", "statement", attestation(statement(kind="https://in-toto.io/Statement/v0.1"))),
    ("another predicate", "statement", attestation(statement(predicate="https://example.org/predicate"))),
    *((f"the predicate {one}", "statement", attestation(statement(predicate=one)))
      for one in (f"{PUBLISH}x", f"{PUBLISH}/", f"{PUBLISH}?a=b", f"{PUBLISH}#a", PUBLISH.replace("https", "http"),
                  PUBLISH.replace("/attestations", "/other/attestations"), PUBLISH.replace("/attestations", "?a=/attestations"),
                  PUBLISH.replace("index.example", "a@index.example"), PUBLISH.replace("index.example", ""),
                  "/attestations/publish/v1")),
    ("another file", "other_file", attestation(statement("other-1.0-py3-none-any.whl"))),
    ("no file", "other_file", attestation(statement(""))),
    ("other bytes", "other_file", attestation(statement(digest="ac" * 32))),
]
rows = [{"name": case[0], "code": case[1], **({"publisher": case[3]} if len(case) > 3 else {}), "attestation": case[2]}
        for case in cases]
head = json.dumps({"root": ROOT, "file": FILE, "sha256": SHA256})[:-1]
print(head + ', "cases": [\n' + ",\n".join(json.dumps(row) for row in rows) + "\n]}")
