// What a new attempt's job asks the scheduler for, from what earlier jobs of the package needed. Pure.
//
//     the site's memory_mib ─► ran out of memory ─► half as much again, or what the largest compile needs,
//                                                    up to the site's max_memory_mib ─► kept from then on
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "builder/attempt.hpp"
#include "builder/recipe.hpp"
#include "builder/site.hpp"

namespace wheelyard::builder {

// Whether this attempt's job failed for want of memory: a compile that did not fit even alone, or a job that
// its scheduler ended for it.
[[nodiscard]] bool ran_out_of_memory(const Attempt& attempt);

// The site with what a recipe says of its own jobs' size.
[[nodiscard]] Site sized_for(const Site& site, const Recipe& recipe);
// And with the cores that were chosen for an attempt, as its script is made for.
[[nodiscard]] Site sized_for(const Site& site, const Recipe& recipe, const Attempt& attempt);

// Time for a new attempt at `task`: the site's minutes; after one whose time was up, twice what that had, up
// to max_walltime_minutes.
[[nodiscard]] std::int64_t choose_minutes(const Site& site, const std::string& task,
                                          const std::vector<Attempt>& earlier);

struct MemoryRequest {
    std::int64_t memory_mib = 0;  // 0: nothing is asked for
    std::string why;              // for a person, when it is not simply the site's
};
// For a new attempt at `task` of `package`. The last ended attempt of the task is the guide, else the last
// one of the package (another version or Python of it needs about the same).
[[nodiscard]] MemoryRequest choose_memory(const Site& site, const std::string& package,
                                          const std::string& task, const std::vector<Attempt>& earlier);

struct CoresRequest {
    int cores = 0;    // at work at once in the job; 0: all that it has
    std::string why;  // for a person, when it is fewer
};
// For a new attempt at `task`, whose job gets `memory_mib`: half of what the last attempt used, when that
// failed for want of memory and there is no more, or of something that fewer compilers at once may pass; else
// as many as it used. The job asks for all cores of the site all the same: many sites give memory by the
// core.
[[nodiscard]] CoresRequest choose_cores(const Site& site, const std::string& task, std::int64_t memory_mib,
                                        const std::vector<Attempt>& earlier);

// Whether the next attempt may go on in the build tree of one that failed like this.
[[nodiscard]] bool resumes_after(const Failure& failure);

}  // namespace wheelyard::builder
