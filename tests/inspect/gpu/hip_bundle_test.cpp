// HIP device code
#include "lib/inspect/gpu/gpu_code.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "tests/inspect/gpu_section.hpp"
#include "tests/support/elf_writer.hpp"

using namespace wheelyard;
using test_support::write_hip_bundle;
using namespace wheelyard::inspect_test;

namespace {

SectionRead read(const std::string& bytes) {
    return read_section(bytes, inspect::read_hip_bundles);
}

const std::string host = "host-x86_64-unknown-linux";
const std::string gpu = "hipv4-amdgcn-amd-amdhsa--";

// The device code section of a real library of tests/support/gpu_objects.
std::string section_of(const std::string& library) {
    const auto file = base::read_file(WHEELYARD_TEST_DATA "/support/gpu_objects/" + library, base::mib);
    REQUIRE(file);
    const base::MemoryReader reader(*file);
    const auto elf = inspect::parse_elf(reader);
    REQUIRE(elf);
    for (const auto& section : elf->sections) {
        if (section.name == ".hip_fatbin") return file->substr(section.offset, section.size);
    }
    FAIL("no .hip_fatbin");
    return {};
}

std::string number(std::uint64_t value, std::size_t width) {
    std::string text;
    for (std::size_t i = 0; i < width; ++i)
        text += static_cast<char>(value >> (8 * i) & 0xff);
    return text;
}

std::string compressed(std::uint16_t version, std::uint16_t method, std::uint64_t whole_bytes,
                       std::uint64_t unpacked_bytes, const std::string& payload) {
    std::string text = "CCOB";
    text += number(version, 2);
    text += number(method, 2);
    if (version > 1) text += number(whole_bytes, version == 2 ? 4 : 8);
    text += number(unpacked_bytes, version == 3 ? 8 : 4);
    text += "no hash.";
    return text + payload;
}

constexpr std::size_t header_3_bytes = 32;

// A zstd frame with `blocks` blocks that repeat `byte` 128 KiB times each (RFC 8878 §3.1.1): 4 bytes per
// block.
std::string zstd_bomb(std::uint32_t blocks, char byte, std::uint32_t declared_bytes) {
    std::string text = "\x28\xb5\x2f\xfd\xa0";  // single segment, four-byte content size
    text += number(declared_bytes, 4);
    for (std::uint32_t i = 0; i < blocks; ++i) {
        constexpr std::uint32_t repeat = 1, block_bytes = 128 * 1024;
        text += number((i + 1 == blocks ? 1u : 0u) | repeat << 1 | block_bytes << 3, 3);
        text += byte;
    }
    return text;
}

}  // namespace

TEST_CASE("targets keep their features; the host's entry is skipped") {
    const SectionRead found =
        read(write_hip_bundle({host, gpu + "gfx90a:xnack-", gpu + "gfx1030"}) + std::string(4096, '\0') +
             write_hip_bundle({host, gpu + "gfx942:sramecc+:xnack-"}));
    REQUIRE_MESSAGE(found.status, found.status.error().text());
    CHECK(found.facts.names("hip_gfx") == Names{"gfx90a:xnack-", "gfx1030", "gfx942:sramecc+:xnack-"});
}

TEST_CASE("a target's name is parsed in every form that clang has used") {
    const struct {
        std::string id, name;
    } rows[] = {{"hip-amdgcn-amd-amdhsa-gfx906", "gfx906"},
                {"hip-amdgcn-amd-amdhsa--gfx906:sramecc-", "gfx906:sramecc-"},
                {"hipv4-amdgcn-amd-amdhsa--gfx9-4-generic", "gfx9-4-generic"},
                {"hipv4-amdgcn-amd-amdhsa-unknown-gfx90a", "gfx90a"},
                {"hipv4-spirv64-amd-amdhsa--amdgcnspirv", "amdgcnspirv"}};
    for (const auto& row : rows) {
        const SectionRead found = read(write_hip_bundle({host, row.id}));
        REQUIRE(found.status);
        CHECK(found.facts.names("hip_gfx") == Names{row.name});
    }
    CHECK(read(write_hip_bundle({host, "openmp-nvptx64-nvidia-cuda--sm_90"})).facts.names("hip_gfx").empty());
}

TEST_CASE("a bundle has at most 4,096 targets") {
    std::vector<std::string> ids(4096, gpu + "gfx90a");
    const SectionRead found = read(write_hip_bundle(ids));
    REQUIRE_MESSAGE(found.status, found.status.error().text());
    CHECK(found.facts.names("hip_gfx") == Names{"gfx90a"});
    ids.push_back(gpu + "gfx90a");
    CHECK_FALSE(read(write_hip_bundle(ids)).status);
}

TEST_CASE("consecutive compressed bundles of each version are read") {
    const Names both = {"gfx90a:xnack-", "gfx942:sramecc+:xnack-"};
    CHECK(read(section_of("hip-zlib.so")).facts.names("hip_gfx") == both);
    std::string all;
    for (const std::string library : {"hip-zstd-1.so", "hip-zstd-2.so", "hip-zstd-3.so", "hip-plain.so"}) {
        all.resize((all.size() + 4095) / 4096 * 4096, '\0');
        all += section_of(library);
    }
    const SectionRead found = read(all);
    REQUIRE_MESSAGE(found.status, found.status.error().text());
    CHECK(found.facts.names("hip_gfx") == Names{"gfx90a:xnack-", "gfx942:sramecc+:xnack-", "gfx1030"});
    CHECK(found.facts.hip_unread.empty());
}

TEST_CASE("a bundle that cannot be unpacked is reported as unread, and the walk continues") {
    const std::string next = write_hip_bundle({host, gpu + "gfx1030"});
    for (const std::string& bundle : {compressed(3, 7, header_3_bytes + 4, 100, "data"),
                                      compressed(9, 1, header_3_bytes + 4, 100, "data")}) {
        std::string page = bundle;
        page.resize(4096, '\0');
        const SectionRead found = read(page + next);
        REQUIRE_MESSAGE(found.status, found.status.error().text());
        CHECK(found.facts.hip_unread.find("unknown") != std::string::npos);
        CHECK(found.facts.names("hip_gfx") == Names{"gfx1030"});
    }
}

TEST_CASE("hostile sizes of a compressed bundle are malformed at low cost") {
    const std::string real = section_of("hip-zstd-3.so").substr(0, 4096);
    REQUIRE(read(real).status);
    const auto with_field = [&](std::size_t at, std::uint64_t value) {
        std::string wrong = real;
        wrong.replace(at, 8, number(value, 8));
        return read(wrong).status;
    };
    constexpr std::size_t whole_at = 8, unpacked_at = 16;
    for (const std::uint64_t whole :
         {std::uint64_t{0}, std::uint64_t{header_3_bytes - 1}, std::uint64_t{header_3_bytes},
          std::uint64_t{4097}, ~std::uint64_t{0}}) {
        CAPTURE(whole);
        const auto status = with_field(whole_at, whole);
        REQUIRE_FALSE(status);
        CHECK(status.error().code == "gpu.malformed");
    }
    for (const std::uint64_t unpacked :
         {std::uint64_t{0}, std::uint64_t{31}, std::uint64_t{4096}, std::uint64_t{1} << 20}) {
        CAPTURE(unpacked);
        const bool more_than_there_is = unpacked == std::uint64_t{1} << 20;
        // Only the table is unpacked, so a declared size that covers the table is accepted.
        CHECK(static_cast<bool>(with_field(unpacked_at, unpacked)) == more_than_there_is);
    }
    CHECK(with_field(unpacked_at, ~std::uint64_t{0}));
}

TEST_CASE("a decompression bomb is not unpacked") {
    const std::uint32_t blocks = 30'000;  // 3.7 GiB
    const auto bundle_of = [](const std::string& frame) {
        return compressed(3, 1, header_3_bytes + frame.size(), 0xf0000000, frame);
    };
    // Its first bytes are not a bundle.
    CHECK_FALSE(read(bundle_of(zstd_bomb(blocks, 'b', 100'000'000))).status);
    // Declares a window of 4 GB.
    CHECK_FALSE(read(bundle_of(zstd_bomb(blocks, 'b', 0xfffffff0))).status);
}

TEST_CASE("more compressed bundles than pages are malformed") {
    const std::string frame = zstd_bomb(1, 'b', 100);
    const std::string bundle =
        compressed(2, 9, 24 + frame.size(), 100, frame);  // an unknown method, which is skipped
    std::string dense;
    while (dense.size() < 8192)
        dense += bundle;
    CHECK_FALSE(read(dense).status);
    std::string aligned;
    for (int page = 0; page < 3; ++page) {
        aligned += bundle;
        aligned.resize(4096 * static_cast<std::size_t>(page + 1), '\0');
    }
    CHECK(read(aligned).status);
}

TEST_CASE("the work for compressed bundles is limited per file, not per bundle") {
    const std::string section = section_of("hip-zlib.so").substr(0, 4096);  // one bundle
    const base::MemoryReader reader(section);
    const auto read_after = [&](std::uint64_t entries, std::uint64_t unpacked_bytes) {
        inspect::SectionWalk file(reader, 0, section.size());
        bool counted = static_cast<bool>(file.count_unpacked(unpacked_bytes));
        for (std::uint64_t i = 0; i < entries; ++i)
            counted = counted && file.count_entry();
        REQUIRE(counted);
        inspect::GpuFacts facts;
        return inspect::read_hip_bundles(file.part(reader, 0, section.size()), facts);
    };
    CHECK(read_after(100, base::mib));
    // One more entry is allowed: for the bundle itself, but none for its table.
    const auto entries = read_after(inspect::max_gpu_entries - 1, 0);
    REQUIRE_FALSE(entries);
    CHECK(entries.error().code == "gpu.malformed");
    const auto tables = read_after(0, inspect::max_bundle_tables_bytes - 1);
    REQUIRE_FALSE(tables);
    CHECK(tables.error().sentence.find("tables are larger") != std::string::npos);
}

TEST_CASE("an invalid bundle is malformed; earlier results are kept") {
    const std::string bundle = write_hip_bundle({host, gpu + "gfx90a"});
    for (const std::size_t at : {std::size_t{0}, std::size_t{24}, std::size_t{31}, std::size_t{39},
                                 std::size_t{47}, std::size_t{55}}) {
        CAPTURE(at);
        std::string wrong = bundle;
        wrong[at] = '\x7f';
        const SectionRead found = read(wrong);
        REQUIRE_FALSE(found.status);
        CHECK(found.status.error().code == "gpu.malformed");
    }
    const SectionRead junk = read(bundle + "junk");
    CHECK_FALSE(junk.status);
    CHECK(junk.facts.names("hip_gfx") == Names{"gfx90a"});
    CHECK_FALSE(read(write_hip_bundle({gpu + "gfx90a\xff"})).status);
}

TEST_CASE("every truncated or corrupted compressed bundle has a result") {
    for (const std::string library : {"hip-zlib.so", "hip-zstd-2.so"}) {
        const std::string real = section_of(library).substr(0, 700);
        for (std::size_t at = 0; at < real.size(); ++at) {
            std::string flipped = real;
            flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
            for (const std::string& wrong : {real.substr(0, at), flipped}) {
                const SectionRead found = read(wrong);
                if (!found.status) CHECK(found.status.error().code == "gpu.malformed");
            }
        }
    }
}
