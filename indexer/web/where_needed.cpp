#include "indexer/web/where_needed.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "lib/base/text/text.hpp"
#include "lib/wheel/marker.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::indexer {
namespace {

constexpr int max_minor = 40;  // of Python 3, beyond any that a reader may choose
// What nobody knows of a reader's machine, or which variant an installer takes there.
constexpr std::array<std::string_view, 4> unknown{"platform_release", "platform_version", "extra",
                                                  "variant_"};

// Of a Python whose last number is not known, some release needs it.
bool needs(const wheel::Marker& marker, int minor, std::string_view machine) {
    const std::string python = "3." + std::to_string(minor);
    constexpr std::array<std::string_view, 2> first_and_last{".0", ".99"};
    return std::any_of(first_and_last.begin(), first_and_last.end(), [&](std::string_view release) {
        return marker.evaluate(wheel::linux_markers(python + std::string(release), std::string(machine)));
    });
}

}  // namespace

WhereNeeded where_needed(const std::optional<wheel::Marker>& marker) {
    if (!marker) return {};
    const std::string text = marker->text();
    if (std::any_of(unknown.begin(), unknown.end(),
                    [&](std::string_view name) { return text.find(name) != std::string::npos; }))
        return {.is_open = true};
    // Most markers name one of both.
    const bool names_machine = text.find("platform_machine") != std::string::npos;
    const std::size_t last_machine = names_machine ? wheel::linux_machines.size() : 1;
    std::vector<int> minors;
    std::vector<std::string_view> on;
    std::size_t places = 0;
    for (int minor = 0; minor <= max_minor; ++minor) {
        for (const std::string_view machine : std::span(wheel::linux_machines).first(last_machine)) {
            if (!needs(*marker, minor, machine)) continue;
            ++places;
            if (minors.empty() || minors.back() != minor) minors.push_back(minor);
            if (std::find(on.begin(), on.end(), machine) == on.end()) on.push_back(machine);
        }
    }
    if (places == 0) return {.nowhere = true};
    const auto count = static_cast<std::size_t>(minors.back() - minors.front()) + 1;
    if (minors.size() != count || places != count * on.size()) return {.is_open = true};
    WhereNeeded where;
    if (count <= max_minor)
        where.pythons = (minors.front() == 0 ? "" : std::to_string(minors.front())) + "-" +
                        (minors.back() == max_minor ? "" : std::to_string(minors.back()));
    if (on.size() < last_machine) where.machines = base::join({on.begin(), on.end()}, " ");
    return where;
}

}  // namespace wheelyard::indexer
