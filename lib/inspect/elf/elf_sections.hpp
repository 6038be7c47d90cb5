// The sections of an ELF file, which tools use but the dynamic linker does not. System V ABI chapter 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::inspect {

inline constexpr std::size_t max_section_name_bytes =
    64;  // stored prefix; the names that rules look for are shorter

struct ElfSection {
    std::string name;  // cut to max_section_name_bytes
    std::uint64_t offset = 0;
    std::uint64_t size = 0;  // in the file; 0 for NOBITS
};

// The location of the section headers, from the ELF header.
struct SectionTable {
    unsigned bits = 64;
    bool big_endian = false;
    std::uint64_t offset = 0;
    std::uint64_t entry_bytes = 0;
    std::uint64_t count = 0;        // 0 with an offset: section 0 has the real count
    std::uint64_t names_index = 0;  // the section that contains the names
};

// Error "elf.malformed".
[[nodiscard]] base::Result<std::vector<ElfSection>> list_sections(const base::Reader& bytes,
                                                                  const SectionTable& table);

// The error of a file that is no valid ELF file.
// "elf.malformed"; `value` is the number that is wrong.
inline tl::unexpected<base::Error> malformed(std::string sentence, std::uint64_t value) {
    return base::fail_malformed("elf.malformed", std::move(sentence), std::to_string(value));
}

}  // namespace wheelyard::inspect
