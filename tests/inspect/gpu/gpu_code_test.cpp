// Sections and real libraries (tests/support/gpu_objects, by nvcc and clang), compared with the lists of
// cuobjdump and clang-offload-bundler.
#include "lib/inspect/gpu/gpu_code.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <map>

#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "tests/support/elf_writer.hpp"

using namespace wheelyard;
using test_support::ElfImage;
using test_support::FatbinEntry;
using test_support::write_fatbin;
using test_support::write_hip_bundle;
using Names = std::set<std::string>;

namespace {

inspect::GpuFacts read(const std::string& file) {
    const base::MemoryReader reader(file);
    const auto elf = inspect::parse_elf(reader);
    REQUIRE(elf);
    inspect::GpuFacts facts;
    const auto status = inspect::read_gpu_code(reader, *elf, facts);
    REQUIRE_MESSAGE(status, status.error().text());
    return facts;
}

inspect::GpuFacts read_section(const std::string& section, const std::string& bytes) {
    ElfImage image;
    image.sections = {{section, bytes}};
    return read(test_support::write_elf(image));
}

}  // namespace

TEST_CASE("device code is searched only in the sections that compilers use for it") {
    const std::string fatbin = write_fatbin({FatbinEntry{}});
    CHECK(read_section(".nv_fatbin", fatbin).names("cuda_sm") == Names{"sm_90"});
    CHECK(read_section("__nv_relfatbin", fatbin).names("cuda_sm") == Names{"sm_90"});
    CHECK(read_section(".text", fatbin).names("cuda_sm").empty());
    const std::string bundle = write_hip_bundle({"hipv4-amdgcn-amd-amdhsa--gfx90a"});
    CHECK(read_section(".hip_fatbin", bundle).names("hip_gfx") == Names{"gfx90a"});
    CHECK(read_section(".rodata", bundle).names("hip_gfx").empty());
}

TEST_CASE("device code that is not read is noted with its kind") {
    // The sections of a real wheel for Intel's GPUs (dpctl 0.22.1).
    CHECK(read_section("__CLANG_OFFLOAD_BUNDLE__sycl-spir64", "SPIR-V").not_read == Names{"xpu"});
    CHECK(read_section("__CLANG_OFFLOAD_BUNDLE__sycl-spir64_gen", "zebin").not_read == Names{"xpu"});
    for (const char* other : {".tgtimg", "__CLANG_OFFLOAD_BUNDLE__hip-amdgcn", ".text"})
        CHECK(read_section(other, "code").not_read.empty());
    CHECK(read_section(".nv_fatbin", write_fatbin({FatbinEntry{}})).not_read.empty());
    const std::string zebin = test_support::write_elf({.machine = 205});  // EM_INTELGT
    CHECK(read(zebin).not_read == Names{"xpu"});
}

TEST_CASE("many headers for one range of device code are rejected") {
    const std::string fatbin = write_fatbin({FatbinEntry{}});
    ElfImage image;
    for (int i = 0; i < 100; ++i)
        image.sections.emplace_back(".nv_fatbin", fatbin);
    const std::string file = test_support::write_elf(image);
    const base::MemoryReader reader(file);
    auto elf = inspect::parse_elf(reader);
    REQUIRE(elf);
    inspect::GpuFacts facts;
    CHECK(inspect::read_gpu_code(reader, *elf, facts));  // separate ranges are valid

    const std::uint64_t half = elf->file_bytes / 2 + 1;
    std::string zeros(elf->file_bytes, '\0');
    const base::MemoryReader padding(zeros);
    elf->sections = {{".nv_fatbin", 0, half}};
    CHECK(inspect::read_gpu_code(padding, *elf, facts));
    elf->sections.assign(2, {".nv_fatbin", 0, half});
    const auto twice = inspect::read_gpu_code(padding, *elf, facts);
    REQUIRE_FALSE(twice);
    CHECK(twice.error().code == "gpu.malformed");
}

TEST_CASE("the results for real libraries match the GPU vendors' own tools") {
    const std::string folder = WHEELYARD_TEST_DATA "/support/gpu_objects/";
    std::map<std::string, std::map<std::string, Names>> expected;
    std::ifstream listings(folder + "listings.txt");
    for (std::string library, kind, name; listings >> library >> kind >> name;)
        expected[library][kind].insert(name);
    REQUIRE(expected.size() == 20);
    for (auto& [library, lists] : expected) {
        CAPTURE(library);
        const auto bytes = base::read_file(folder + library, base::mib);
        REQUIRE(bytes);
        const inspect::GpuFacts found = read(*bytes);
        CHECK(found.names("cuda_sm") == lists["cuda_sm"]);
        CHECK(found.names("cuda_ptx") == lists["cuda_ptx"]);
        CHECK(found.names("hip_gfx") == lists["hip_gfx"]);
        CHECK(found.hip_unread.empty());
    }
}
