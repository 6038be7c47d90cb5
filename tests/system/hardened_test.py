"""The programs of this build are linked as distributions link theirs: at a random address, also the static ones, with what
relocations write read-only from main() on, and no stack that runs code. Reads ELF headers (elf(5), System V ABI)."""

import struct
import unittest

from support.case import main
from support.farm import BIN

PROGRAMS = ("wheelyard-builder", "wheelyard-governor", "wheelyard-registry", "wheelyard-indexer", "avail_wheels", "avail_wheels-static")
STATIC = ("wheelyard-governor", "avail_wheels-static")
ET_DYN, PT_DYNAMIC, PT_INTERP, PT_GNU_STACK, PT_GNU_RELRO = 3, 2, 3, 0x6474E551, 0x6474E552
DT_FLAGS, DT_FLAGS_1, DF_BIND_NOW, DF_1_PIE, PF_X = 30, 0x6FFFFFFB, 8, 0x08000000, 1


def headers(data: bytes) -> tuple[int, dict[int, tuple[int, int, int]]]:
    """The type of the file, and its program headers: type → (flags, offset, size)."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise AssertionError("no ELF file of 64 bits, little-endian")
    kind, = struct.unpack_from("<H", data, 16)
    start, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    found = {}
    for at in range(start, start + size * count, size):
        each, flags, offset = struct.unpack_from("<IIQ", data, at)
        found[each] = (flags, offset, struct.unpack_from("<Q", data, at + 32)[0])
    return kind, found


def dynamic(data: bytes, segment: tuple[int, int, int]) -> dict[int, int]:
    _, offset, size = segment
    return dict(struct.unpack_from("<QQ", data, at) for at in range(offset, offset + size, 16))


class HardenedTest(unittest.TestCase):
    def test_each_program_has_a_random_address_and_read_only_relocations(self):
        for name in PROGRAMS:
            with self.subTest(name):
                data = (BIN / name).read_bytes()
                if b"__asan_init" in data or b"__tsan_init" in data:
                    self.skipTest("a sanitizer's build")
                kind, segments = headers(data)
                self.assertEqual(kind, ET_DYN)
                self.assertEqual(PT_INTERP in segments, name not in STATIC)
                self.assertIn(PT_GNU_RELRO, segments)
                self.assertEqual(segments[PT_GNU_STACK][0] & PF_X, 0)
                tags = dynamic(data, segments[PT_DYNAMIC])
                self.assertTrue(tags.get(DT_FLAGS, 0) & DF_BIND_NOW)
                self.assertTrue(tags.get(DT_FLAGS_1, 0) & DF_1_PIE)


if __name__ == "__main__":
    main()
