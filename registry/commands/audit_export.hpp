// `wheelyard-registry audit-export FOLDER`: the audit log and the licences of all files, signed, for an auditor.
//
//     audit.jsonl     an event a line, all of them, in their order; each has the SHA-256 of the line before it
//     licenses.jsonl  a published file a line
//     *.statement     what the registry signs about each (lib/attest/export_statement.hpp)
//
// docs/reference/audit-export.md has the members.
#pragma once

#include <filesystem>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::registry {

struct AuditExportArguments {
    std::filesystem::path folder;
    std::filesystem::path config;
    bool json = false;
};

// The folder appears complete, or not at all. Without a key nothing is signed, which standard error says. Gives the exit
// status: 3 if rows lack a licence because metadata cannot be read. Errors: "audit.exists", those of the configuration,
// the catalog, the key, and of a blob store that does not answer.
[[nodiscard]] base::Result<int> run_audit_export(const AuditExportArguments& arguments,
                                                 const base::Clock& clock);

}  // namespace wheelyard::registry
