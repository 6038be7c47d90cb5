// What the registry signs about a file that `audit-export` writes for an auditor.
//
//     {"registry":{"id":"https://wheels.example","version":{"wheelyard-registry":"0.1.0"}},"time":"2026-11-27T09:00:00.000000Z",
//      "history":1,"serial":120,"records":120,"head":"SHA-256 of the last line"}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/attest/envelope.hpp"
#include "lib/attest/statement.hpp"
#include "lib/base/clock.hpp"

namespace wheelyard::attest {

struct ExportedFile {
    std::string filename;
    std::string sha256;
    std::uint64_t records = 0;  // lines
    std::string head = {};      // of a file whose lines are a chain; empty: they are none
};

// Of all files of one export.
struct Export {
    std::string registry;  // URI of the registry that signs
    base::UnixMicros time = 0;
    std::int64_t history = 1;  // of the root document: a restored registry begins another one
    std::int64_t serial = 0;   // of the last event
};

inline constexpr std::string_view export_statement_suffix = ".statement";  // after the name of the file

// The envelope with the statement.
[[nodiscard]] std::string sign_export(const ExportedFile& file, const Export& of, const SigningKey& key);

}  // namespace wheelyard::attest
