// The table of causes, and the two forms of the report.
#include "builder/steps/differences.hpp"

#include <algorithm>
#include <array>

#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::builder {
namespace {

using io::Json;

// The rows in the order in which reports name them.
constexpr std::array<CauseRow, 5> cause_rows = {{
    {Cause::settings, "inputs.settings",
     "The recipe or the site's settings have changed since the recorded build.",
     "the two builds have different keys of their inputs",
     "Set the recipe back; a wheel of the new settings needs a version or label of its own."},
    {Cause::tools, "inputs.tools", "The two builds used different tools or machines' software.",
     "the versions that the two jobs recorded differ",
     "Load the same modules; pin `requires` in [build] of the recipe."},
    {Cause::build_path, "path.build", "The folder of the build is in the bytes.",
     "a member of each wheel has the name of its build's folder",
     "Set CFLAGS and CXXFLAGS to `-ffile-prefix-map=${build}=.` in [build] environment of the recipe; CMake "
     "adds them to its own."},
    {Cause::build_time, "time.build", "The time of the build is in the bytes.",
     "two differing texts are equal without their dates, times and seconds since 1970, or members have other "
     "times",
     "GCC and Clang replace __DATE__ and __TIME__ by SOURCE_DATE_EPOCH, which every build has; a program "
     "that asks the clock needs a patch that reads SOURCE_DATE_EPOCH."},
    {Cause::bytes, "bytes", "Bytes differ, and neither the path nor the time of the build explains it.",
     "none of the other rows", "Look at what diffoscope shows; its command is the last line of the report."},
}};

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
    return text + "  what to do: " + std::string(row.cure) + "\n";
}

std::string render_side(const std::string& name, const WheelSide& side) {
    return name + "  sha256 " + side.sha256 + ", " + std::to_string(side.bytes) + " bytes, attempt " +
           side.attempt + "\n";
}

std::string diffoscope_command(const DifferencesReport& report) {
    return "diffoscope " + base::quote_shell(report.recorded.file) + " " +
           base::quote_shell(report.again.file);
}

Json side_json(const WheelSide& side) {
    return Json::object({{"attempt", side.attempt}, {"sha256", side.sha256}, {"size", side.bytes}});
}

}  // namespace

const CauseRow& cause_row(Cause cause) {
    return *std::find_if(cause_rows.begin(), cause_rows.end(),
                         [cause](const CauseRow& row) { return row.cause == cause; });
}

std::string render_causes() {
    std::string text = "| code | cause | recognised by | what to do |\n|---|---|---|---|\n";
    for (const CauseRow& row : cause_rows) {
        text += "| `" + std::string(row.code) + "` | " + std::string(row.sentence) + " | " +
                std::string(row.recognised) + " | " + std::string(row.cure) + " |\n";
    }
    return text;
}

std::string render_differences(const DifferencesReport& report) {
    const Comparison& comparison = report.comparison;
    std::string text = one_line(report.filename) + (comparison.identical ? " is identical\n" : " differs\n");
    text += render_side("recorded", report.recorded) + render_side("rebuilt ", report.again);
    if (comparison.identical) return text;
    text += std::to_string(comparison.same_members) + " members are the same, " +
            std::to_string(comparison.differing_members) + " differ\n";
    for (const FoundCause& found : comparison.causes)
        text += render_cause(found);
    return text + "\nAll that differs: " + diffoscope_command(report) + "\n";
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
                                  {"places", found.places},
                                  {"examples", examples}}));
    }
    Json json = Json::object({{"format", "wheelyard.differences/2"},
                              {"cell", report.cell},
                              {"filename", report.filename},
                              {"identical", report.comparison.identical},
                              {"recorded", side_json(report.recorded)},
                              {"rebuilt", side_json(report.again)},
                              {"same_members", report.comparison.same_members},
                              {"differing_members", report.comparison.differing_members},
                              {"causes", causes}});
    if (!report.comparison.identical) json.set("diffoscope", diffoscope_command(report));
    return json.render_pretty();
}

}  // namespace wheelyard::builder
