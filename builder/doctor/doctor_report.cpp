// Text and JSON of examinations and rules.
#include "builder/doctor/doctor.hpp"

#include <algorithm>

#include "lib/io/json.hpp"

namespace wheelyard::builder {
namespace {

using io::Json;

constexpr int max_findings_shown = 5;  // later ones are usually consequences

std::string place(const std::string& log, std::uint64_t line) {
    return log + ":" + std::to_string(line);
}

std::string render_finding(const Finding& finding, const std::string& log) {
    const DoctorRule& rule = *finding.rule;
    return std::string(rule.code) + ": " + std::string(rule.cause) + "\n  " + place(log, finding.line) +
           (finding.count > 1 ? " (and " + std::to_string(finding.count - 1) + " more)" : "") + ": " +
           finding.text + "\n  what to do: " + remedy_of(finding) + "\n  agent: " + automatic_sentence(rule) +
           "\n";
}

std::string render_set_aside(const std::vector<Finding>& findings, const std::string& log) {
    std::string text = "\nAlso in the log, but the build went on after it:\n";
    int shown = 0;
    for (const auto& finding : findings) {
        if (++shown > max_findings_shown) break;
        text += "  " + std::string(finding.rule->code) + ": " + place(log, finding.line) + ": " +
                finding.text + "\n";
    }
    return text;
}

std::string render_first_error(const FirstError& first, const std::string& log) {
    std::string text = "First error, " + place(log, first.line);
    if (!first.source.file.empty())
        text += ", in " + first.source.file + ":" + std::to_string(first.source.line);
    text += "\n";
    for (const auto& line : first.before)
        text += "    " + line + "\n";
    text += "  > " + first.text + "\n";
    for (const auto& line : first.after)
        text += "    " + line + "\n";
    return text;
}

Json json_of(const Finding& finding) {
    const DoctorRule& rule = *finding.rule;
    return Json::object({{"code", rule.code},
                         {"cause", rule.cause},
                         {"remedy", remedy_of(finding)},
                         {"automatic", automatics.text(rule.automatic)},
                         {"line", finding.line},
                         {"text", finding.text},
                         {"count", finding.count}});
}

Json json_of(const FirstError& first) {
    return Json::object({{"line", first.line},
                         {"text", first.text},
                         {"file", first.source.file},
                         {"file_line", first.source.line},
                         {"before", Json::array_of(first.before)},
                         {"after", Json::array_of(first.after)}});
}

}  // namespace

std::string remedy_of(const Finding& finding) {
    if (finding.rule->is_shared && finding.rule->place.empty())
        if (auto advice = symbol_advice(finding.text); !advice.empty()) return advice;
    const Wanted wanted = wanted_by(finding.text);
    // A site's own rule says what it means, unless many causes share it.
    std::string commands =
        finding.rule->is_shared || finding.rule->place.empty() ? install_commands(wanted) : "";
    // A header of CUDA or torch is in no distribution: only rules that many causes share send people to
    // search for a name.
    if (commands.empty() && finding.rule->is_shared) commands = search_commands(wanted);
    return std::string(finding.rule->remedy) + (commands.empty() ? "" : " " + commands + ".");
}

std::string render_examination(const Examination& seen, const std::string& log) {
    std::string text;
    if (seen.findings.empty() && !seen.first_error) {
        text = seen.exit_code == 0 ? "The build succeeded.\n" : "No error found in this log.\n";
    } else if (seen.findings.empty()) {
        text = "No rule matches this failure.\n";
    }
    int shown = 0;
    for (const auto& finding : seen.findings) {
        if (++shown == 2) text += "\nOther findings, probably consequences:\n";
        if (shown <= max_findings_shown) text += render_finding(finding, log);
    }
    if (seen.first_error) text += "\n" + render_first_error(*seen.first_error, log);
    if (!seen.set_aside.empty()) text += render_set_aside(seen.set_aside, log);
    text += "\n" + std::to_string(seen.lines) + " lines";
    if (!seen.phase.empty()) text += ", last phase `" + seen.phase + "`";
    if (seen.exit_code) text += ", exit code " + std::to_string(*seen.exit_code);
    return text + "\n";
}

std::string render_examination_json(const Examination& seen, const std::string& log) {
    Json findings = Json::array();
    for (const auto& finding : seen.findings)
        findings.push(json_of(finding));
    Json set_aside = Json::array();
    for (const auto& finding : seen.set_aside)
        set_aside.push(json_of(finding));
    return Json::object({{"format", "wheelyard.doctor/1"},
                         {"log", log},
                         {"lines", seen.lines},
                         {"bytes", seen.bytes},
                         {"phase", seen.phase},
                         {"exit_code", seen.exit_code ? Json(*seen.exit_code) : Json()},
                         {"findings", findings},
                         {"set_aside", set_aside},
                         {"first_error", seen.first_error ? json_of(*seen.first_error) : Json()}})
        .render_pretty();
}

std::string render_rule(const DoctorRule& rule) {
    std::string text = std::string(rule.code) + "\n  " + std::string(rule.cause) +
                       "\n  what to do: " + std::string(rule.remedy) +
                       "\n  agent: " + automatic_sentence(rule) + "\n  matches lines that contain:\n";
    for (const auto& pattern : rule.patterns)
        text += "    " + std::string(without_mark(pattern)) +
                (is_survivable(pattern) ? "  (a build may survive it)\n" : "\n");
    if (!rule.place.empty()) text += "  a rule of this site: " + rule.place + "\n";
    return text;
}

std::string render_rules_json(const std::vector<DoctorRule>& all) {
    Json rules = Json::array();
    for (const auto& rule : all) {
        Json patterns = Json::array();
        for (const auto& pattern : rule.patterns)
            patterns.push(Json(without_mark(pattern)));
        rules.push(Json::object({{"code", rule.code},
                                 {"patterns", patterns},
                                 {"cause", rule.cause},
                                 {"remedy", rule.remedy},
                                 {"automatic", automatics.text(rule.automatic)}}));
    }
    return Json::object({{"format", "wheelyard.doctor_rules/1"}, {"rules", rules}}).render_pretty();
}

}  // namespace wheelyard::builder
