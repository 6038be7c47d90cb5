"""Genuine wheels for aarch64 and with device code pass the check with the right facts; liars made from them are refused,
each with its own code. No registry is started: this is `wheelyard-registry check`, the same rules as at the upload."""

import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import cross_build
from support.case import main
from support.farm import BIN, COMMAND_TIMEOUT_S, ROOT, scrubbed_environment
from support.flipped import data_places, flipped, header_places, packed_again
from support.package_index import FAST_C
from support.altered_wheel import altered_wheel, members_of
from support.wheels import Wheel

GPU_OBJECTS = ROOT / "tests" / "support" / "gpu_objects"
# The same module with a symbol that glibc has on aarch64 from its first day, and with one that it has since 2.34 only.
LIBC_C = FAST_C.replace("return PyLong_FromLong(42);", 'return PyLong_FromLong(getenv("PATH") ? 42 : 0);')
NEWER_C = FAST_C.replace("#include <Python.h>", """#include <Python.h>
#include <pthread.h>
static void* nothing(void* argument) { return argument; }
int start(pthread_t* thread) { return pthread_create(thread, 0, nothing, 0); }""")


def check(*wheels: Path, options: tuple = ()) -> list[dict]:
    """What `wheelyard-registry check` finds, wheel by wheel, in the order given."""
    home = wheels[0].parent
    done = subprocess.run([BIN / "wheelyard-registry", "check", "--json", "--facts", *options, *wheels],
                          env=scrubbed_environment(home), capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
    if done.returncode not in (0, 1) or done.stderr:
        raise AssertionError(f"check: {done.returncode} {done.stdout}{done.stderr}")
    reports = json.loads(done.stdout)["wheels"]
    refused = any(not report["accepted"] for report in reports)
    if len(reports) != len(wheels) or done.returncode != int(refused):
        raise AssertionError(f"check of {len(wheels)}: {done.returncode} {done.stdout}")
    return reports


def rejected_by(report: dict) -> set[str]:
    return {verdict["code"] for verdict in report["verdicts"] if verdict["severity"] == "reject"}


class CheckCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = Path(tempfile.mkdtemp(prefix="wheelyard-liars-"))
        cls.addClassCleanup(shutil.rmtree, cls.root, ignore_errors=True)

    def folder(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self.root))

    def assert_accepted(self, wheel: Path) -> dict:
        report, = check(wheel)
        self.assertTrue(report["accepted"], report["verdicts"])
        return report["facts"]

    def assert_refused(self, wheel: Path, code: str, *evidence: str):
        report, = check(wheel)
        self.assertEqual(rejected_by(report), {code}, report["verdicts"])
        for phrase in evidence:
            self.assertIn(phrase, str(report["verdicts"]))


@unittest.skipUnless(cross_build.CAN_BUILD, "cross-builds from x86_64")
class CrossBuiltTest(CheckCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cross_build.require_compiler()
        cls.wheel = cross_build.build_aarch64_wheel(cls.root / "truth", "yard-fast", LIBC_C)
        cls.extension, = (name for name in members_of(cls.wheel) if name.endswith(".so"))
        cls.python = cls.wheel.name.split("-")[2]  # cp311

    def test_the_genuine_wheel_is_accepted_and_its_facts_are_the_other_machines(self):
        self.assertTrue(self.wheel.name.endswith("-linux_aarch64.whl"), self.wheel.name)
        facts = self.assert_accepted(self.wheel)
        self.assertEqual(facts["machines"], ["aarch64"])
        self.assertEqual(facts["elf_files"], 1)
        self.assertEqual(facts["symbol_floors"], {"GLIBC": "2.17"})

    def test_another_tag_that_holds_is_accepted_too(self):
        self.assert_accepted(altered_wheel(self.wheel, self.folder(), [f"{self.python}-{self.python}-manylinux2014_aarch64"]))

    def test_an_object_for_another_machine_is_refused(self):
        source = self.folder()
        (source / "fast.c").write_text("int answer(void) { return 42; }\n")
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", "fast.so", "fast.c"], cwd=source, check=True)
        liar = altered_wheel(self.wheel, self.folder(), members={self.extension: (source / "fast.so").read_bytes()})
        self.assert_refused(liar, "elf.machine_mismatch", self.extension, "x86_64", "aarch64")

    def test_a_manylinux_tag_older_than_the_symbols_is_refused(self):
        newer = cross_build.build_aarch64_wheel(self.folder() / "newer", "yard-newer", NEWER_C)
        self.assertEqual(self.assert_accepted(newer)["symbol_floors"]["GLIBC"], "2.34")
        liar = altered_wheel(newer, self.folder(), [f"{self.python}-{self.python}-manylinux2014_aarch64"])
        self.assert_refused(liar, "elf.glibc_above_policy", "GLIBC_2.34", "manylinux2014_aarch64")

    def test_compiled_code_under_the_tag_any_is_refused(self):
        liar = altered_wheel(self.wheel, self.folder(), ["py3-none-any"])
        self.assert_refused(liar, "tag.any_with_elf", self.extension)

    def test_a_module_for_another_python_is_refused(self):
        digits = self.python.removeprefix("cp")
        other = self.extension.replace(f"cpython-{digits}", f"cpython-{int(digits) + 1}")
        self.assertNotEqual(other, self.extension)
        liar = altered_wheel(self.wheel, self.folder(), rename={self.extension: other})
        self.assert_refused(liar, "elf.python_mismatch", other, self.python)

    def test_a_promise_of_gpu_code_that_is_not_there_is_refused(self):
        for local in ("cu126", "rocm6.2"):
            with self.subTest(local):
                self.assert_refused(altered_wheel(self.wheel, self.folder(), version=f"1.0+{local}"),
                                    "gpu.promised_not_there", f"+{local}")

    def test_a_flipped_byte_in_any_member_is_refused(self):
        cases, expected = [], []
        for stored in (False, True):
            whole = altered_wheel(self.wheel, self.folder(), stored=stored)
            for member, at in data_places(whole).items():
                cases.append(flipped(whole, self.folder(), at))
                expected.append((member, stored))
        for (member, stored), report in zip(expected, check(*cases), strict=True):
            with self.subTest(member=member, stored=stored):
                codes = {"zip.crc_mismatch"} if stored else {"zip.crc_mismatch", "zip.deflate_invalid", "zip.size_mismatch"}
                self.assertTrue(rejected_by(report) & codes, report["verdicts"])
                self.assertIn(member, [verdict.get("member") for verdict in report["verdicts"]])

    def test_a_flipped_byte_whose_checksum_was_made_to_fit_is_refused_by_RECORD(self):
        for member, data in members_of(self.wheel).items():
            if member.endswith("/RECORD"):
                continue
            with self.subTest(member):
                changed = data[:-1] + bytes([data[-1] ^ 1])
                report, = check(packed_again(self.wheel, self.folder(), {member: changed}))
                self.assertIn("record.hash_mismatch", rejected_by(report), report["verdicts"])

    def test_a_flipped_byte_in_any_header_is_refused_with_the_code_of_its_field(self):
        whole = altered_wheel(self.wheel, self.folder())
        places = header_places(whole)
        reports = check(*(flipped(whole, self.folder(), at) for _, at, _ in places))
        for (field, _, codes), report in zip(places, reports, strict=True):
            with self.subTest(field):
                self.assertTrue(rejected_by(report) & codes, (codes, report["verdicts"]))


class DeviceCodeTest(CheckCase):
    def wheel(self, library: str, version: str) -> Path:
        module = f"yard_gpu/{library.replace('-', '_')}"
        return Wheel("yard-gpu", version, tags=("py3-none-linux_x86_64",),
                     extra_members={module: (GPU_OBJECTS / library).read_bytes()}).write(self.folder())

    def test_the_facts_are_the_lists_of_the_gpu_makers_tools(self):
        listed: dict[str, dict[str, list[str]]] = {}
        for row in (GPU_OBJECTS / "listings.txt").read_text().splitlines():
            library, kind, name = row.split()
            listed.setdefault(library, {}).setdefault(kind, []).append(name)
        self.assertEqual(len(listed), 20)
        wheels = [self.wheel(library, "1.0+cu126" if library.startswith("cuda") else "1.0+rocm6.2") for library in listed]
        for (library, lists), report in zip(listed.items(), check(*wheels), strict=True):
            with self.subTest(library):
                self.assertTrue(report["accepted"], report["verdicts"])
                found = {kind: report["facts"][kind] for kind in ("cuda_sm", "cuda_ptx", "hip_gfx")}
                self.assertEqual(found, {kind: sorted(lists.get(kind, [])) for kind in found})

    def test_code_for_the_other_makers_gpus_keeps_no_promise(self):
        self.assert_refused(self.wheel("hip-zstd-3.so", "1.0+cu126"), "gpu.promised_not_there", "+cu126")
        self.assert_refused(self.wheel("cuda-size.so", "1.0+rocm6.2"), "gpu.promised_not_there", "+rocm6.2")

    def test_device_code_must_run_on_the_machines_that_the_policy_names(self):
        wheels = [self.wheel("cuda-size.so", "1.0"), self.wheel("hip-zstd-3.so", "1.0")]  # sm_80 and later; gfx90a
        policy = self.folder() / "policy.toml"
        for architecture, accepted in (("sm_86", [True, False]), ("sm_75", [False, False]), ("gfx90a", [False, True])):
            with self.subTest(architecture):
                policy.write_text(f'gpu_architectures = ["{architecture}"]\n')
                reports = check(*wheels, options=("--policy", policy))
                self.assertEqual([report["accepted"] for report in reports], accepted)
                for report in reports:
                    self.assertEqual(rejected_by(report), set() if report["accepted"] else {"gpu.architecture_missing"})


if __name__ == "__main__":
    main()
