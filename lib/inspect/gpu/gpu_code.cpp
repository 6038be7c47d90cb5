#include "lib/inspect/gpu/gpu_code.hpp"

#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/inspect/elf/section_walk.hpp"
#include "lib/inspect/gpu/fatbin.hpp"
#include "lib/inspect/gpu/hip_bundle.hpp"

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

}  // namespace wheelyard::inspect
