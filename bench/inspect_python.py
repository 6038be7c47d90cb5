#!/usr/bin/env python3
"""A careful Python script that checks a wheel: tests the zip (every CRC) and hashes every member against RECORD.

  inspect_python.py FILE.whl       exit status 1: something differs
"""

import base64
import csv
import hashlib
import io
import sys
import zipfile

PIECE_BYTES = 1 << 20


def digest_of(archive, name, algorithm):
    digest = hashlib.new(algorithm)
    with archive.open(name) as member:  # zipfile compares the CRC-32 at the member's end
        while piece := member.read(PIECE_BYTES):
            digest.update(piece)
    return base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()


def main():
    with zipfile.ZipFile(sys.argv[1]) as archive:
        record = next(name for name in archive.namelist() if name.endswith(".dist-info/RECORD"))
        rows = {row[0]: row[1] for row in csv.reader(io.StringIO(archive.read(record).decode())) if row}
        members = [info.filename for info in archive.infolist() if not info.is_dir()]
        differing = set(members) ^ set(rows)
        for name in members:
            algorithm, _, expected = rows.get(name, "").partition("=")
            if algorithm and digest_of(archive, name, algorithm) != expected:
                differing.add(name)
    print("\n".join(sorted(differing)) or f"{len(members)} members as RECORD says")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
