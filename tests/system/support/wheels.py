"""Wheels made for the purpose: right in everything, or wrong in exactly the one thing that a test is about.

    Wheel("six-pack", "1.0").write(folder)
    Wheel("six-pack", "1.0", metadata_name="other").write(folder)      # METADATA contradicts the file name
"""

from __future__ import annotations  # for Python 3.9

import base64
import csv
import hashlib
import io
import re
import zipfile
from dataclasses import dataclass, field
from pathlib import Path


def record_hash(data: bytes) -> str:
    """The binary distribution format's way to write a digest: url-safe base64 without padding."""
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def sha256_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@dataclass
class Wheel:
    name: str
    version: str = "1.0"
    tags: tuple[str, ...] = ("py3-none-any",)
    requires_python: str | None = None
    extra_members: dict[str, bytes] = field(default_factory=dict)
    metadata_lines: tuple[str, ...] = ()  # more of METADATA's head: "Requires-Dist: six"
    summary: str = "made for a test"
    description: str = ""
    # The lies, each None or empty for the truth.
    metadata_name: str | None = None
    metadata_version: str | None = None
    wheel_tags: tuple[str, ...] | None = None  # what WHEEL says
    record_changes: dict[str, str | None] = field(default_factory=dict)  # member → its hash, None: unlisted
    value: int = 1  # what the module's `value` is: two wheels of one name with other bytes

    @property
    def module(self) -> str:
        return re.sub(r"[-_.]+", "_", self.name).lower()

    @property
    def filename(self) -> str:
        return f"{self.module}-{self.version}-{self.tags[0]}.whl"

    def members(self) -> dict[str, bytes]:
        info = f"{self.module}-{self.version}.dist-info"
        metadata = [
            "Metadata-Version: 2.1",
            f"Name: {self.metadata_name or self.name}",
            f"Version: {self.metadata_version or self.version}",
            f"Summary: {self.summary}",
        ]
        if self.requires_python:
            metadata.append(f"Requires-Python: {self.requires_python}")
        metadata += self.metadata_lines
        pure = all(tag.endswith("-any") for tag in self.tags)
        wheel = ["Wheel-Version: 1.0", "Generator: tests", f"Root-Is-Purelib: {str(pure).lower()}"]
        wheel += [f"Tag: {tag}" for tag in (self.wheel_tags or self.tags)]
        members = {f"{self.module}/__init__.py": f"value = {self.value}\n".encode(), **self.extra_members}
        members[f"{info}/METADATA"] = ("\n".join(metadata) + "\n\n" + (self.description or "Made for a test.\n")).encode()
        members[f"{info}/WHEEL"] = ("\n".join(wheel) + "\n").encode()
        rows = [(name, record_hash(data), str(len(data))) for name, data in members.items()]
        rows = [(name, self.record_changes.get(name, digest), size) for name, digest, size in rows]
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(
            [row for row in rows if row[1] is not None] + [(f"{info}/RECORD", "", "")])
        members[f"{info}/RECORD"] = text.getvalue().encode()
        return members

    def write(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / self.filename
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in self.members().items():
                # A fixed time: the same wheel has the same bytes wherever and whenever it is made.
                archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
        return path


def incompressible(size: int, seed: int = 1) -> bytes:
    """`size` bytes that no compression shrinks and every run repeats."""
    blocks = (hashlib.sha256(f"{seed}:{i}".encode()).digest() for i in range(size // 32 + 1))
    return b"".join(blocks)[:size]
