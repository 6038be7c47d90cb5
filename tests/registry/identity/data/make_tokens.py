#!/usr/bin/env python3
"""Writes tokens.json: tokens that have to be accepted, and forged ones, each with the code of its refusal and, where it is not
the usual one, its key set. Keys are new at each run, times are fixed. Needs `cryptography`. Each expectation follows from the
order of the checks: size, form, algorithm, issuer, key, signature, claims.

    make_tokens.py > tokens.json
"""
import base64
import hashlib
import hmac
import json

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils

ISSUER, CLIENT, NONCE, NOW = "https://idp.example/realms/farm", "wheelyard", "n-1", 1_795_700_000
SHA256 = hashes.SHA256()


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value, length=None):
    return b64(value.to_bytes(length or (value.bit_length() + 7) // 8, "big"))


def new_rsa(bits=2048):
    return rsa.generate_private_key(65537, bits)


RSA, OTHER, SMALL = new_rsa(), new_rsa(), new_rsa(1024)
EC, ED = ec.generate_private_key(ec.SECP256R1()), ed25519.Ed25519PrivateKey.generate()


def rsa_jwk(key, kid, **more):
    numbers = key.public_key().public_numbers()
    return {"kty": "RSA", "kid": kid, "n": number(numbers.n), "e": number(numbers.e), **more}


ec_point = EC.public_key().public_numbers()
ed_raw = ED.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
KEYS = [rsa_jwk(RSA, "r", alg="RS256", use="sig"),
        {"kty": "EC", "crv": "P-256", "kid": "e", "x": number(ec_point.x, 32), "y": number(ec_point.y, 32)},
        {"kty": "OKP", "crv": "Ed25519", "kid": "d", "x": b64(ed_raw)},
        rsa_jwk(OTHER, "enc", use="enc", alg="RSA-OAEP"), rsa_jwk(SMALL, "small"),
        {"kty": "oct", "kid": "oct", "k": b64(b"secret")}]


def by_rsa(key):
    return lambda data: key.sign(data, padding.PKCS1v15(), SHA256)


def by_pss(data):
    return RSA.sign(data, padding.PSS(padding.MGF1(SHA256), 32), SHA256)


def by_ec(data):
    r, s = utils.decode_dss_signature(EC.sign(data, ec.ECDSA(SHA256)))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def claims(**changed):
    usual = {"iss": ISSUER, "aud": CLIENT, "sub": "anna", "iat": NOW, "exp": NOW + 300, "nonce": NONCE, "groups": ["/hpc"]}
    return {name: value for name, value in {**usual, **changed}.items() if value is not None}


def token(header, content, sign):
    content = content if isinstance(content, bytes) else json.dumps(content).encode()
    data = b64(json.dumps(header).encode()) + "." + b64(content)
    return data + "." + b64(sign(data.encode()))


def rs256(content=None, key=RSA, **header):
    return token({"alg": "RS256", "kid": "r", **header}, claims() if content is None else content, by_rsa(key))


PEM = RSA.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
GOOD_TOKEN = rs256()
head, body, signature = GOOD_TOKEN.split(".")
other_bit = b64(json.dumps(claims(sub="anne")).encode())
LOGOUT = {"http://schemas.openid.net/event/backchannel-logout": {}}
plus = next(text for text in (rs256(claims(jti=str(i))) for i in range(1000)) if "-" in text.split(".")[2])

good = {
    "RS256": GOOD_TOKEN,
    "ES256": token({"alg": "ES256", "kid": "e"}, claims(), by_ec),
    "EdDSA": token({"alg": "EdDSA", "kid": "d"}, claims(), ED.sign),
    "aud is a list of one": rs256(claims(aud=[CLIENT])),
    "aud of two with azp": rs256(claims(aud=[CLIENT, "account"], azp=CLIENT)),
    "expired 30 s ago": rs256(claims(exp=NOW - 30)),
    "iat 30 s ahead": rs256(claims(iat=NOW + 30)),
}
bad = [
    ("alg none", "jwt.algorithm", token({"alg": "none"}, claims(), lambda data: b"")),
    ("alg None with kid", "jwt.algorithm", token({"alg": "None", "kid": "r"}, claims(), lambda data: b"")),
    ("alg nONE with an old signature", "jwt.algorithm", b64(b'{"alg":"nONE","kid":"r"}') + "." + body + "." + signature),
    ("HS256 with the public PEM as key", "jwt.algorithm",
     token({"alg": "HS256", "kid": "r"}, claims(), lambda data: hmac.new(PEM, data, hashlib.sha256).digest())),
    ("HS256 with the oct key of the set", "jwt.algorithm",
     token({"alg": "HS256", "kid": "oct"}, claims(), lambda data: hmac.new(b"secret", data, hashlib.sha256).digest())),
    ("RS256 by a stranger", "jwt.signature", rs256(key=OTHER)),
    ("RS256 by the encryption key", "jwt.key", rs256(key=OTHER, kid="enc")),
    ("RSA of 1024 bits", "jwt.key", rs256(key=SMALL, kid="small")),
    ("kid is a path", "jwt.key", rs256(kid="../../../dev/null")),
    ("kid is SQL", "jwt.key", rs256(kid="r' OR 1=1 --")),
    ("kid is a number", "jwt.key", rs256(kid=1)),
    ("no kid, many keys", "jwt.key", token({"alg": "RS256"}, claims(), by_rsa(RSA))),
    ("jwk in the header", "jwt.key", token({"alg": "RS256", "jwk": rsa_jwk(OTHER, "x")}, claims(), by_rsa(OTHER))),
    ("jku and x5u in the header", "jwt.key",
     rs256(key=OTHER, kid="evil", jku="http://127.0.0.1:1/keys", x5u="http://127.0.0.1:1/c")),
    ("crit", "jwt.extension", rs256(crit=["exp"])),
    ("b64 false", "jwt.extension", rs256(b64=False)),
    ("alg of the other kind of key", "jwt.key", token({"alg": "ES256", "kid": "r"}, claims(), by_rsa(RSA))),
    ("ES256 as DER", "jwt.signature",
     token({"alg": "ES256", "kid": "e"}, claims(), lambda data: EC.sign(data, ec.ECDSA(SHA256)))),
    ("ES256 with r = s = 0", "jwt.signature", token({"alg": "ES256", "kid": "e"}, claims(), lambda data: bytes(64))),
    ("PS256", "jwt.algorithm", token({"alg": "PS256", "kid": "r"}, claims(), by_pss)),
    ("empty signature", "jwt.signature", head + "." + body + "."),
    ("other claims under an old signature", "jwt.signature", head + "." + other_bit + "." + signature),
    ("padding", "jwt.form", GOOD_TOKEN + "=="),
    ("five parts", "jwt.form", GOOD_TOKEN + ".a.b"),
    ("white space", "jwt.form", GOOD_TOKEN + "\n"),
    ("plus for minus", "jwt.form", plus.replace("-", "+")),
    ("another issuer", "jwt.issuer", rs256(claims(iss="https://evil.example"))),
    ("issuer with a slash more", "jwt.issuer", rs256(claims(iss=ISSUER + "/"))),
    ("iss missing", "jwt.issuer", rs256(claims(iss=None))),
    ("another client", "jwt.audience", rs256(claims(aud="other"))),
    ("aud of two, no azp", "jwt.party", rs256(claims(aud=[CLIENT, "x"]))),
    ("azp of another", "jwt.party", rs256(claims(aud=[CLIENT, "x"], azp="x"))),
    ("azp of another, one aud", "jwt.party", rs256(claims(azp="x"))),
    ("aud missing", "jwt.audience", rs256(claims(aud=None))),
    ("aud is an object", "jwt.audience", rs256(claims(aud={"wheelyard": 1}))),
    ("aud is an empty list", "jwt.audience", rs256(claims(aud=[]))),
    ("expired", "jwt.expired", rs256(claims(exp=NOW - 61))),
    ("exp missing", "jwt.time", rs256(claims(exp=None))),
    ("exp is a text", "jwt.time", rs256(claims(exp=str(NOW + 300)))),
    ("exp is 1e300", "jwt.time", rs256(json.dumps(claims()).replace(str(NOW + 300), "1e300").encode())),
    ("lives a year", "jwt.lifetime", rs256(claims(exp=NOW + 31536000))),
    ("iat in an hour", "jwt.early", rs256(claims(iat=NOW + 3600, exp=NOW + 4000))),
    ("nbf in an hour", "jwt.early", rs256(claims(nbf=NOW + 3600))),
    ("iat missing", "jwt.time", rs256(claims(iat=None))),
    ("another nonce", "jwt.nonce", rs256(claims(nonce="n-2"))),
    ("nonce missing", "jwt.nonce", rs256(claims(nonce=None))),
    ("access token", "jwt.type", rs256(claims(typ="Bearer"))),
    ("logout token", "jwt.nonce", rs256(claims(nonce=None, events=LOGOUT))),
    ("sub missing", "jwt.subject", rs256(claims(sub=None))),
    ("sub of 300", "jwt.subject", rs256(claims(sub="a" * 300))),
    ("member twice", "jwt.json", rs256(json.dumps(claims()).replace('"aud"', '"aud": "other", "aud"').encode())),
    ("claims are a list", "jwt.json", rs256(b"[]")),
    ("not UTF-8", "jwt.json", rs256(b'{"iss":"\xff"}')),
    ("deep", "jwt.json", rs256(b'{"a":' * 500 + b"1" + b"}" * 500)),
    ("20 kB", "jwt.size", rs256(claims(x="a" * 20000))),
    ("empty", "jwt.form", ""),
    ("two dots", "jwt.form", ".."),
]
sets = [
    ("two keys of one kid", "jwt.key", json.dumps({"keys": KEYS + [rsa_jwk(OTHER, "r", use="sig")]})),
    ("a set of 40 keys", "jwks.count", json.dumps({"keys": [rsa_jwk(RSA, str(i)) for i in range(39)] + [KEYS[0]]})),
    ("a set of 70 kB", "jwks.size", json.dumps({"keys": [{**KEYS[0], "x": "a" * 70000}]})),
    ("a set that is HTML", "jwks.form", "<html>"),
    ("no keys", "jwt.key", json.dumps({"keys": []})),
    ("keys are null", "jwks.form", '{"keys":null}'),
]
print(json.dumps({
    "issuer": ISSUER, "client_id": CLIENT, "nonce": NONCE, "now": NOW, "keys": json.dumps({"keys": KEYS}),
    "good": [{"name": name, "token": text} for name, text in good.items()],
    "bad": [{"name": name, "code": code, "token": text} for name, code, text in bad] +
           [{"name": name, "code": code, "token": GOOD_TOKEN, "keys": text} for name, code, text in sets],
}, indent=1))
