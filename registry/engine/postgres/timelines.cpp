// The newest timeline that this process has seen of each database.
#include "registry/engine/postgres/connection.hpp"

namespace wheelyard::postgres {

std::string Timelines::newer_than(const std::string& system, const std::string& timeline) {
    const std::lock_guard lock(mutex_);
    std::string& newest = newest_[system];
    if (timeline < newest) return newest;
    newest = timeline;
    return {};
}

Timelines& Timelines::of_process() {
    static Timelines timelines;
    return timelines;
}

}  // namespace wheelyard::postgres
