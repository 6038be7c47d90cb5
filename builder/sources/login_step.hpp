// Work that only a login node can do, and that takes longer than a tick may: cloning a repository, filling a
// wheelhouse. It runs beside the agent; a tick starts it, and later ticks look how far it is.
//
//     FOLDER/NAME.sh      what runs
//     FOLDER/NAME.log     what it said; what it said when it ran before: NAME.log.before
//     FOLDER/NAME.alive   touched while it runs: no lock, no process id, so another login node can tell too.
//                         Who removes it calls the step off
//     FOLDER/NAME.starts  how often it began without an end
//     FOLDER/NAME.end     its exit status, once it is over
//
// However it ends, its whole process group ends with it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "builder/attempt/limits.hpp"
#include "builder/site/environment.hpp"
#include "builder/sources/limits.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

struct LoginStep {
    std::filesystem::path folder;
    std::string name;
    std::string script;  // bash, run under set -eu -o pipefail in the folder
    EnvironmentMap environment;
    std::string what;  // for a person: "cloning https://…"
    std::int64_t max_s = default_login_minutes * 60;
    int touch_s = login_step_touch_s;  // how often it says that it lives, and learns that it is called off
};

// Success when it is over and ended well. Errors: "source.fetching", of kind in_progress: it is at work. Of kind
// program, and the next call starts it again: "source.step" (it failed, or began again and again without an end),
// "source.step_time" (its time was over); they may pass when the log says that the network or the disk is to blame.
[[nodiscard]] base::Status advance_login_step(const LoginStep& step, base::Clock& clock);

// A step that runs ends within seconds, wherever it runs.
void call_off_login_step(const std::filesystem::path& folder, std::string_view name);

}  // namespace wheelyard::builder
