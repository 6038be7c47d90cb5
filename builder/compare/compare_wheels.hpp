// Compares a recorded wheel with another build of the same inputs: member by member, then the archive's own fields.
// Both are untrusted: the readers of lib/inspect bound the work, and limits.hpp what is explained.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "builder/compare/causes.hpp"
#include "builder/compare/explain_bytes.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/keep_alive.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

inline constexpr std::size_t max_examples = 8;  // places that are kept for each cause

struct CauseExample {
    std::string member;  // empty: the archive, or the inputs of the builds
    std::string where;   // a section of an ELF file, or empty
    std::string recorded;
    std::string again;
};

struct FoundCause {
    Cause cause = Cause::bytes;
    std::uint64_t places = 0;
    std::vector<CauseExample> examples;  // at most max_examples
};

struct Comparison {
    bool identical = false;
    std::uint64_t same_members = 0;
    std::uint64_t differing_members = 0;  // in their contents
    std::vector<FoundCause> causes;       // in the order of the table

    void add(const std::string& member, const Evidence& evidence);
};

struct WheelPair {
    const base::Reader& recorded;
    const base::Reader& again;
    BuildNames names;
    std::filesystem::path scratch;  // a folder for unpacked ELF members; exists
    base::KeepAlive keep_alive = {};
};

// Errors: "compare.unreadable" (one of them is not a wheel), I/O errors, those of keep_alive.
[[nodiscard]] base::Result<Comparison> compare_wheels(const WheelPair& pair);

// The result of a comparison for people (differences.txt) and for programs (differences.json, "wheelyard.differences/1").
// Pure.
//
//     demo-1.0-cp311-cp311-linux_x86_64.whl differs
//     recorded  sha256 12ab…  attempt w1kq7x9aab3cde
//     rebuilt   sha256 34cd…  attempt w1kq7x9aab3cdf
//     5 members are the same, 2 differ
//
//     path.build: The folder of the build is in the bytes. (3 places)
//         demo/_fast.so .debug_line_str
//             recorded  /work/attempts/w1kq7x9aab3cde/tree/demo-1.0
//             rebuilt   /work/attempts/w1kq7x9aab3cdf/tree/demo-1.0
//       what to do: …
struct WheelSide {
    std::string attempt;
    std::string sha256;
    std::uint64_t bytes = 0;
};

struct DifferencesReport {
    std::string cell;
    std::string filename;
    WheelSide recorded;
    WheelSide again;
    Comparison comparison;
};

// Untrusted texts are made printable.
[[nodiscard]] std::string render_differences(const DifferencesReport& report);
[[nodiscard]] std::string render_differences_json(const DifferencesReport& report);

}  // namespace wheelyard::builder
