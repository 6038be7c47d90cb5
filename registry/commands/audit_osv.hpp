// `wheelyard-registry audit-osv PATH`: which published files a known vulnerability hits, through which component.
#pragma once

#include <filesystem>
#include <string>

#include "lib/base/result.hpp"

namespace CLI {
class App;
}

namespace wheelyard::registry {

inline constexpr int exit_hit = 3;  // at least one file is hit

struct AuditOsvArguments {
    std::filesystem::path advisories;  // a record of OSV, or a folder of them
    std::string index;                 // empty: all
    std::filesystem::path config;
    bool json = false;
};
void add_audit_osv_options(CLI::App& command, AuditOsvArguments& arguments);
// Prints the files, also those in quarantine, and what could not be judged; gives the exit status. Errors: "index.unknown",
// "advisory.unreadable" (after the answer), and those of configuration, catalog and files.
[[nodiscard]] base::Result<int> run_audit_osv(const AuditOsvArguments& arguments);

}  // namespace wheelyard::registry
