#include "lib/inspect/gpu_code.hpp"

#include <doctest/doctest.h>

#include "tests/support/elf_writer.hpp"

using namespace wheelyard;
using test_support::ElfImage;
using test_support::FatbinEntry;
using test_support::write_fatbin;
using test_support::write_hip_bundle;
using Names = std::set<std::string>;

namespace {

struct Read {
    inspect::GpuFacts facts;
    base::Status status;
};

Read read(const std::string& section, const std::string& bytes) {
    ElfImage image;
    image.sections = {{section, bytes}};
    const std::string file = test_support::write_elf(image);
    const base::MemoryReader reader(file);
    const auto elf = inspect::parse_elf(reader);
    REQUIRE(elf);
    Read result;
    result.status = inspect::read_gpu_code(reader, *elf, result.facts);
    return result;
}

const std::string host = "host-x86_64-unknown-linux";
const std::string gpu = "hipv4-amdgcn-amd-amdhsa--";

}  // namespace

TEST_CASE("machine code and PTX are told apart, over several fatbins with gaps") {
    const std::string bytes = write_fatbin({FatbinEntry{2, 70}, FatbinEntry{2, 90}}) + std::string(24, '\0') +
                              write_fatbin({FatbinEntry{2, 90}, FatbinEntry{1, 100}});
    for (const std::string section : {".nv_fatbin", "__nv_relfatbin"}) {
        const Read found = read(section, bytes);
        REQUIRE(found.status);
        CHECK(found.facts.cuda_sm == Names{"sm_70", "sm_90"});
        CHECK(found.facts.cuda_ptx == Names{"compute_100"});
    }
}

TEST_CASE("code for one arch or one family only is named so") {
    const auto flagged = [](std::uint16_t kind, std::uint32_t arch, std::uint64_t flags) {
        FatbinEntry entry{kind, arch};
        entry.flags = flags;
        return entry;
    };
    const Read found =
        read(".nv_fatbin",
             write_fatbin({flagged(2, 90, 0x108011), flagged(2, 90, 0x8011), flagged(2, 103, 0x1208011),
                           flagged(2, 120, 0x1008011), flagged(1, 100, 0x102011)}));
    REQUIRE(found.status);
    CHECK(found.facts.cuda_sm == Names{"sm_90", "sm_90a", "sm_103f", "sm_120"});
    CHECK(found.facts.cuda_ptx == Names{"compute_100a"});
}

TEST_CASE("HIP targets keep their features; the host's entry is none") {
    const std::string bytes = write_hip_bundle({host, gpu + "gfx90a:xnack-", gpu + "gfx1030"}) +
                              std::string(4096, '\0') +
                              write_hip_bundle({host, gpu + "gfx942:sramecc+:xnack-"});
    const Read found = read(".hip_fatbin", bytes);
    REQUIRE_MESSAGE(found.status, found.status.error().text());
    CHECK(found.facts.hip_gfx == Names{"gfx90a:xnack-", "gfx1030", "gfx942:sramecc+:xnack-"});
}

TEST_CASE("a compressed bundle is said to be one") {
    const Read found = read(".hip_fatbin", "CCOB" + std::string(60, 'z'));
    REQUIRE(found.status);
    CHECK(found.facts.hip_compressed);
    CHECK(found.facts.hip_gfx.empty());
}

TEST_CASE("code of other sections is not looked at") {
    const Read found = read(".text", write_fatbin({FatbinEntry{}}));
    CHECK(found.status);
    CHECK(found.facts.cuda_sm.empty());
}

TEST_CASE("what cannot be walked is malformed, and what was found before stays") {
    const std::string one = write_fatbin({FatbinEntry{2, 70}});
    const Read junk = read(".nv_fatbin", one + "junk that is no fatbin");
    REQUIRE_FALSE(junk.status);
    CHECK(junk.status.error().code == "gpu.malformed");
    CHECK(junk.facts.cuda_sm == Names{"sm_70"});

    CHECK_FALSE(read(".nv_fatbin", one.substr(0, one.size() - 1)).status);
    std::string long_header = one;
    long_header[16 + 4] = '\xff', long_header[16 + 5] = '\xff';
    CHECK_FALSE(read(".nv_fatbin", long_header).status);
    std::string huge_payload = one;
    huge_payload[16 + 15] = '\xff';
    CHECK_FALSE(read(".nv_fatbin", huge_payload).status);

    const std::string bundle = write_hip_bundle({host, gpu + "gfx90a"});
    for (const std::size_t at :
         {std::size_t{24}, std::size_t{31}, std::size_t{39}, std::size_t{47}, std::size_t{55}}) {
        std::string wrong = bundle;
        wrong[at] = '\x7f';
        CHECK_FALSE(read(".hip_fatbin", wrong).status);
    }
}
