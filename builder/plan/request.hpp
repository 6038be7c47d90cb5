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

// Says whether the attempt's job ran out of memory: a compile did not fit even alone, or the kernel or the
// scheduler killed the job for memory.
[[nodiscard]] bool ran_out_of_memory(const Attempt& attempt);

// One number of a job's request, the key that decides it, and where that key was set.
struct SizeDecision {
    std::string name;        // "cores", "memory_mib", "minutes"
    std::int64_t value = 0;  // 0: no request
    std::string key;         // "scheduler.max_walltime_minutes of the site"; empty: no key is set
    std::string place;       // "/etc/site.toml:31:1"; empty: the key's default
    std::int64_t asked = 0;  // what the recipe asks for, if a limit of the site bounds it; else 0
    std::string asked_place;
};
// The decisions for the first job of a build: the recipe's [resources], else the site's [scheduler]; the
// limits of the site and of its node type bound both.
struct JobSizes {
    SizeDecision cores, memory_mib, minutes;
};
[[nodiscard]] JobSizes decide_sizes(const Site& site, const Recipe& recipe);
// "minutes = 120 (scheduler.max_walltime_minutes of the site, site.toml:33:1; the recipe asks for 480,
// torch.toml:24:1)".
[[nodiscard]] std::string describe(const SizeDecision& decision);
[[nodiscard]] std::string describe_sizes(const Site& site, const Recipe& recipe);
// The error with an advice that names these keys and their places.
[[nodiscard]] base::Error with_sizes(base::Error error, const Site& site, const Recipe& recipe);
// The error of a job that ended for lack of time or memory, with another advice if it had all that the site
// allows: then the next attempt's job gets no more, and a person may have to act.
[[nodiscard]] base::Error with_the_maximum(base::Error error, EndCause cause, const Attempt& attempt,
                                           const Site& site);

// The limits for any job, also of tests; 0: none.
[[nodiscard]] std::int64_t bound_memory(const Site& site, std::int64_t memory_mib);
[[nodiscard]] std::int64_t bound_minutes(const Site& site, std::int64_t minutes);

// The site with the job sizes of decide_sizes.
[[nodiscard]] Site sized_for(const Site& site, const Recipe& recipe);
// Also with the cores that were chosen for an attempt, and the GPUs that it can be built for
// (version_choice.hpp); its script uses them.
[[nodiscard]] Site sized_for(const Site& site, const Recipe& recipe, const Attempt& attempt);

// The time limit of a new attempt at `cell`: the site's minutes; after an attempt that reached its time
// limit, twice that limit, up to max_walltime_minutes.
[[nodiscard]] std::int64_t choose_minutes(const Site& site, const std::string& cell,
                                          const std::vector<Attempt>& earlier);

struct MemoryRequest {
    std::int64_t memory_mib = 0;  // 0: no request
    std::string why;              // for a person, if it differs from the site's
};
// The memory of a new attempt at `cell` of `package`. It is based on the last ended attempt at the cell, else
// on the last one of the package (other versions and Pythons need about the same).
[[nodiscard]] MemoryRequest choose_memory(const Site& site, const std::string& package,
                                          const std::string& cell, const std::vector<Attempt>& earlier);

struct CoresRequest {
    int cores = 0;    // parallel compile jobs; 0: all cores of the job
    std::string why;  // for a person, if it is fewer
};
// The parallel compile jobs of a new attempt at `cell`, whose job gets `memory_mib`. Half as many as in the
// last attempt, if that ran out of memory and no more memory is available, or if the doctor's rule for its
// failure suggests fewer jobs; else as many as before. The job still requests all cores of the site, because
// many sites assign memory by the core.
[[nodiscard]] CoresRequest choose_cores(const Site& site, const std::string& cell, std::int64_t memory_mib,
                                        const std::vector<Attempt>& earlier);

// Says whether the next attempt may continue in the build tree after this failure.
[[nodiscard]] bool resumes_after(const Failure& failure, const Site& site);

}  // namespace wheelyard::builder
