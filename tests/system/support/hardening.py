"""What the bytes of a program say of how it was compiled and linked (elf(5), System V ABI)."""

import re
import struct

ET_DYN, PT_LOAD, PT_DYNAMIC, PT_INTERP, PT_GNU_STACK, PT_GNU_RELRO = 3, 1, 2, 3, 0x6474E551, 0x6474E552
DT_FLAGS, DT_FLAGS_1, DF_BIND_NOW, DF_1_PIE, PF_X = 30, 0x6FFFFFFB, 8, 0x08000000, 1
EM_X86_64 = 62
ENDBR64 = b"\xf3\x0f\x1e\xfa"


class Program:
    def __init__(self, data: bytes):
        if data[:6] != b"\x7fELF\x02\x01":
            raise AssertionError("no ELF file of 64 bits, little-endian")
        self.data = data
        self.kind, self.machine = struct.unpack_from("<HH", data, 16)
        self.entry, start = struct.unpack_from("<QQ", data, 24)
        size, count = struct.unpack_from("<HH", data, 54)
        self.segments = [struct.unpack_from("<IIQQQQ", data, at) for at in range(start, start + size * count, size)]

    def segment(self, kind: int) -> tuple | None:
        return next((each for each in self.segments if each[0] == kind), None)

    def tags(self) -> dict[int, int]:
        _, _, offset, _, _, size = self.segment(PT_DYNAMIC)
        return dict(struct.unpack_from("<QQ", self.data, at) for at in range(offset, offset + size, 16))

    def offset_of(self, address: int) -> int:
        return next(address - at + offset for kind, _, offset, at, _, size in self.segments if kind == PT_LOAD and at <= address < at + size)

    def starts_main_with(self, code: bytes) -> bool:
        """Of x86-64 with glibc, whose _start gives main's address to libc: lea …(%rip),%rdi."""
        start = self.offset_of(self.entry)
        lea = self.data.index(b"\x48\x8d\x3d", start, start + 64)
        distance, = struct.unpack_from("<i", self.data, lea + 3)
        main = self.offset_of(self.entry + lea + 7 - start + distance)
        return self.data.startswith(code, main)


def link_lacks(program: Program) -> list[str]:
    """What is missing of: a random address, relocations that are read-only from main() on, no stack that runs code."""
    tags = program.tags() if program.segment(PT_DYNAMIC) else {}
    stack = program.segment(PT_GNU_STACK)
    return [what for what, is_there in {
        "random address": program.kind == ET_DYN and tags.get(DT_FLAGS_1, 0) & DF_1_PIE,
        "read-only relocations": program.segment(PT_GNU_RELRO) and tags.get(DT_FLAGS, 0) & DF_BIND_NOW,
        "stack without code": stack and not stack[1] & PF_X}.items() if not is_there]


def compile_lacks(program: Program) -> list[str]:
    """What is missing, of a dynamic program with glibc: functions that check their frame, libc's functions that check sizes."""
    return [what for what, pattern in {"checked frames": rb"\0__stack_chk_fail\0",
                                       "checked sizes": rb"\0__(mem|str|v?s?n?printf|v?f?printf|read|realpath)\w*_chk\0"}.items()
            if not re.search(pattern, program.data)]
