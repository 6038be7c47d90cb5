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
#pragma once

#include <string>

#include "builder/compare/compare_wheels.hpp"

namespace wheelyard::builder {

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
