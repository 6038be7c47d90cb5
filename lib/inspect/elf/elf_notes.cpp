// Processor features and the platform in an ELF file's notes (.note.gnu.property, .note.android.ident).
#include "lib/inspect/elf/elf.hpp"

#include <algorithm>

#include "lib/base/text/byte_cursor.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::uint32_t gnu_property_note = 5, android_ident_note = 1;
constexpr std::uint16_t machine_x86_64 = 62, machine_aarch64 = 183;
constexpr std::uint32_t x86_feature_1_and = 0xc0000002, x86_isa_1_needed = 0xc0008002,
                        x86_isa_1_used = 0xc0010002, aarch64_feature_1_and = 0xc0000000;

std::size_t padded(std::size_t size, std::size_t to) {
    return (size + to - 1) / to * to;
}

// Bits 0 to 3 mean baseline, v2, v3, v4; each level implies the lower ones.
unsigned highest_level(std::uint32_t bits) {
    unsigned level = 0;
    for (unsigned bit = 0; bit < 4; ++bit)
        if ((bits >> bit & 1) != 0) level = bit + 1;
    return level;
}

void take_property(std::uint16_t machine, std::uint32_t type, std::uint32_t value, FeatureNotes& notes) {
    if (machine == machine_x86_64) {
        if (type == x86_isa_1_needed) notes.x86_needed = std::max(notes.x86_needed, highest_level(value));
        if (type == x86_isa_1_used) notes.x86_used = std::max(notes.x86_used, highest_level(value));
        if (type == x86_feature_1_and) {
            notes.x86_ibt = notes.x86_ibt || (value & 1) != 0;
            notes.x86_shstk = notes.x86_shstk || (value & 2) != 0;
        }
    } else if (machine == machine_aarch64 && type == aarch64_feature_1_and) {
        notes.arm_bti = notes.arm_bti || (value & 1) != 0;
        notes.arm_pac = notes.arm_pac || (value & 2) != 0;
        notes.arm_gcs = notes.arm_gcs || (value & 4) != 0;
    }
}

}  // namespace

void read_feature_notes(std::string_view text, unsigned bits, bool big_endian, std::uint16_t machine,
                        FeatureNotes& notes) {
    const std::size_t property_alignment = bits / 8;
    while (text.size() >= 12) {
        base::ByteCursor note(text, big_endian);
        const std::uint32_t name_bytes = note.u32();
        const std::uint32_t description_bytes = note.u32();
        const std::uint32_t type = note.u32();
        if (name_bytes > text.size() || description_bytes > text.size()) return;
        const std::string_view name = note.text(name_bytes);
        const bool is_property =
            type == gnu_property_note && name == std::string_view("GNU", 4);  // the NUL is part of the name
        notes.android =
            notes.android || (type == android_ident_note && name == std::string_view("Android", 8));
        // In practice notes in 64-bit files are aligned to 4 bytes, property notes to 8.
        const std::size_t alignment = is_property ? property_alignment : 4;
        const std::size_t description_at = padded(12 + name_bytes, alignment);
        const std::size_t next = padded(description_at + description_bytes, alignment);
        if (description_at + description_bytes > text.size()) return;
        if (is_property) {
            std::string_view properties = text.substr(description_at, description_bytes);
            while (properties.size() >= 8) {
                base::ByteCursor property(properties, big_endian);
                const std::uint32_t kind = property.u32();
                const std::uint32_t size = property.u32();
                if (size > properties.size() - 8) return;
                if (size == 4) take_property(machine, kind, property.u32(), notes);
                properties.remove_prefix(
                    std::min(properties.size(), padded(8 + std::size_t{size}, property_alignment)));
            }
        }
        text.remove_prefix(std::min(text.size(), next));
    }
}

}  // namespace wheelyard::inspect
