// The minimum over the limits.
#include "builder/governor/admission/window.hpp"

#include <algorithm>

namespace wheelyard::governor {
namespace {

constexpr std::uint64_t other_files = 64;      // of the broker: samples, history
constexpr std::uint64_t other_processes = 64;  // of the user: shells, build tool, editor

}  // namespace

unsigned choose_window(const WindowFacts& facts) {
    const bool is_roomy = facts.limit_bytes >= facts.cores * roomy_bytes_per_core;
    std::uint64_t window = std::clamp<std::uint64_t>(std::uint64_t{facts.cores} * window_per_core,
                                                     is_roomy ? roomy_window : tight_window, max_window);
    const auto at_most = [&](std::uint64_t number) { window = std::min(window, number); };
    at_most(static_cast<std::uint64_t>(std::max(0.0, facts.limit_bytes)) / waiting_divisor /
            waiting_launcher_bytes);
    at_most(facts.open_files > other_files ? facts.open_files - other_files : 0);
    for (const auto& limit : {facts.user_processes, facts.free_pids}) {
        if (!limit) continue;
        const std::uint64_t taken = other_processes + processes_per_running * facts.cores;
        at_most(*limit > taken ? (*limit - taken) / processes_per_waiting : 0);
    }
    // Never below the number of cores: some would idle. A machine without room for even that many launchers
    // fails either way.
    return static_cast<unsigned>(
        std::max<std::uint64_t>({window, std::uint64_t{facts.cores}, std::uint64_t{min_window}}));
}

}  // namespace wheelyard::governor
