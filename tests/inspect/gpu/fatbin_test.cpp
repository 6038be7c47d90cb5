// CUDA device code
#include "lib/inspect/gpu/gpu_code.hpp"

#include <doctest/doctest.h>

#include "tests/inspect/gpu_section.hpp"
#include "tests/support/elf_writer.hpp"

using namespace wheelyard;
using test_support::FatbinEntry;
using test_support::write_fatbin;
using namespace wheelyard::inspect_test;

namespace {

SectionRead read(const std::string& bytes) {
    return read_section(bytes, inspect::read_fatbins);
}

FatbinEntry flagged(std::uint16_t kind, std::uint32_t arch, std::uint64_t flags) {
    FatbinEntry entry{kind, arch};
    entry.flags = flags;
    return entry;
}

}  // namespace

TEST_CASE("machine code and PTX are distinguished, over several fatbins with gaps") {
    const SectionRead found =
        read(write_fatbin({FatbinEntry{2, 70}, FatbinEntry{2, 90}}) + std::string(24, '\0') +
             write_fatbin({FatbinEntry{2, 90}, FatbinEntry{1, 100}}));
    REQUIRE(found.status);
    CHECK(found.facts.names("cuda_sm") == Names{"sm_70", "sm_90"});
    CHECK(found.facts.names("cuda_ptx") == Names{"compute_100"});
}

TEST_CASE("code for one arch or one family has the suffix `a` or `f`") {
    const SectionRead found =
        read(write_fatbin({flagged(2, 90, 0x108011), flagged(2, 90, 0x8011), flagged(2, 103, 0x1208011),
                           flagged(2, 120, 0x1008011), flagged(1, 100, 0x102011)}));
    REQUIRE(found.status);
    CHECK(found.facts.names("cuda_sm") == Names{"sm_90", "sm_90a", "sm_103f", "sm_120"});
    CHECK(found.facts.names("cuda_ptx") == Names{"compute_100a"});
}

TEST_CASE("IR for link-time optimisation is not listed as GPU code") {
    const SectionRead found = read(write_fatbin({FatbinEntry{8, 90}, FatbinEntry{2, 80}}));
    REQUIRE(found.status);
    CHECK(found.facts.names("cuda_sm") == Names{"sm_80"});
    CHECK(found.facts.names("cuda_ptx").empty());
}

TEST_CASE("an invalid fatbin is malformed; earlier results are kept") {
    const std::string one = write_fatbin({FatbinEntry{2, 70}});
    const SectionRead junk = read(one + "junk, not a fatbin");
    REQUIRE_FALSE(junk.status);
    CHECK(junk.status.error().code == "gpu.malformed");
    CHECK(junk.facts.names("cuda_sm") == Names{"sm_70"});

    CHECK_FALSE(read(one + std::string(16, 'j')).status);  // exactly as long
    CHECK(read(one + std::string(15, 'j')).status);        // the linker's padding may be anything

    CHECK_FALSE(read(one.substr(0, one.size() - 1)).status);
    constexpr std::size_t body_bytes = 8, entry_header_bytes = 16 + 4, payload_bytes = 16 + 8;
    for (const std::size_t at :
         {body_bytes, body_bytes + 7, entry_header_bytes + 1, payload_bytes + 1, payload_bytes + 7}) {
        CAPTURE(at);
        std::string wrong = one;
        wrong[at] = '\xff';
        CHECK_FALSE(read(wrong).status);
    }
    std::string no_header = one;
    no_header[entry_header_bytes] = 0;
    CHECK_FALSE(read(no_header).status);
}

TEST_CASE("an endless list of invented GPUs is malformed") {
    std::vector<FatbinEntry> entries;
    for (std::uint32_t arch = 0; arch <= inspect::max_gpu_names; ++arch)
        entries.push_back({2, arch, ""});
    CHECK_FALSE(read(write_fatbin(entries)).status);
    entries.pop_back();
    const SectionRead found = read(write_fatbin(entries));
    CHECK(found.status);
    CHECK(found.facts.names("cuda_sm").size() == inspect::max_gpu_names);
}
