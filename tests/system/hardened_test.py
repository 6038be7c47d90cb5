"""The programs of this build are compiled and linked as distributions do it: support/hardening.py says what that is."""

import unittest

from support.case import main
from support.farm import BIN
from support.hardening import EM_X86_64, ENDBR64, PT_INTERP, Program, compile_lacks, link_lacks

DYNAMIC = ("wheelyard-builder", "wheelyard-registry", "wheelyard-indexer", "avail_wheels")
STATIC = ("wheelyard-governor", "avail_wheels-static")


class HardenedTest(unittest.TestCase):
    def test_each_program_is_compiled_and_linked_as_distributions_do_it(self):
        for name in (*DYNAMIC, *STATIC):
            with self.subTest(name):
                program = Program((BIN / name).read_bytes())
                if b"__asan_init" in program.data or b"__tsan_init" in program.data:
                    self.skipTest("a sanitizer's build")
                self.assertEqual(bool(program.segment(PT_INTERP)), name in DYNAMIC)
                self.assertEqual(link_lacks(program), [])
                if name in DYNAMIC:
                    self.assertEqual(compile_lacks(program), [])
                if program.machine == EM_X86_64:  # crt1.o of Debian 12 has no note of it, so that the linker writes none
                    self.assertTrue(program.starts_main_with(ENDBR64))


if __name__ == "__main__":
    main()
