// Shared by the device code targets: a section of arbitrary bytes, and its invariants. Seeds: sections of
// tests/support/gpu_objects.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lib/base/text/text.hpp"
#include "lib/inspect/elf/section_walk.hpp"
#include "lib/inspect/gpu/gpu_code.hpp"

namespace wheelyard::fuzz {

inline void check_names(const inspect::GpuFacts& facts) {
    for (const auto& [fact, names] : facts.code) {
        if (names.size() > inspect::max_gpu_names + 1) std::abort();
        for (const std::string& name : names) {
            if (!base::is_utf8(name)) std::abort();  // must be valid in JSON
        }
    }
}

// `read` walks the section and adds to the facts.
inline int fuzz_section(const std::uint8_t* data, std::size_t size,
                        base::Status (*read)(inspect::SectionWalk walk, inspect::GpuFacts& facts)) {
    const base::MemoryReader reader(std::string_view(reinterpret_cast<const char*>(data), size));
    inspect::GpuFacts facts;
    const auto status = read(inspect::SectionWalk(reader, 0, size), facts);
    if (!status && status.error().code != "gpu.malformed") std::abort();  // a read beyond the end
    check_names(facts);
    return 0;
}

}  // namespace wheelyard::fuzz
