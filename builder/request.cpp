// Raises a request that was too small, and keeps one that was raised.
#include "builder/request.hpp"

#include <algorithm>

#include "builder/limits.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::builder {
namespace {

const Attempt* guide_among(const std::vector<Attempt>& earlier, const std::string& package,
                           const std::string& task) {
    const Attempt* guide = nullptr;
    for (const auto& attempt : earlier) {
        // Without a job that ran, an attempt says nothing about memory.
        if (attempt.package != package || !is_over(attempt.state) || attempt.submits == 0) continue;
        const auto rank = [&](const Attempt& one) { return std::pair(one.task == task, one.changed); };
        if (guide == nullptr || rank(*guide) < rank(attempt)) guide = &attempt;
    }
    return guide;
}

std::int64_t to_mib(std::uint64_t bytes) {
    return static_cast<std::int64_t>((bytes + base::mib - 1) / base::mib);
}

// Under which limit it ran out, as far as anybody knows.
std::int64_t limit_of(const Attempt& attempt) {
    if (attempt.memory_mib > 0) return attempt.memory_mib;
    return attempt.governed ? to_mib(attempt.governed->limit_bytes) : 0;
}

}  // namespace

bool ran_out_of_memory(const Attempt& attempt) {
    if (attempt.governed && attempt.governed->could_not_fit > 0) return true;
    return attempt.failure && attempt.failure->error.code == "job.out_of_memory";
}

MemoryRequest choose_memory(const Site& site, const std::string& package, const std::string& task,
                            const std::vector<Attempt>& earlier) {
    const Attempt* guide = guide_among(earlier, package, task);
    if (guide == nullptr) return {site.memory_mib, ""};
    std::int64_t wanted = guide->memory_mib;
    std::string why = "as attempt " + guide->id + " had";
    if (ran_out_of_memory(*guide)) {
        wanted = limit_of(*guide) * memory_raise_percent / 100;
        if (guide->governed && !guide->governed->worst.empty()) {
            // It was stopped at this peak, so it needs more than that.
            const auto peak = to_mib(guide->governed->worst.front().peak_bytes);
            wanted = std::max(wanted, peak * memory_raise_percent / 100);
        }
        why = "attempt " + guide->id + " ran out of memory";
    }
    const std::int64_t most = std::max(site.memory_mib, site.most_memory_mib);
    const std::int64_t chosen = std::clamp(wanted, site.memory_mib, most);
    return {chosen, chosen == site.memory_mib ? "" : why};
}

}  // namespace wheelyard::builder
