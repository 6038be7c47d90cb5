// Work that only a login node can do, and that takes longer than a tick may: cloning a repository, filling a
// wheelhouse. It runs in a separate process: one tick starts it, and later ticks check its state.
//
//     FOLDER/NAME.sh      the script
//     FOLDER/NAME.log     its output; the previous run's output is NAME.log.before
//     FOLDER/NAME.alive   touched while the step runs; not a lock or a process id, so that other login nodes can
//                         check it too. Removing it cancels the step
//     FOLDER/NAME.starts  the number of starts without an end
//     FOLDER/NAME.end     the exit status, once the step has ended
//
// When the step ends, its whole process group is killed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "builder/attempt/environment.hpp"
#include "builder/attempt/limits.hpp"
#include "builder/doctor/rule_book.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

inline constexpr int login_step_touch_s = 10;
// By the tick that starts the step: a clone of a small repository ends within this time.
inline constexpr int login_step_checks = 20;

inline constexpr std::uint64_t max_login_starts = 3;  // of one step that never writes its end

struct LoginStep {
    std::filesystem::path folder;
    std::string name;
    std::string script;  // bash, run under set -eu -o pipefail in the folder
    EnvironmentMap environment;
    std::string what;  // for a person: "cloning https://…"
    std::int64_t max_s = default_login_minutes * 60;
    int touch_s = login_step_touch_s;  // interval at which it touches its marker and checks for cancellation
    // How often the call that starts the step checks for its end before it returns; 1: it does not wait.
    int checks = login_step_checks;
    // Runs again if it ended with another script: the recipe was changed meanwhile.
    bool follows_script = false;
    std::shared_ptr<const RuleBook> rules =
        RuleBook::ours();  // by which its log says whether the failure may pass
};

// Succeeds when the step has succeeded. Errors: "source.fetching", of kind in_progress: the step is running.
// Of kind program, and the next call starts the step again: "source.step" (it failed, or started several
// times without an end), "source.step_time" (it exceeded its time limit). These may pass if the log blames
// the machine or the network.
[[nodiscard]] base::Status advance_login_step(const LoginStep& step, base::Clock& clock);

// Cancels the step. A running step ends within seconds, on whichever login node it runs.
void call_off_login_step(const std::filesystem::path& folder, std::string_view name);

}  // namespace wheelyard::builder
