// The GPU of an ELF file that is device code itself: a cubin of CUDA, or a code object of ROCm.
//
//     cubin        e_machine 190 (EM_CUDA); the SM in e_flags, whose layout depends on EI_ABIVERSION:
//                    7  bits 0 to 7; bit 11: this SM only (`a`)                            (CUDA 12 below sm_100)
//                    8  bits 8 to 15; bit 3: this SM only, of CUDA 12; CUDA 13 says so in the section `.nv.compat`
//     .nv.compat   records: u8 format, u8 attribute, then format 1: u8, u8; 2: u8 value, u8; 3: u16 value;
//                  4: u16 length and as many bytes. Attribute 9: value 1 is this SM only
//     code object  e_machine 224 (EM_AMDGPU); the processor in bits 0 to 7 of e_flags, by a table; sramecc and xnack
//                  by the version of the code object, which is EI_ABIVERSION + 2 where EI_OSABI is 64 (HSA)
//
// Sources: cubins of ptxas 12.9.86 and 13.5.37 for all their targets, beside the names that cuobjdump 13.5.37
// lists (tests/support/gpu_objects); LLVM's "User Guide for AMDGPU Backend", "ELF Code Object". Code for a
// family (`sm_100f`) is written as code for its first SM, which runs on the same GPUs.
#include "lib/inspect/gpu/gpu_code.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "lib/base/limits.hpp"
#include "lib/base/text/byte_cursor.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::uint16_t machine_cuda = 190, machine_amdgpu = 224, machine_intelgt = 205;

// --- cubins ---

constexpr std::uint8_t cubin_abi_old = 7, cubin_abi_new = 8;
constexpr std::uint8_t record_u16 = 3, record_bytes = 4;
constexpr std::uint8_t attribute_this_sm_only = 9;
constexpr std::uint64_t max_compat_bytes = 64 * base::kib;  // real ones have 44

// Says whether the records of `.nv.compat` say that the code runs on its SM only.
bool is_for_this_sm(std::string_view records) {
    base::ByteCursor cursor(records);
    while (cursor.left() >= 4) {
        const std::uint8_t format = cursor.u8();
        const std::uint8_t attribute = cursor.u8();
        const std::uint16_t value = cursor.u16();
        if (format == record_bytes) {
            if (value > cursor.left()) return false;
            cursor.skip(value);
        } else if (attribute == attribute_this_sm_only) {
            return (format == record_u16 ? value : value & 0xff) == 1;
        }
    }
    return false;
}

base::Status read_cubin(const base::Reader& bytes, const ElfFacts& elf, GpuFacts& facts) {
    if (elf.abi_version != cubin_abi_old && elf.abi_version != cubin_abi_new) {
        facts.add_unread("cuda", "cubin of the unknown ABI " + std::to_string(elf.abi_version));
        return {};
    }
    const bool is_new = elf.abi_version == cubin_abi_new;
    const std::uint32_t sm = (is_new ? elf.flags >> 8 : elf.flags) & 0xff;
    bool only = (elf.flags & (is_new ? 1u << 3 : 1u << 11)) != 0;
    // Thousands of section headers may have this name and refer to one range: only the first counts.
    const auto compat = std::find_if(elf.sections.begin(), elf.sections.end(),
                                     [](const ElfSection& section) { return section.name == ".nv.compat"; });
    if (compat != elf.sections.end() && compat->size <= max_compat_bytes) {
        std::string records(compat->size, '\0');
        WHEELYARD_TRY(bytes.read_at(compat->offset, records.data(), records.size()));
        only = only || is_for_this_sm(records);
    }
    constexpr std::uint32_t oldest_sm = 10;
    if (sm < oldest_sm) {
        facts.add_unread("cuda", "cubin for the unknown SM " + std::to_string(sm));
        return {};
    }
    facts.code["cuda_sm"].insert("sm_" + std::to_string(sm) + (only ? "a" : ""));
    return {};
}

// --- code objects of ROCm ---

constexpr std::uint8_t os_abi_hsa = 64;
constexpr std::uint8_t abi_version_v2 = 0, abi_version_v3 = 1;

struct Processor {
    std::uint8_t number;
    std::string_view name;  // without "gfx"
};
// EF_AMDGPU_MACH_AMDGCN_GFX…; 940 and 941 are reserved again since LLVM 20. Below 0x20: GPUs before GCN.
constexpr Processor processors[] = {
    {0x20, "600"},          {0x21, "601"},          {0x22, "700"},        {0x23, "701"},
    {0x24, "702"},          {0x25, "703"},          {0x26, "704"},        {0x28, "801"},
    {0x29, "802"},          {0x2a, "803"},          {0x2b, "810"},        {0x2c, "900"},
    {0x2d, "902"},          {0x2e, "904"},          {0x2f, "906"},        {0x30, "908"},
    {0x31, "909"},          {0x32, "90c"},          {0x33, "1010"},       {0x34, "1011"},
    {0x35, "1012"},         {0x36, "1030"},         {0x37, "1031"},       {0x38, "1032"},
    {0x39, "1033"},         {0x3a, "602"},          {0x3b, "705"},        {0x3c, "805"},
    {0x3d, "1035"},         {0x3e, "1034"},         {0x3f, "90a"},        {0x40, "940"},
    {0x41, "1100"},         {0x42, "1013"},         {0x43, "1150"},       {0x44, "1103"},
    {0x45, "1036"},         {0x46, "1101"},         {0x47, "1102"},       {0x48, "1200"},
    {0x49, "1250"},         {0x4a, "1151"},         {0x4b, "941"},        {0x4c, "942"},
    {0x4e, "1201"},         {0x4f, "950"},          {0x50, "1310"},       {0x51, "9-generic"},
    {0x52, "10-1-generic"}, {0x53, "10-3-generic"}, {0x54, "11-generic"}, {0x55, "1152"},
    {0x57, "1154"},         {0x58, "1153"},         {0x59, "12-generic"}, {0x5a, "1251"},
    {0x5b, "12-5-generic"}, {0x5c, "1172"},         {0x5d, "1170"},       {0x5e, "1171"},
    {0x5f, "9-4-generic"},  {0x62, "11-7-generic"}, {0x63, "13-generic"},
};

struct Feature {
    std::string_view name;
    std::uint32_t on_v3;  // the bit of version 3
    unsigned shift;       // of the two bits since version 4: 2 off, 3 on; 0 unsupported, 1 any
};
constexpr Feature features[] = {{"sramecc", 0x200, 10}, {"xnack", 0x100, 8}};

void read_code_object(const ElfFacts& elf, GpuFacts& facts) {
    const bool is_hsa = elf.os_abi == os_abi_hsa;
    if (is_hsa && elf.abi_version == abi_version_v2) {
        facts.add_unread("rocm", "code object of version 2, whose processor only its notes name");
        return;
    }
    const std::uint32_t number = elf.flags & 0xff;
    const auto* const row = std::find_if(std::begin(processors), std::end(processors),
                                         [&](const Processor& one) { return one.number == number; });
    if (row == std::end(processors)) {
        facts.add_unread("rocm", "code object for the unknown processor " + std::to_string(number));
        return;
    }
    std::string name = "gfx" + std::string(row->name);
    for (const Feature& feature : features) {
        if (!is_hsa) continue;
        const std::uint32_t setting = elf.flags >> feature.shift & 3;
        const bool is_on =
            elf.abi_version == abi_version_v3 ? (elf.flags & feature.on_v3) != 0 : setting == 3;
        const bool is_off = elf.abi_version != abi_version_v3 && setting == 2;
        if (is_on || is_off) name += ":" + std::string(feature.name) + (is_on ? "+" : "-");
    }
    facts.code["hip_gfx"].insert(std::move(name));
}

}  // namespace

base::Status read_device_object(const base::Reader& bytes, const ElfFacts& elf, GpuFacts& facts) {
    if (elf.machine_number == machine_cuda) return read_cubin(bytes, elf, facts);
    if (elf.machine_number == machine_amdgpu) read_code_object(elf, facts);
    if (elf.machine_number == machine_intelgt) facts.not_read.emplace("xpu");
    return {};
}

}  // namespace wheelyard::inspect
