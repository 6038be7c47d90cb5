// What the fuzz targets of device code share: a section of arbitrary bytes, and what must hold whatever is in
// it. Seeds: sections of tests/support/gpu_objects.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lib/base/text.hpp"
#include "lib/inspect/gpu_code.hpp"
#include "lib/inspect/limits.hpp"
#include "lib/inspect/section_walk.hpp"

namespace wheelyard::fuzz {

// `read` walks the section and adds to the facts.
inline int fuzz_section(const std::uint8_t* data, std::size_t size,
                        base::Status (*read)(inspect::SectionWalk walk, inspect::GpuFacts& facts)) {
    const base::MemoryReader reader(std::string_view(reinterpret_cast<const char*>(data), size));
    inspect::GpuFacts facts;
    const auto status = read(inspect::SectionWalk(reader, 0, size), facts);
    if (!status && status.error().code != "gpu.malformed") std::abort();  // nothing is read that is not there
    for (const auto* names : {&facts.cuda_sm, &facts.cuda_ptx, &facts.hip_gfx}) {
        if (names->size() > inspect::max_gpu_names + 1) std::abort();
        for (const std::string& name : *names) {
            if (!base::is_utf8(name)) std::abort();  // it goes into JSON
        }
    }
    return 0;
}

}  // namespace wheelyard::fuzz
