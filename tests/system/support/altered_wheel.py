"""A copy of a real wheel with other members, tags or another version; RECORD and WHEEL agree with them.

    altered_wheel(wheel, folder, tags=["cp311-cp311-manylinux2014_aarch64"])  # the tags alone
    altered_wheel(wheel, folder, members={"m/_fast.so": other_bytes}, rename={"a.so": "b.so"})  # what is inside
    altered_wheel(wheel, folder, version="1.0+cu126")

So the registry can see the one contradiction only in the bytes.
"""

import csv
import io
import zipfile
from pathlib import Path

from support.wheels import record_hash


def members_of(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def altered_wheel(wheel: Path, folder: Path, tags: list[str] | None = None, members: dict[str, bytes] | None = None,
           rename: dict[str, str] | None = None, version: str | None = None, stored: bool = False) -> Path:
    name, own_version, *own_tags = wheel.name.removesuffix(".whl").split("-")
    version = version or own_version
    tags = tags or ["-".join(own_tags)]
    report = {}
    for member, data in (members_of(wheel) | (members or {})).items():
        member = (rename or {}).get(member, member).replace(f"{name}-{own_version}.dist-info/",
                                                            f"{name}-{version}.dist-info/")
        if member.endswith(".dist-info/METADATA"):
            data = data.replace(f"\nVersion: {own_version}\n".encode(), f"\nVersion: {version}\n".encode())
        if member.endswith(".dist-info/WHEEL"):
            lines = [line for line in data.decode().splitlines() if line and not line.startswith("Tag: ")]
            data = ("\n".join(lines + [f"Tag: {tag}" for tag in tags]) + "\n").encode()
        report[member] = data
    record = f"{name}-{version}.dist-info/RECORD"
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [(member, record_hash(data), len(data)) for member, data in report.items() if member != record] + [(record, "", "")])
    report[record] = text.getvalue().encode()

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{version}-{tags[0]}.whl"
    method = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(path, "w", method) as archive:
        for member, data in report.items():
            archive.writestr(zipfile.ZipInfo(member, (2026, 1, 1, 0, 0, 0)), data, method)
    return path
