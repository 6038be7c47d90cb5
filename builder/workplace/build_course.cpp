#include "builder/workplace/build_course.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "builder/attempt/job_files.hpp"
#include "lib/base/text/text.hpp"
#include "lib/status/limits.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::string_view governor = "governor: ";

// "build at=2026-11-20T09:00:12Z"
std::optional<BuildCourse::Phase> parse_phase(std::string_view text) {
    constexpr std::string_view at = " at=";
    const auto end = text.find(at);
    if (end == 0 || end == std::string_view::npos) return std::nullopt;
    const auto began = base::parse_rfc3339(base::trim(text.substr(end + at.size())));
    if (!began) return std::nullopt;
    return BuildCourse::Phase{std::string(text.substr(0, end)), *began};
}

// "5.1 GiB" as MiB, rounded up, as base::render_bytes() writes it.
std::optional<std::int64_t> parse_mib(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, double>, 5> units{{{" B", 1.0 / (1024 * 1024)},
                                                                        {" KiB", 1.0 / 1024},
                                                                        {" MiB", 1},
                                                                        {" GiB", 1024},
                                                                        {" TiB", 1024 * 1024}}};
    constexpr double max_mib = 1e9;
    for (const auto& [unit, factor] : units) {
        if (!text.ends_with(unit)) continue;
        const std::string_view number = text.substr(0, text.size() - unit.size());
        double value = 0;
        const auto read =
            std::from_chars(number.data(), number.data() + number.size(), value, std::chars_format::fixed);
        if (read.ec != std::errc() || read.ptr != number.data() + number.size()) return std::nullopt;
        if (!(value >= 0 && value * factor < max_mib)) return std::nullopt;
        return static_cast<std::int64_t>(value * factor + 0.999);
    }
    return std::nullopt;
}

// The part "5.1 GiB of 14 GiB" of a line of the governor.
std::optional<std::int64_t> parse_memory(std::string_view line) {
    constexpr std::string_view before = " waiting, ";
    const auto begin = line.find(before);
    if (begin == std::string_view::npos) return std::nullopt;
    const std::string_view rest = line.substr(begin + before.size());
    const auto end = rest.find(" of ");
    return end == std::string_view::npos ? std::nullopt : parse_mib(rest.substr(0, end));
}

std::vector<std::int64_t> maxima(const std::vector<std::int64_t>& all, std::size_t count) {
    if (all.size() <= count) return all;
    std::vector<std::int64_t> parts(count);
    for (std::size_t at = 0; at < all.size(); ++at) {
        std::int64_t& part = parts[at * count / all.size()];
        part = std::max(part, all[at]);
    }
    return parts;
}

}  // namespace

BuildCourse parse_build_course(std::string_view log) {
    BuildCourse course;
    std::vector<std::int64_t> memory;
    for (const auto line : base::split_lines(log)) {
        if (line.starts_with(phase_mark)) {
            if (auto phase = parse_phase(line.substr(phase_mark.size())))
                course.phases.push_back(*std::move(phase));
        } else if (line.starts_with(governor)) {
            if (const auto mib = parse_memory(line)) memory.push_back(*mib);
        }
    }
    if (course.phases.size() > status::max_phases)
        course.phases.erase(course.phases.begin(),
                            course.phases.end() - static_cast<std::ptrdiff_t>(status::max_phases));
    course.memory_mib = maxima(memory, status::max_memory_points);
    return course;
}

}  // namespace wheelyard::builder
