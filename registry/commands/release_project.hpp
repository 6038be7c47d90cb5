// `wheelyard-registry release-project INDEX.UPSTREAM PROJECT`: lets other upstreams supply a project that this one
// supplied.
#pragma once

#include <filesystem>
#include <string>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace CLI {
class App;
}

namespace wheelyard::registry {

struct ReleaseProjectArguments {
    std::string upstream;  // "base.public"
    std::string project;
    std::string reason;
    std::filesystem::path config;
    bool json = false;
};
void add_release_project_options(CLI::App& command, ReleaseProjectArguments& arguments);
// Beside a running server or without one. Errors: "upstream.unknown", "explain.name", those of the store.
[[nodiscard]] base::Status run_release_project(const ReleaseProjectArguments& arguments,
                                               const base::Clock& clock);

}  // namespace wheelyard::registry
