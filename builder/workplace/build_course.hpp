// The course of a build so far, from its whole log: its phases, and the memory of its compiles. Pure.
//
//     @@wheelyard phase=build at=2026-11-20T09:00:12Z
//     governor: 12/345 compiles, 8 running, 325 waiting, 5.1 GiB of 14 GiB
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"

namespace wheelyard::builder {

struct BuildCourse {
    struct Phase {
        std::string name;
        base::UnixMicros began = 0;
    };
    std::vector<Phase> phases;  // the last max_phases; a job that continues begins its phases again
    // MiB, oldest first: the maximum in each of at most max_memory_points equal parts of the build. Empty
    // without a governor.
    std::vector<std::int64_t> memory_mib;
};

[[nodiscard]] BuildCourse parse_build_course(std::string_view log);

}  // namespace wheelyard::builder
