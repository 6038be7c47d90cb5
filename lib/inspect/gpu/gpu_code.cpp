#include "lib/inspect/gpu/gpu_code.hpp"

#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/text/byte_cursor.hpp"
#include "lib/inspect/elf/section_walk.hpp"

namespace wheelyard::inspect {

namespace {

struct DeviceSection {
    std::string_view name;
    std::string_view kind;
    base::Status (*read)(SectionWalk, GpuFacts&);
};
constexpr DeviceSection device_sections[] = {
    {".nv_fatbin", "cuda", read_fatbins},      // linked
    {"__nv_relfatbin", "cuda", read_fatbins},  // from `nvcc -rdc=true`, before the device link
    {".hip_fatbin", "rocm", read_hip_bundles}};

void note_unread(const ElfSection& section, GpuFacts& facts) {
    for (const auto* kind : accelerator::accelerator_kinds()) {
        if (!kind->unread_sections.empty() && section.name.starts_with(kind->unread_sections))
            facts.not_read.emplace(kind->name);
    }
}

}  // namespace

const std::set<std::string>& GpuFacts::names(std::string_view fact) const {
    static const std::set<std::string> none;
    const auto found = code.find(fact);
    return found == code.end() ? none : found->second;
}

void GpuFacts::add_unread(std::string_view kind, std::string why) {
    not_read.emplace(kind);
    unread = std::move(why);
}

base::Status read_gpu_code(const base::Reader& bytes, const ElfFacts& elf, GpuFacts& facts) {
    WHEELYARD_TRY(read_device_object(bytes, elf, facts));
    const SectionWalk whole(bytes, 0, bytes.size());
    std::uint64_t walked = 0;
    for (const ElfSection& section : elf.sections) {
        if (section.size != 0) note_unread(section, facts);
        for (const DeviceSection& kind : device_sections) {
            if (section.name != kind.name || section.size == 0) continue;
            // Many section headers may refer to one range: bound their total by the file's size.
            walked += section.size;
            if (walked > bytes.size())
                return malformed_gpu_code("Sections of device code overlap.", section.offset);
            auto read = kind.read(whole.part(bytes, section.offset, section.size), facts);
            if (!read) {
                facts.not_read.emplace(kind.kind);
                return read;
            }
        }
    }
    return {};
}

namespace {

constexpr std::uint32_t fatbin_magic = 0xba55ed50;
constexpr std::uint64_t fatbin_header_bytes = 16;
constexpr std::uint64_t entry_bytes = 48;  // the part of an entry's header that is read
constexpr std::uint64_t flag_arch_specific = 1u << 20, flag_family_specific = 1u << 21;
constexpr std::uint16_t kind_ptx = 1, kind_machine_code = 2;

// "90", "90a" (this arch only), "103f" (this arch's family).
std::string arch_name(std::uint32_t arch, std::uint64_t flags) {
    std::string name = std::to_string(arch);
    if ((flags & flag_arch_specific) != 0) return name + "a";
    if ((flags & flag_family_specific) != 0) return name + "f";
    return name;
}

base::Status read_entries(SectionWalk& walk, std::uint64_t at, std::uint64_t end, GpuFacts& facts) {
    while (end - at >= entry_bytes) {
        WHEELYARD_TRY(walk.count_entry());
        WHEELYARD_ASSIGN(const std::string text, walk.read(at, entry_bytes));
        base::ByteCursor entry(text);
        const std::uint16_t kind = entry.u16();
        entry.skip(2);
        const std::uint32_t header_bytes = entry.u32();
        const std::uint64_t payload_bytes = entry.u64();
        entry.skip(12);
        const std::uint32_t arch = entry.u32();
        entry.skip(8);
        const std::string name = arch_name(arch, entry.u64());
        if (header_bytes < entry_bytes || header_bytes > end - at ||
            payload_bytes > end - at - header_bytes) {
            return malformed_gpu_code("An entry of a CUDA fatbin ends beyond it.", at);
        }
        if (kind == kind_ptx) WHEELYARD_TRY(walk.keep(facts.code["cuda_ptx"], "compute_" + name));
        if (kind == kind_machine_code) WHEELYARD_TRY(walk.keep(facts.code["cuda_sm"], "sm_" + name));
        at += header_bytes + payload_bytes;
    }
    return {};
}

}  // namespace

base::Status read_fatbins(SectionWalk walk, GpuFacts& facts) {
    while (true) {
        WHEELYARD_ASSIGN(const bool more, walk.skip_zeros());
        if (!more || walk.left() < fatbin_header_bytes) return {};
        WHEELYARD_ASSIGN(const std::string text, walk.read(walk.at(), fatbin_header_bytes));
        base::ByteCursor header(text);
        if (header.u32() != fatbin_magic) return malformed_gpu_code("Expected a CUDA fatbin.", walk.at());
        header.skip(2);
        const std::uint16_t header_bytes = header.u16();
        const std::uint64_t body_bytes = header.u64();
        if (header_bytes < fatbin_header_bytes || header_bytes > walk.left() ||
            body_bytes > walk.left() - header_bytes) {
            return malformed_gpu_code("A CUDA fatbin ends beyond its section.", walk.at());
        }
        const std::uint64_t body = walk.at() + header_bytes;
        WHEELYARD_TRY(walk.count_entry());
        WHEELYARD_TRY(read_entries(walk, body, body + body_bytes, facts));
        walk.move_to(body + body_bytes);
    }
}

}  // namespace wheelyard::inspect
