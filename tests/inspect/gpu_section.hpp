// Reads a whole section of device code, for the tests of both formats.
#pragma once

#include <set>
#include <string>

#include "lib/inspect/elf/section_walk.hpp"
#include "lib/inspect/gpu/gpu_code.hpp"

namespace wheelyard::inspect_test {

using Names = std::set<std::string>;

struct SectionRead {
    inspect::GpuFacts facts;
    base::Status status;
};

inline SectionRead read_section(const std::string& bytes,
                                base::Status (*read)(inspect::SectionWalk walk, inspect::GpuFacts& facts)) {
    const base::MemoryReader reader(bytes);
    SectionRead result;
    result.status = read(inspect::SectionWalk(reader, 0, bytes.size()), result.facts);
    return result;
}

}  // namespace wheelyard::inspect_test
