// The table of schedulers.
#include "builder/schedule/scheduler_kind.hpp"

#include <algorithm>

namespace wheelyard::builder {

// Each in NAME/NAME_kind.cpp, which nothing else includes.
extern const SchedulerKind local_kind, slurm_kind, pbs_kind;

namespace {

constexpr std::array kinds = {&local_kind, &slurm_kind, &pbs_kind};

}  // namespace

std::span<const SchedulerKind* const> scheduler_kinds() {
    return kinds;
}

const SchedulerKind* find_scheduler_kind(std::string_view name) {
    const auto* found =
        std::find_if(kinds.begin(), kinds.end(), [&](const auto* one) { return one->name == name; });
    return found == kinds.end() ? nullptr : *found;
}

}  // namespace wheelyard::builder
