// Files that are device code themselves: headers by the documents of their formats. Real ones: gpu_code_test.cpp.
#include "lib/inspect/gpu/gpu_code.hpp"

#include <algorithm>
#include <string_view>

#include <doctest/doctest.h>

#include "tests/support/elf_writer.hpp"

using namespace wheelyard;
using test_support::ElfImage;
using Names = std::set<std::string>;

namespace {

inspect::GpuFacts device_facts(const ElfImage& image) {
    const std::string file = test_support::write_elf(image);
    const base::MemoryReader reader(file);
    const auto elf = inspect::parse_elf(reader);
    REQUIRE(elf);
    inspect::GpuFacts facts;
    REQUIRE(inspect::read_device_object(reader, *elf, facts));
    return facts;
}

ElfImage cubin(std::uint8_t abi, std::uint32_t flags, const std::string& compat = {}) {
    ElfImage image{.machine = 190, .type = 2, .flags = flags, .abi_version = abi};
    if (!compat.empty()) image.sections = {{".nv.compat", compat}};
    return image;
}

ElfImage code_object(std::uint8_t abi, std::uint32_t flags, std::uint8_t os_abi = 64) {
    return {.machine = 224, .flags = flags, .os_abi = os_abi, .abi_version = abi};
}

}  // namespace

TEST_CASE("the SM of a cubin lies where its ABI has it") {
    // e_flags of ptxas 12.9 and 13.5, which cuobjdump lists under these names.
    CHECK(device_facts(cubin(7, 0x320550)).names("cuda_sm") == Names{"sm_80"});
    CHECK(device_facts(cubin(7, 0x32055a)).names("cuda_sm") == Names{"sm_90"});
    CHECK(device_facts(cubin(7, 0x5a0d5a)).names("cuda_sm") == Names{"sm_90a"});
    CHECK(device_facts(cubin(8, 0x6006402)).names("cuda_sm") == Names{"sm_100"});
    CHECK(device_facts(cubin(8, 0x600640a)).names("cuda_sm") == Names{"sm_100a"});
    CHECK(device_facts(cubin(8, 0x6007902)).names("cuda_sm") == Names{"sm_121"});
    CHECK(device_facts(cubin(8, 0x6005a04)).names("cuda_sm") == Names{"sm_90"});
}

TEST_CASE("CUDA 13 says in .nv.compat that a cubin is for its SM only") {
    const auto names = [](const std::string& compat) {
        return device_facts(cubin(8, 0x6005a04, compat)).names("cuda_sm");
    };
    using namespace std::string_literals;
    CHECK(names("\x02\x09\x01\x00"s) == Names{"sm_90a"});
    CHECK(names("\x02\x09\x00\x00"s) == Names{"sm_90"});
    // Behind a record with a length of its own, whose bytes look like one.
    CHECK(names("\x04\x0b\x08\x00\x02\x09\x01\x00\x00\x00\x00\x00\x02\x09\x00\x00"s) == Names{"sm_90"});
    CHECK(names("\x04\x0b\x04\x00\x00\x00\x00\x00\x02\x09\x01\x00"s) == Names{"sm_90a"});
    CHECK(names("\x04\x0b\xff\xff\x02\x09\x01\x00"s) == Names{"sm_90"});  // longer than the section
    CHECK(names("\x02\x09"s) == Names{"sm_90"});
}

TEST_CASE("many sections named .nv.compat cost the work of one") {
    class CountingReader final : public base::Reader {
      public:
        explicit CountingReader(std::string_view bytes) : bytes_(bytes) {}
        [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
        [[nodiscard]] base::Status read_at(std::uint64_t offset, char* into,
                                           std::size_t length) const override {
            read_bytes += length;
            return bytes_.read_at(offset, into, length);
        }
        mutable std::uint64_t read_bytes = 0;

      private:
        base::MemoryReader bytes_;
    };
    using namespace std::string_literals;
    const std::string file = test_support::write_elf(cubin(8, 0x6005a04, "\x02\x09\x01\x00"s));
    const CountingReader reader(file);
    auto elf = inspect::parse_elf(reader);
    REQUIRE(elf);
    const auto compat = std::find_if(elf->sections.begin(), elf->sections.end(),
                                     [](const auto& section) { return section.name == ".nv.compat"; });
    REQUIRE(compat != elf->sections.end());
    elf->sections.assign(60'000, inspect::ElfSection(*compat));
    reader.read_bytes = 0;
    inspect::GpuFacts facts;
    REQUIRE(inspect::read_device_object(reader, *elf, facts));
    CHECK(facts.names("cuda_sm") == Names{"sm_90a"});
    CHECK(reader.read_bytes == 4);
}

TEST_CASE("a cubin of another ABI is unread, and not guessed") {
    for (const ElfImage& image : {cubin(6, 0x320550), cubin(9, 0x6006402), cubin(8, 0x32)}) {
        const auto facts = device_facts(image);
        CHECK(facts.names("cuda_sm").empty());
        CHECK(facts.not_read == Names{"cuda"});
        CHECK(facts.unread.find("unknown") != std::string::npos);
    }
}

TEST_CASE("processor and features of a code object are those of LLVM's table") {
    // "User Guide for AMDGPU Backend": versions 4 to 6 (EI_ABIVERSION 2 to 4).
    CHECK(device_facts(code_object(2, 0x53f)).names("hip_gfx") == Names{"gfx90a"});
    CHECK(device_facts(code_object(3, 0x54c)).names("hip_gfx") == Names{"gfx942"});
    CHECK(device_facts(code_object(3, 0x54f)).names("hip_gfx") == Names{"gfx950"});
    CHECK(device_facts(code_object(4, 0x63f)).names("hip_gfx") == Names{"gfx90a:xnack-"});
    CHECK(device_facts(code_object(3, 0xe4c)).names("hip_gfx") == Names{"gfx942:sramecc+:xnack-"});
    CHECK(device_facts(code_object(3, 0xb4c)).names("hip_gfx") == Names{"gfx942:sramecc-:xnack+"});
    CHECK(device_facts(code_object(4, 0x0100005f)).names("hip_gfx") == Names{"gfx9-4-generic"});
    CHECK(device_facts(code_object(4, 0x36)).names("hip_gfx") == Names{"gfx1030"});
    // Version 3 has one bit for each; other systems than HSA have no features.
    CHECK(device_facts(code_object(1, 0x130)).names("hip_gfx") == Names{"gfx908:xnack+"});
    CHECK(device_facts(code_object(1, 0x230)).names("hip_gfx") == Names{"gfx908:sramecc+"});
    CHECK(device_facts(code_object(0, 0x36, 65)).names("hip_gfx") == Names{"gfx1030"});
}

TEST_CASE("a code object whose processor is unknown is unread") {
    for (const ElfImage& image : {code_object(0, 0x01), code_object(3, 0xff), code_object(3, 0)}) {
        const auto facts = device_facts(image);
        CHECK(facts.names("hip_gfx").empty());
        CHECK(facts.not_read == Names{"rocm"});
        CHECK_FALSE(facts.unread.empty());
    }
    CHECK(device_facts({}).not_read.empty());  // of the host
}
