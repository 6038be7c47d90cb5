"""A certificate for a server on loopback."""

import subprocess
from pathlib import Path


def make_certificate(folder: Path, name: str) -> None:
    """`folder`/chain.pem and key.pem: self-signed, for 127.0.0.1 and the host `name`, its subject too. Each is put in place at once."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", f"/CN={name}", "-addext", f"subjectAltName=IP:127.0.0.1,DNS:{name}", "-keyout", folder / "new-key.pem",
                    "-out", folder / "new-chain.pem"], check=True, capture_output=True)
    for part in ("key", "chain"):
        (folder / f"new-{part}.pem").rename(folder / f"{part}.pem")


def make_certificate_of_authority(folder: Path) -> None:
    """`folder`/authority.pem, and by it chain.pem and key.pem for 127.0.0.1: uv trusts no certificate that is its own authority."""
    def openssl(*words) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *key, "-days", "2", "-subj", "/CN=authority", "-keyout", "authority-key.pem", "-out", "authority.pem")
    openssl("req", "-new", *key, "-subj", "/CN=127.0.0.1", "-keyout", "key.pem", "-out", "request.pem")
    (folder / "extensions").write_text("subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
    openssl("x509", "-req", "-in", "request.pem", "-CA", "authority.pem", "-CAkey", "authority-key.pem", "-CAcreateserial", "-days", "2",
            "-extfile", "extensions", "-out", "chain.pem")
