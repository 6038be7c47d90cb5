// What differs between a recorded wheel and another build of the same inputs, as far as the inputs, the path
// or the time of the build explain it; diffoscope shows all else, and the report has its command. Both wheels
// are untrusted: the readers of lib/inspect bound the work, and max_explained_bytes what is explained.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/keep_alive.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

inline constexpr std::size_t max_examples = 8;          // places that are kept for each cause
inline constexpr std::size_t max_evidence_bytes = 160;  // of a differing text: one line of a terminal or two
// Both members are read into memory. Larger ones are reported as different, without a cause.
inline constexpr std::uint64_t max_explained_bytes = 128 * base::mib;

enum class Cause { settings, tools, build_path, build_time, bytes };

struct CauseRow {
    Cause cause;
    std::string_view code;
    std::string_view sentence;    // for people
    std::string_view recognised;  // how the comparison finds it
    std::string_view cure;        // what to set
};
[[nodiscard]] const CauseRow& cause_row(Cause cause);
// A Markdown table with one row for each cause; docs/how-to/check-reproducibility.md has it.
[[nodiscard]] std::string render_causes();

struct CauseExample {
    std::string member;  // empty: the archive, or the inputs of the builds
    std::string where;   // "a member of one wheel alone"; may be empty
    std::string recorded = {};
    std::string again = {};
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

    void add(Cause cause, CauseExample example);
};

// The names by which the bytes of each build may contain its own path: the attempt's folder and its build
// tree.
struct BuildNames {
    std::vector<std::string> recorded;
    std::vector<std::string> again;
};

struct WheelPair {
    const base::Reader& recorded;
    const base::Reader& again;
    BuildNames names;
    base::KeepAlive keep_alive = {};
};

// Errors: "compare.unreadable" (one of them is not a wheel), I/O errors, those of keep_alive.
[[nodiscard]] base::Result<Comparison> compare_wheels(const WheelPair& pair);

// `text` with every date, time of day and number of seconds since 1970 replaced by "?".
[[nodiscard]] std::string without_times(std::string_view text);

struct WheelSide {
    std::string attempt;
    std::string sha256;
    std::uint64_t bytes = 0;
    std::string file = {};  // where it stays if the two differ
};

// The result of a comparison for people (differences.txt) and for programs (differences.json,
// "wheelyard.differences/2").
//
//     demo-1.0-cp311-cp311-linux_x86_64.whl differs
//     recorded  sha256 12ab…  attempt w1kq7x9aab3cde
//     rebuilt   sha256 34cd…  attempt w1kq7x9aab3cdf
//     5 members are the same, 2 differ
//
//     path.build: The folder of the build is in the bytes. (3 places)
//         demo/_fast.so
//             recorded  /work/attempts/w1kq7x9aab3cde/tree/demo-1.0
//             rebuilt   /work/attempts/w1kq7x9aab3cdf/tree/demo-1.0
//       what to do: …
//
//     All that differs: diffoscope /work/attempts/w1kq7x9aab3cdf/compared/recorded/demo….whl …
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
