// Governed builds as JSON and as text.
#include "lib/wire/governed_build.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"

namespace wheelyard::wire {
namespace {

using io::Json;

constexpr std::string_view summary_format = "wheelyard.governor-summary/1";
constexpr double max_number = 1e18;  // fits an integer of 64 bits

double number_in(const Json& json, std::string_view name) {
    const Json* found = json.find(name);
    if (found == nullptr) return 0;
    const double value = found->as_double() != nullptr ? *found->as_double()
                         : found->as_int() != nullptr  ? static_cast<double>(*found->as_int())
                                                       : 0;
    return value > 0 ? std::min(value, max_number) : 0;
}

std::uint64_t count_in(const Json& json, std::string_view name) {
    return static_cast<std::uint64_t>(number_in(json, name));
}

// At most `max_governor_text` bytes, cut between UTF-8 characters.
std::string shorten(std::string text) {
    text.resize(base::cut_utf8(text, max_governor_text).size());
    return text;
}

std::string text_in(const Json& json, std::string_view name) {
    return shorten(json.string_or(name, ""));
}

}  // namespace

Json render_governed_build(const GovernedBuild& build) {
    Json worst = Json::array();
    for (const auto& one : build.worst) {
        worst.push(
            Json::object({{"source", one.source}, {"peak_bytes", one.peak_bytes}, {"seconds", one.seconds}}));
    }
    return Json::object({{"compiles", build.compiles},
                         {"killed", build.killed},
                         {"oom_kills", build.oom_kills},
                         {"could_not_fit", build.could_not_fit},
                         {"wall_s", build.wall_seconds},
                         {"high_water_bytes", build.high_water_bytes},
                         {"limit_bytes", build.limit_bytes},
                         {"limit", build.limit},
                         {"worst", worst},
                         {"messages", Json::array_of(build.messages)}});
}

GovernedBuild parse_governed_build(const Json& json) {
    GovernedBuild build;
    build.compiles = count_in(json, "compiles");
    build.killed = count_in(json, "killed");
    build.oom_kills = count_in(json, "oom_kills");
    build.could_not_fit = count_in(json, "could_not_fit");
    build.wall_seconds = number_in(json, "wall_s");
    build.high_water_bytes = count_in(json, "high_water_bytes");
    build.limit_bytes = count_in(json, "limit_bytes");
    build.limit = text_in(json, "limit");
    for (const auto& one : json.items("worst")) {
        if (build.worst.size() == max_worst_compiles) break;
        build.worst.push_back(
            {text_in(one, "source"), count_in(one, "peak_bytes"), number_in(one, "seconds")});
    }
    for (auto& message : json.texts("messages")) {
        if (build.messages.size() == max_governor_messages) break;
        build.messages.push_back(shorten(std::move(message)));
    }
    return build;
}

base::Result<GovernedBuild> parse_governor_summary(std::string_view text) {
    WHEELYARD_ASSIGN(const auto json, io::parse_json(text));
    const std::string found = json.string_or("format", "");
    if (found != summary_format) {
        return base::fail("governor.format",
                          "The governor's summary does not have the format " + std::string(summary_format),
                          found);
    }
    return parse_governed_build(json);
}

std::string describe(const GovernedBuild& build) {
    std::string text = std::to_string(build.compiles) + (build.compiles == 1 ? " compile" : " compiles") +
                       ", at most " + base::render_bytes(build.high_water_bytes) + " of " +
                       base::render_bytes(build.limit_bytes);
    if (!build.limit.empty()) text += " (" + build.limit + ")";
    if (build.retries() > 0) text += ", " + std::to_string(build.retries()) + " run again";
    if (build.could_not_fit > 0) text += ", " + std::to_string(build.could_not_fit) + " could not fit";
    return text;
}

}  // namespace wheelyard::wire
