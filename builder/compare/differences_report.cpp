// The result of a comparison for people (differences.txt) and for programs (differences.json,
// "wheelyard.differences/1").
#include "builder/compare/compare_wheels.hpp"

#include "lib/base/text/printable.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::builder {
namespace {

using io::Json;

std::string one_line(const std::string& text) {
    return base::replace_all(base::printable(text), "\n", "?");
}

std::string render_place(const CauseExample& place) {
    std::string text = "    " + one_line(place.member.empty() ? place.where : place.member);
    if (!place.member.empty() && !place.where.empty()) text += " " + one_line(place.where);
    text += "\n";
    if (place.recorded.empty() && place.again.empty()) return text;
    return text + "        recorded  " + one_line(place.recorded) + "\n        rebuilt   " +
           one_line(place.again) + "\n";
}

std::string render_cause(const FoundCause& found) {
    const CauseRow& row = cause_row(found.cause);
    std::string text = "\n" + std::string(row.code) + ": " + std::string(row.sentence);
    if (found.places > 1) text += " (" + std::to_string(found.places) + " places)";
    text += "\n";
    for (const CauseExample& place : found.examples)
        text += render_place(place);
    if (found.places > found.examples.size())
        text += "    and " + std::to_string(found.places - found.examples.size()) + " more\n";
    return text + (row.follows ? "" : "  what to do: " + std::string(row.cure) + "\n");
}

std::string render_side(const std::string& name, const WheelSide& side) {
    return name + "  sha256 " + side.sha256 + ", " + std::to_string(side.bytes) + " bytes, attempt " +
           side.attempt + "\n";
}

Json side_json(const WheelSide& side) {
    return Json::object({{"attempt", side.attempt}, {"sha256", side.sha256}, {"size", side.bytes}});
}

}  // namespace

std::string render_differences(const DifferencesReport& report) {
    const Comparison& comparison = report.comparison;
    std::string text = one_line(report.filename) + (comparison.identical ? " is identical\n" : " differs\n");
    text += render_side("recorded", report.recorded) + render_side("rebuilt ", report.again);
    if (comparison.identical) return text;
    text += std::to_string(comparison.same_members) + " members are the same, " +
            std::to_string(comparison.differing_members) + " differ\n";
    for (const FoundCause& found : comparison.causes)
        text += render_cause(found);
    return text;
}

std::string render_differences_json(const DifferencesReport& report) {
    Json causes = Json::array();
    for (const FoundCause& found : report.comparison.causes) {
        const CauseRow& row = cause_row(found.cause);
        Json examples = Json::array();
        for (const CauseExample& place : found.examples) {
            examples.push(Json::object({{"member", base::printable(place.member)},
                                        {"where", base::printable(place.where)},
                                        {"recorded", base::printable(place.recorded)},
                                        {"rebuilt", base::printable(place.again)}}));
        }
        causes.push(Json::object({{"code", row.code},
                                  {"sentence", row.sentence},
                                  {"cure", row.cure},
                                  {"follows", row.follows},
                                  {"places", found.places},
                                  {"examples", examples}}));
    }
    return Json::object({{"format", "wheelyard.differences/1"},
                         {"cell", report.cell},
                         {"filename", report.filename},
                         {"identical", report.comparison.identical},
                         {"recorded", side_json(report.recorded)},
                         {"rebuilt", side_json(report.again)},
                         {"same_members", report.comparison.same_members},
                         {"differing_members", report.comparison.differing_members},
                         {"causes", causes}})
        .render_pretty();
}

}  // namespace wheelyard::builder
