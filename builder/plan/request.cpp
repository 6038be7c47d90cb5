// Raises a request that was too small, and keeps a raised request.
#include "builder/plan/request.hpp"

#include <algorithm>

#include "builder/attempt/limits.hpp"
#include "builder/doctor/doctor_rules.hpp"
#include "builder/plan/limits.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::builder {
namespace {

const Attempt* guide_among(const std::vector<Attempt>& earlier, const std::string& package,
                           const std::string& cell) {
    const Attempt* guide = nullptr;
    for (const auto& attempt : earlier) {
        // An attempt without a job gives no information about memory.
        if (attempt.asked.package != package || !is_over(attempt.state) || attempt.job.submits == 0) continue;
        if (attempt.asked.purpose != Purpose::build) continue;
        const auto rank = [&](const Attempt& one) { return std::pair(one.asked.cell == cell, one.changed); };
        if (guide == nullptr || rank(*guide) < rank(attempt)) guide = &attempt;
    }
    return guide;
}

std::int64_t to_mib(std::uint64_t bytes) {
    return static_cast<std::int64_t>((bytes + base::mib - 1) / base::mib);
}

// The last failed attempt at the cell.
const Attempt* last_failed(const std::vector<Attempt>& earlier, const std::string& cell) {
    const Attempt* last = nullptr;
    for (const auto& attempt : earlier) {
        if (attempt.asked.cell != cell || attempt.superseded || !attempt.failure) continue;
        if (last == nullptr || attempt.number > last->number) last = &attempt;
    }
    return last;
}

bool asks_for_fewer_jobs(const Failure& failure) {
    const DoctorRule* rule = find_doctor_rule(failure.cause);
    return rule != nullptr && rule->automatic == Automatic::fewer_jobs && failure.end == EndCause::failed;
}

// The memory limit of the attempt's job; 0: not known.
std::int64_t limit_of(const Attempt& attempt) {
    if (attempt.job.memory_mib > 0) return attempt.job.memory_mib;
    return attempt.job.governed ? to_mib(attempt.job.governed->limit_bytes) : 0;
}

}  // namespace

bool ran_out_of_memory(const Attempt& attempt) {
    if (attempt.job.governed && attempt.job.governed->could_not_fit > 0) return true;
    return attempt.failure && attempt.failure->end == EndCause::out_of_memory;
}

Site sized_for(const Site& site, const Recipe& recipe) {
    Site sized = site;
    if (recipe.cores > 0) sized.cores = recipe.cores;
    if (recipe.memory_mib > 0) sized.memory_mib = recipe.memory_mib;
    if (recipe.minutes > 0) sized.minutes = recipe.minutes;
    sized.max_memory_mib = std::max(sized.memory_mib, sized.max_memory_mib);
    if (sized.max_walltime_minutes > 0)
        sized.max_walltime_minutes = std::max(sized.minutes, sized.max_walltime_minutes);
    return sized;
}

Site sized_for(const Site& site, const Recipe& recipe, const Attempt& attempt) {
    Site sized = sized_for(site, recipe);
    if (attempt.job.cores > 0) sized.cores = attempt.job.cores;
    return sized;
}

std::int64_t choose_minutes(const Site& site, const std::string& cell, const std::vector<Attempt>& earlier) {
    const std::int64_t first = site.minutes > 0 ? site.minutes : site.max_walltime_minutes;
    const Attempt* last = last_failed(earlier, cell);
    if (last == nullptr || last->job.max_walltime_minutes == 0) return first;
    const bool too_short = last->failure->end == EndCause::time_limit;
    const std::int64_t wanted = last->job.max_walltime_minutes * (too_short ? 2 : 1);
    return site.max_walltime_minutes > 0
               ? std::clamp(wanted, first, std::max(first, site.max_walltime_minutes))
               : wanted;
}

MemoryRequest choose_memory(const Site& site, const std::string& package, const std::string& cell,
                            const std::vector<Attempt>& earlier) {
    const Attempt* guide = guide_among(earlier, package, cell);
    if (guide == nullptr) return {site.memory_mib, ""};
    std::int64_t wanted = guide->job.memory_mib;
    std::string why = "as in attempt " + guide->id;
    if (ran_out_of_memory(*guide)) {
        wanted = limit_of(*guide) * memory_raise_percent / 100;
        if (guide->job.governed && !guide->job.governed->worst.empty()) {
            // The compile was killed at this peak, so it needs more.
            const auto peak = to_mib(guide->job.governed->worst.front().peak_bytes);
            wanted = std::max(wanted, peak * memory_raise_percent / 100);
        }
        why = "attempt " + guide->id + " ran out of memory";
    }
    const std::int64_t max = std::max(site.memory_mib, site.max_memory_mib);
    const std::int64_t chosen = std::clamp(wanted, site.memory_mib, max);
    return {chosen, chosen == site.memory_mib ? "" : why};
}

CoresRequest choose_cores(const Site& site, const std::string& cell, std::int64_t memory_mib,
                          const std::vector<Attempt>& earlier) {
    const Attempt* last = last_failed(earlier, cell);
    if (last == nullptr) return {};
    const bool one_is_too_large = last->job.governed && last->job.governed->could_not_fit > 0;
    const bool no_more_memory =
        ran_out_of_memory(*last) && !one_is_too_large && memory_mib <= last->job.memory_mib;
    const std::string as_before = "as in attempt " + last->id;
    if (!no_more_memory && !asks_for_fewer_jobs(*last->failure))
        return {last->job.cores, last->job.cores > 0 ? as_before : ""};
    const int before = last->job.cores > 0 ? last->job.cores : site.cores;
    const std::string why = last->failure->cause.empty() ? last->failure->error.code : last->failure->cause;
    return {std::max(1, before / 2), why + " ended attempt " + last->id};
}

bool resumes_after(const Failure& failure) {
    return (failure.end && end_row(*failure.end).resumes) || asks_for_fewer_jobs(failure);
}

}  // namespace wheelyard::builder
