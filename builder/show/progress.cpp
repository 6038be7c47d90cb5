// Finds the counters of ninja and CMake in the tail of a log.
#include "builder/show/report.hpp"

#include <algorithm>

#include "builder/attempt/job_files.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

// "[12/345] …" or "[ 12%] …", after any prefix (pip indents by two).
bool parse_counter(std::string_view line, Progress& progress) {
    line = base::trim(line);
    if (!line.starts_with("[")) return false;
    const auto end = line.find(']');
    if (end == std::string_view::npos) return false;
    const std::string_view inside = base::trim(line.substr(1, end - 1));
    constexpr std::uint64_t most = 10'000'000;  // steps; anything larger is not a counter
    if (inside.ends_with('%')) {
        const auto percent = base::parse_decimal(inside.substr(0, inside.size() - 1));
        if (!percent || *percent > 100) return false;
        progress.done = static_cast<int>(*percent);
        progress.total = 100;
        return true;
    }
    const auto slash = inside.find('/');
    if (slash == std::string_view::npos) return false;
    const auto done = base::parse_decimal(inside.substr(0, slash));
    const auto total = base::parse_decimal(inside.substr(slash + 1));
    if (!done || !total || *total == 0 || *total > most || *done > *total) return false;
    progress.done = static_cast<int>(*done);
    progress.total = static_cast<int>(*total);
    return true;
}

}  // namespace

Progress parse_progress(std::string_view log_tail) {
    Progress progress;
    for (const auto line : base::split_lines(log_tail)) {
        if (line.starts_with(phase_mark)) {
            const auto rest = line.substr(phase_mark.size());
            progress = {std::string(rest.substr(0, rest.find(' '))), 0, 0};
        } else {
            parse_counter(line, progress);
        }
    }
    return progress;
}

std::string render_bar(const Progress& progress, int width) {
    if (progress.total <= 0 || width <= 0) return "";
    const int filled =
        std::clamp(static_cast<int>(std::int64_t{progress.done} * width / progress.total), 0, width);
    const std::string count = progress.total == 100
                                  ? std::to_string(progress.done) + "%"
                                  : std::to_string(progress.done) + "/" + std::to_string(progress.total);
    return "[" + std::string(static_cast<std::size_t>(filled), '#') +
           std::string(static_cast<std::size_t>(width - filled), '-') + "] " + count;
}

}  // namespace wheelyard::builder
