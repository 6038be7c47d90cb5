"""What real compilers make is seen for what it is: objects built here, right and wrong, in wheels with honest and lying tags."""

import json
import platform
import subprocess
import unittest
import urllib.request
from pathlib import Path

from support.case import FarmCase, main
from support.clients import RawUpload
from support.farm import INDEX, Farm
from support.wheels import Wheel

MACHINE = platform.machine()
LINUX = f"cp311-cp311-linux_{MACHINE}"
MANYLINUX = f"cp311-cp311-manylinux_2_17_{MACHINE}"

C_MODULE = "void *PyList_New(long); void *PyType_GetTypeDataSize(void *); int puts(const char *);" \
           "void *PyInit_truth(void) { puts(\"\"); return PyList_New((long)PyType_GetTypeDataSize(0)); }"
CXX_MODULE = "#include <string>\nstd::string shout(const std::string &text) { return text + '!'; }"


def needed_by_readelf(path: Path) -> list[str]:
    lines = subprocess.run(["readelf", "-dW", path], capture_output=True, text=True, check=True).stdout.splitlines()
    return sorted(line.split("[")[1].rstrip("]") for line in lines if "(NEEDED)" in line)


class TruthTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        cls.farm = cls.enterClassContext(Farm())

    def compile(self, source: str, *options: str, compiler: str = "gcc", suffix: str = "c") -> bytes:
        text, built = self.folder / f"source.{suffix}", self.folder / "built.so"
        text.write_text(source)
        subprocess.run([compiler, "-shared", "-fPIC", "-o", built, text, *options], check=True, timeout=120)
        self.needed = needed_by_readelf(built)
        return built.read_bytes()

    def check(self, tag: str, member: str, data: bytes, *options: str) -> dict:
        """The document of `check --json` about a wheel with this one module."""
        path = Wheel("truth", tags=(tag,), extra_members={member: data}).write(self.folder / "dist")
        done = self.farm.run("wheelyard-registry", "check", "--json", *options, path)
        document = json.loads(done.stdout)["wheels"][0]
        self.assertEqual(done.returncode, 0 if document["outcome"] == "accepted" else 1, done.stdout + done.stderr)
        return document

    def assert_codes(self, document: dict, outcome: str, *codes: str):
        self.assertEqual(document["outcome"], outcome, document["verdicts"])
        self.assertEqual({verdict["code"] for verdict in document["verdicts"]}, set(codes))

    def test_a_check_starts_without_the_http_library(self):
        """Two thirds of a tiny wheel's check were spent on loading libcurl's libraries."""
        listed = self.farm.run("wheelyard-registry", "--version",
                               environment={**self.farm.environment, "LD_TRACE_LOADED_OBJECTS": "1"})
        self.assertIn("libcrypto", listed.stdout)
        self.assertNotIn("libcurl", listed.stdout)

    def test_what_gpp_builds_says_its_libraries_versions_and_strings(self):
        for flag, abi in (("1", "true"), ("0", "false")):
            data = self.compile(CXX_MODULE, f"-D_GLIBCXX_USE_CXX11_ABI={flag}", "-g", compiler="g++", suffix="cpp")
            document = self.check(LINUX, "truth/_truth.so", data)
            self.assert_codes(document, "accepted")
            facts = document["facts"]
            self.assertEqual(facts["cxx11_abi"], abi)
            self.assertEqual(facts["needed"], {"system": self.needed})
            self.assertIn("GLIBCXX", facts["symbol_floors"])
            self.assertGreater(facts["debug_bytes"], 0)

    def test_an_abi3_module_with_a_later_name_is_found(self):
        data = self.compile(C_MODULE)
        lying = self.check(f"cp39-abi3-linux_{MACHINE}", "truth/_truth.abi3.so", data)
        self.assert_codes(lying, "refused", "elf.abi3_too_new")
        honest = self.check(f"cp312-abi3-linux_{MACHINE}", "truth/_truth.abi3.so", data)
        self.assert_codes(honest, "accepted")
        self.assertEqual(honest["facts"]["stable_abi_floor"], "3.12")
        self.assertEqual(honest["facts"]["libc"], ["glibc"])

    def test_a_module_for_another_python_is_found(self):
        data = self.compile("int x;")
        self.assert_codes(self.check(LINUX, f"truth/_truth.cpython-312-{MACHINE}-linux-gnu.so", data), "refused",
                          "elf.python_mismatch")

    def test_a_search_path_is_refused_or_noted_until_the_policy_names_its_tree(self):
        data = self.compile("int x;", "-Wl,-rpath,/scratch/farm/openmpi/4.1.5/lib")
        self.assert_codes(self.check(LINUX, "truth/_truth.so", data), "refused", "elf.search_path")
        data = self.compile("int x;", "-Wl,-rpath,/sw/farm/openmpi/4.1.5/lib")
        self.assert_codes(self.check(LINUX, "truth/_truth.so", data), "accepted", "elf.search_path_of_root")
        policy = self.folder / "policy.toml"
        policy.write_text('rpath_prefixes = ["/sw/farm"]\n')
        allowed = self.check(LINUX, "truth/_truth.so", data, "--policy", str(policy))
        self.assert_codes(allowed, "accepted", "elf.needs_module")
        self.assertEqual(allowed["facts"]["modules"], ["openmpi/4.1.5"])

    def test_an_unknown_library_under_a_manylinux_tag_is_quarantined_or_refused(self):
        odd = self.folder / "libodd.so.1"
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", odd, "-x", "c", "/dev/null", "-Wl,-soname,libodd.so.1"],
                       check=True, timeout=120)
        data = self.compile("int x;", "-Wl,--no-as-needed", str(odd))
        self.assert_codes(self.check(MANYLINUX, "truth/_truth.so", data), "quarantined", "elf.needed_unknown")
        self.assert_codes(self.check(MANYLINUX, "truth/_truth.so", data, "--policy", "manylinux-strict"), "refused",
                          "elf.needed_unknown")
        self.assert_codes(self.check(LINUX, "truth/_truth.so", data), "accepted")

    @unittest.skipUnless(MACHINE == "x86_64", "the notes of x86-64")
    def test_the_processor_that_a_file_demands_is_noted(self):
        data = self.compile("int x;", "-Wl,-z,x86-64-v3", "-Wl,-z,ibt")
        document = self.check(LINUX, "truth/_truth.so", data)
        self.assert_codes(document, "accepted", "elf.isa_above_baseline")
        self.assertEqual(document["facts"]["isa_needed"], "x86-64-v3")

    def test_whether_an_extension_fits_a_torch_is_what_the_dynamic_linker_says(self):
        torch = self.compile("#include <string>\nnamespace at { int zeros(std::string) { return 0; } }", compiler="g++", suffix="cpp")
        (self.folder / "libtorch_cpu.so").write_bytes(torch)
        wheel = Wheel("torch", "2.6.0", tags=(LINUX,), extra_members={"torch/lib/libtorch_cpu.so": torch})
        path = wheel.write(self.folder / "torch")
        calls = "#include <string>\nnamespace at {{ int {name}(std::string); }} extern \"C\" int run() {{ return at::{name}({{}}); }}"
        for name, strings, sentence in (("zeros", 1, "torch 2.6.0 has all 1 names"),
                                        ("ones", 1, "torch 2.6.0 lacks `at::ones`"),
                                        ("zeros", 0, "it is built for the old std::string")):
            data = self.compile(calls.format(name=name), f"-D_GLIBCXX_USE_CXX11_ABI={strings}", compiler="g++", suffix="cpp")
            extension = self.folder / "extension.so"
            extension.write_bytes(data)
            load = f"import ctypes as c; c.CDLL('{self.folder}/libtorch_cpu.so', c.RTLD_GLOBAL); c.CDLL('{extension}')"
            loaded = subprocess.run(["python3", "-c", load], capture_output=True, text=True, timeout=240)
            companion = Wheel("vision", tags=(LINUX,), extra_members={"vision/_C.so": data}).write(self.folder / "dist")
            done = self.farm.run("wheelyard-registry", "check", "--json", "--with", path, companion)
            answer = json.loads(done.stdout)["wheels"][0]["with"]
            self.assertEqual(answer["fits"], "no" if "undefined symbol" in loaded.stderr else "yes", loaded.stderr + answer["sentence"])
            self.assertEqual(done.returncode, loaded.returncode)
            self.assertIn(sentence, answer["sentence"])

    def test_a_policy_with_a_misspelt_rule_is_reported(self):
        policy = self.folder / "policy.toml"
        policy.write_text('"elf.serch_path" = "warn"\n')
        done = self.farm.run("wheelyard-registry", "check", "--policy", policy, self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn('did you mean "elf.search_path"?', done.stderr)
        done = self.farm.run("wheelyard-registry", "check", "--policy", "mirrors", self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn('did you mean "mirror"?', done.stderr)


class QuarantineTest(FarmCase):
    """A quarantined wheel is kept and reported, and no client gets it until it is released."""

    @classmethod
    def setUpClass(cls):
        cls.farm = cls.enterClassContext(Farm(index_settings='[index.policy]\n"tag.platform_without_elf" = "quarantine"'))
        cls.token = cls.farm.create_token()
        cls.farm.start()

    def shown(self) -> str:
        with urllib.request.urlopen(self.farm.simple_url() + "held/", timeout=240) as page:
            return page.read().decode()

    def test_a_quarantined_wheel_is_kept_and_not_offered_until_it_is_released(self):
        offered = Wheel("held", "1.0").write(self.folder)
        held = Wheel("held", "1.1", tags=(LINUX,)).write(self.folder)
        self.assertEqual(RawUpload(self.farm, self.token, offered).send()[0], 200)
        for _ in range(2):  # and a retry learns the same
            status, _ = RawUpload(self.farm, self.token, held).send()
            self.assertEqual(status, 422)
        self.assertIn(offered.name, self.shown())
        self.assertNotIn(held.name, self.shown())
        done = self.farm.run("wheelyard-registry", "release", INDEX, held.name, "--reason", "looked through it", "-c",
                             self.farm.config)
        self.assert_ran(done)
        self.assertIn(held.name, self.shown())


if __name__ == "__main__":
    main()
