// Work that only a login node can do, and that takes longer than a tick may: cloning a repository, filling a
// wheelhouse. It runs beside the agent; a tick starts it, and later ticks look how far it is.
//
//     FOLDER/NAME.sh     what runs
//     FOLDER/NAME.log    what it said
//     FOLDER/NAME.alive  touched while it runs: no lock, no process id, so another login node can tell too
//     FOLDER/NAME.end    its exit status, once it is over
#pragma once

#include <filesystem>
#include <string>

#include "builder/environment.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

struct LoginStep {
    std::filesystem::path folder;
    std::string name;
    std::string script;  // bash, run under set -eu -o pipefail in the folder
    EnvironmentMap environment;
    std::string what;  // for a person: "cloning https://…"
};

// Success when it is over and ended well. Errors: "source.fetching" (it is at work: wait), "source.step" (it
// failed; the log's end is the value, and the next call starts it again).
[[nodiscard]] base::Status advance_login_step(const LoginStep& step, base::Clock& clock);

}  // namespace wheelyard::builder
