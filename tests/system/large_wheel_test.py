"""A wheel beyond 4 GiB, as Python's zipfile writes it: ZIP64 sizes and offsets, one member stored and one packed 1,000 to 1.
The zeros of the stored one are a hole in the file. Only `scripts/test --full` runs this: it unpacks 17 GB."""

import base64
import contextlib
import hashlib
import json
import resource
import shutil
import subprocess
import tempfile
import unittest
import zipfile
from pathlib import Path

from support.case import main
from support.farm import BIN, scrubbed_environment

LARGE = (4 << 30) + 12345  # a size that does not fit in 32 bits
PIECE = bytes(8 << 20)
CHECK_TIMEOUT_S = 800
MEMORY_LIMIT_KIB = 200_000


class SparseFile:
    """A file for zipfile in which pieces of zeros are left out instead of written."""

    def __init__(self, path: Path):
        self._file = path.open("w+b")
        self.tell, self.read, self.flush, self.close = self._file.tell, self._file.read, self._file.flush, self._file.close
        self.seek, self.seekable = self._file.seek, self._file.seekable

    def write(self, data: bytes) -> int:
        if data != PIECE:
            return self._file.write(data)
        self._file.seek(len(data), 1)
        return len(data)


def zeros(size: int):
    while size > 0:
        yield PIECE if size >= len(PIECE) else bytes(size)
        size -= len(PIECE)


def write_large_wheel(folder: Path) -> Path:
    digest = hashlib.sha256()
    for piece in zeros(LARGE):
        digest.update(piece)
    small = {"large/__init__.py": b"", "large/after.txt": b"beyond four gibibytes\n"}
    info = "large-1.0.dist-info"
    small[f"{info}/METADATA"] = b"Metadata-Version: 2.1\nName: large\nVersion: 1.0\n"
    small[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"

    def row(name: str, hashed: "hashlib._Hash", size: int) -> str:
        return f"{name},sha256={base64.urlsafe_b64encode(hashed.digest()).rstrip(b'=').decode()},{size}\n"

    record = "".join(row(name, hashlib.sha256(data), len(data)) for name, data in small.items())
    record += row("large/stored.bin", digest, LARGE) + row("large/packed.bin", digest, LARGE) + f"{info}/RECORD,,\n"
    path = folder / "large-1.0-py3-none-any.whl"
    with contextlib.closing(SparseFile(path)) as sparse, zipfile.ZipFile(sparse, "w") as archive:
        for name, method in (("large/packed.bin", zipfile.ZIP_DEFLATED), ("large/stored.bin", zipfile.ZIP_STORED)):
            entry = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            entry.compress_type = method
            with archive.open(entry, "w", force_zip64=True) as member:
                for piece in zeros(LARGE):
                    member.write(piece)
        for name, data in {**small, f"{info}/RECORD": record.encode()}.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data)
    return path


class LargeWheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = Path(tempfile.mkdtemp(prefix="wheelyard-large-"))
        cls.addClassCleanup(shutil.rmtree, cls.root, ignore_errors=True)
        cls.wheel = write_large_wheel(cls.root)
        cls.policy = cls.root / "policy.toml"
        cls.policy.write_text("unpacked_ratio = 1032\n")

    def check(self, *options) -> dict:
        done = subprocess.run([BIN / "wheelyard-registry", "check", "--json", *options, self.wheel],
                              env=scrubbed_environment(self.root), capture_output=True, text=True, timeout=CHECK_TIMEOUT_S)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(done.stdout)["wheels"][0]

    def codes(self, report: dict) -> set[tuple[str, str]]:
        return {(verdict["code"], verdict.get("member", "")) for verdict in report["verdicts"]}

    def test_a_wheel_beyond_4_gib_is_proven_in_little_memory(self):
        report = self.check("--policy", self.policy)
        self.assertEqual((report["outcome"], report["verdicts"]), ("accepted", []))
        self.assertGreater(report["facts"]["size_bytes"], 1 << 32)
        self.assertGreater(report["facts"]["unpacked_bytes"], 2 * LARGE)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, MEMORY_LIMIT_KIB)

    def test_what_unpacks_to_a_thousand_times_its_size_is_a_bomb_where_no_policy_lets_it_in(self):
        self.assertEqual(self.codes(self.check()), {("zip.bomb", "large/packed.bin")})

    def test_a_byte_flipped_behind_4_gib_is_found(self):
        with zipfile.ZipFile(self.wheel) as archive:
            begin = archive.getinfo("large/stored.bin").header_offset
        with self.wheel.open("r+b") as file:
            file.seek(begin + LARGE)
            file.write(b"\1")
        try:
            self.assertEqual(self.codes(self.check("--policy", self.policy)), {("zip.crc_mismatch", "large/stored.bin")})
        finally:
            with self.wheel.open("r+b") as file:
                file.seek(begin + LARGE)
                file.write(b"\0")


if __name__ == "__main__":
    main()
