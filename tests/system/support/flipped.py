"""Single damaged bytes in a wheel, each at a place that has a name: a member's data, or a field of a ZIP header.

The wheel is one of `altered_wheel`: no comment, no ZIP64, no extra fields.
"""

import struct
import zipfile
from pathlib import Path

from support.altered_wheel import members_of

LOCAL_BYTES, CENTRAL_BYTES, END_BYTES = 30, 46, 22

# Field: its offset in the header (APPNOTE 4.3.7, 4.3.12, 4.3.16), and the rules that may refuse a change in it. Versions, internal
# attributes and permissions are left out: they are not compared (docs/reference/wheel-zip.md).
DIFFERS, DIRECTORY, TRUNCATED, DISKS = {"zip.local_differs"}, {"zip.directory_invalid"}, {"zip.truncated"}, {"zip.several_disks"}
LOCAL_FIELDS = {
    "signature": (0, TRUNCATED), "flags": (6, DIFFERS), "method": (8, DIFFERS), "time": (10, DIFFERS), "date": (12, DIFFERS),
    "crc": (14, DIFFERS), "packed size": (18, DIFFERS), "unpacked size": (22, DIFFERS), "name length": (26, DIFFERS),
    "extra length": (28, {"zip.extra_invalid"}), "name": (30, DIFFERS),
}
CENTRAL_FIELDS = {
    "signature": (0, DIRECTORY), "flags": (8, DIFFERS), "method": (10, DIFFERS), "time": (12, DIFFERS), "date": (14, DIFFERS),
    "crc": (16, DIFFERS), "packed size": (20, DIFFERS), "unpacked size": (24, DIFFERS), "name length": (28, DIRECTORY),
    "extra length": (30, DIRECTORY), "comment length": (32, DIRECTORY), "disk": (34, DISKS), "local offset": (42, TRUNCATED),
    "name": (46, DIFFERS),
}
END_FIELDS = {
    "signature": (0, {"zip.no_end_record"}), "disk": (4, DISKS), "directory's disk": (6, DISKS), "entries here": (8, DISKS),
    "entries": (10, DISKS), "comment length": (20, {"zip.trailing_bytes"}),
    # By the flipped bit the directory seems to end before or behind where it does.
    "directory's size": (12, {"zip.prefix", *TRUNCATED}), "directory's offset": (16, {"zip.prefix", *TRUNCATED}),
}


def flipped(wheel: Path, folder: Path, at: int) -> Path:
    data = bytearray(wheel.read_bytes())
    data[at] ^= 0x10
    path = folder / wheel.name
    path.write_bytes(data)
    return path


def packed_again(wheel: Path, folder: Path, members: dict[str, bytes]) -> Path:
    """The archive with other bytes in it and right checksums; RECORD stays as it was."""
    path = folder / wheel.name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in (members_of(wheel) | members).items():
            archive.writestr(zipfile.ZipInfo(member, (2026, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return path


def _central_entries(data: bytes) -> list[int]:
    count, _, at = struct.unpack_from("<HII", data, len(data) - END_BYTES + 10)
    entries = []
    for _ in range(count):
        entries.append(at)
        at += CENTRAL_BYTES + sum(struct.unpack_from("<HHH", data, at + 28))
    return entries


def data_places(wheel: Path) -> dict[str, int]:
    """member → where the middle of its data lies."""
    with zipfile.ZipFile(wheel) as archive:
        infos = archive.infolist()
    data = wheel.read_bytes()
    return {info.filename: info.header_offset + LOCAL_BYTES + sum(struct.unpack_from("<HH", data, info.header_offset + 26)) +
            info.compress_size // 2 for info in infos}


def header_places(wheel: Path) -> list[tuple[str, int, set[str]]]:
    """(field, offset, rules): every field of the end record, and of both headers of the second member."""
    data = wheel.read_bytes()
    central = _central_entries(data)[1]
    local, = struct.unpack_from("<I", data, central + 42)
    return [(f"{header}: {field}", begin + at, rules)
            for header, begin, fields in (("local", local, LOCAL_FIELDS), ("central", central, CENTRAL_FIELDS),
                                          ("end", len(data) - END_BYTES, END_FIELDS))
            for field, (at, rules) in fields.items()]
