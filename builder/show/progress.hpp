// The progress of a build, from the tail of its log. Pure.
//
//     [12/345] Building CXX object …        ninja
//     [ 12%] Building C object …            make, through CMake
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wheelyard::builder {

struct Progress {
    std::string phase;  // of the last phase marker in the tail, or empty
    int done = 0;
    int total = 0;  // 0: no counter since that marker; 100 for percentages
};

[[nodiscard]] Progress parse_progress(std::string_view log_tail);

// "[#####-----] 12/345" with a bar of `width` characters; empty without a counter.
[[nodiscard]] std::string render_bar(const Progress& progress, int width);

}  // namespace wheelyard::builder
