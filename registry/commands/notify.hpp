// `wheelyard-registry notify test`: runs the command of [notify] on a test notice.
#pragma once

#include <filesystem>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace CLI {
class App;
}

namespace wheelyard::registry {

struct NotifyArguments {
    std::filesystem::path config;
};
void add_notify_options(CLI::App& command, NotifyArguments& arguments);
// Also fails if the command does.
[[nodiscard]] base::Status run_notify(const NotifyArguments& arguments, const base::Clock& clock);

}  // namespace wheelyard::registry
