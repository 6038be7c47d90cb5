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
