// The commands that change what is published, and the log of who did: on the data folder (--config, beside a
// running server or without one) or over HTTP (--url and --token-file).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/lifecycle/action.hpp"
#include "registry/store/opened_store.hpp"

namespace CLI {
class App;
}

namespace wheelyard::registry {

struct LifecycleArguments {
    lifecycle::Action action;
    std::filesystem::path config;      // of a local data folder; or:
    std::string url;                   // of a remote registry
    std::filesystem::path token_file;  // with url
    std::string status;                // a word
    std::string grace;                 // "7d"
    bool json = false;
};
struct AuditArguments {
    std::filesystem::path config;
    catalog::EventFilter filter;  // its times are these:
    std::string from;
    std::string until;
    std::int64_t after = 0;  // a serial
    bool json = false;
    bool raw = false;  // text as it is, also on a terminal
};

// What this change takes; sets `arguments.action.verb`.
void add_lifecycle_options(CLI::App& command, lifecycle::Verb verb, LifecycleArguments& arguments);
void add_audit_options(CLI::App& command, AuditArguments& arguments);

// Performs the action and prints the result; pages and tree show it on return.
[[nodiscard]] base::Status run_lifecycle(const LifecycleArguments& arguments,
                                         const OpenPublisher& open_publisher, const base::Clock& clock);
[[nodiscard]] base::Status run_audit(const AuditArguments& arguments);

}  // namespace wheelyard::registry
