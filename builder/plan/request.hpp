// The resources that a new attempt's job requests, based on earlier jobs of the package. Pure.
//
//     the site's memory_mib ─► ran out of memory ─► 1.5 × the limit, or 1.5 × the peak of the largest compile,
//                                                    up to the site's max_memory_mib ─► kept from then on
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "builder/attempt/attempt.hpp"
#include "builder/site/recipe.hpp"
#include "builder/site/site.hpp"

namespace wheelyard::builder {

// Whether the attempt's job ran out of memory: a compile did not fit even alone, or the kernel or the scheduler killed
// the job for memory.
[[nodiscard]] bool ran_out_of_memory(const Attempt& attempt);

// The site with the job sizes that a recipe sets.
[[nodiscard]] Site sized_for(const Site& site, const Recipe& recipe);
// Also with the cores that were chosen for an attempt; its script uses them.
[[nodiscard]] Site sized_for(const Site& site, const Recipe& recipe, const Attempt& attempt);

// The time limit of a new attempt at `cell`: the site's minutes; after an attempt that reached its time limit, twice
// that limit, up to max_walltime_minutes.
[[nodiscard]] std::int64_t choose_minutes(const Site& site, const std::string& cell,
                                          const std::vector<Attempt>& earlier);

struct MemoryRequest {
    std::int64_t memory_mib = 0;  // 0: no request
    std::string why;              // for a person, if it differs from the site's
};
// The memory of a new attempt at `cell` of `package`. It is based on the last ended attempt at the cell, else on the
// last one of the package (other versions and Pythons need about the same).
[[nodiscard]] MemoryRequest choose_memory(const Site& site, const std::string& package,
                                          const std::string& cell, const std::vector<Attempt>& earlier);

struct CoresRequest {
    int cores = 0;    // parallel compile jobs; 0: all cores of the job
    std::string why;  // for a person, if it is fewer
};
// The parallel compile jobs of a new attempt at `cell`, whose job gets `memory_mib`. Half as many as in the last
// attempt, if that ran out of memory and no more memory is available, or if the doctor's rule for its failure suggests
// fewer jobs; else as many as before. The job still requests all cores of the site, because many sites assign memory
// by the core.
[[nodiscard]] CoresRequest choose_cores(const Site& site, const std::string& cell, std::int64_t memory_mib,
                                        const std::vector<Attempt>& earlier);

// Whether the next attempt may continue in the build tree after this failure.
[[nodiscard]] bool resumes_after(const Failure& failure);

}  // namespace wheelyard::builder
