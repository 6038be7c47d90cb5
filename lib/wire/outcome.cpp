#include "lib/wire/outcome.hpp"

#include "lib/io/json.hpp"
#include "lib/wire/members.hpp"

namespace wheelyard::wire {
namespace {

using io::Json;

constexpr std::string_view outcome_format = "wheelyard.outcome/1";

Json render_diagnosis(const Diagnosis& diagnosis) {
    return Json::object({{"phase", diagnosis.phase},
                         {"code", diagnosis.error.code},
                         {"sentence", diagnosis.error.sentence},
                         {"value", diagnosis.error.value},
                         {"advice", diagnosis.error.advice},
                         {"first_error", diagnosis.first_error},
                         {"cause", diagnosis.cause},
                         {"line", diagnosis.line}});
}

Json render_provenance(const Provenance& provenance) {
    return Json::object({{"script_sha256", provenance.script_sha256},
                         {"host", provenance.host},
                         {"system", provenance.system},
                         {"modules", Json::array_of(provenance.modules)},
                         {"tools", render_named_texts(provenance.tools)},
                         {"environment", render_named_texts(provenance.environment)},
                         {"requirements", render_named_texts(provenance.requirements)}});
}

Diagnosis parse_diagnosis(const Json& json) {
    return {json.string_or("phase", ""),
            {json.string_or("code", ""), json.string_or("sentence", ""), json.string_or("value", ""),
             json.string_or("advice", "")},
            json.string_or("first_error", ""),
            json.string_or("cause", ""),
            static_cast<std::uint64_t>(json.int_or("line", 0))};
}

Provenance parse_provenance(const Json& json) {
    return {json.string_or("script_sha256", ""), json.string_or("host", ""),
            json.string_or("system", ""),        json.texts("modules"),
            named_texts_in(json, "tools"),       named_texts_in(json, "environment"),
            named_texts_in(json, "requirements")};
}

}  // namespace

std::string render_outcome(const Outcome& outcome) {
    Json phases = Json::array();
    for (const auto& phase : outcome.phases) {
        phases.push(Json::object({{"name", phase.name}, {"seconds", phase.seconds}}));
    }
    const Json json = Json::object(
        {{"format", outcome_format},
         {"attempt", outcome.attempt},
         {"cell", outcome.cell},
         {"purpose", outcome.purpose},
         {"site", outcome.site},
         {"package", outcome.package},
         {"version", outcome.version},
         {"python", outcome.python},
         {"number", outcome.number},
         {"result", outcome.done ? "done" : "failed"},
         {"began", base::render_rfc3339(outcome.began)},
         {"ended", base::render_rfc3339(outcome.ended)},
         {"phases", phases},
         {"exit_code", outcome.exit_code ? Json(*outcome.exit_code) : Json()},
         {"scheduler", Json::object({{"status", outcome.scheduler_status},
                                     {"seconds", outcome.used.seconds},
                                     {"cpu_seconds", outcome.used.cpu_seconds},
                                     {"memory_kib", outcome.used.memory_kib}})},
         {"request", Json::object({{"memory_mib", outcome.request.memory_mib},
                                   {"max_walltime_minutes", outcome.request.max_walltime_minutes},
                                   {"cores", outcome.request.cores},
                                   {"remedy", outcome.request.remedy}})},
         {"governor", outcome.governed ? render_governed_build(*outcome.governed) : Json()},
         {"diagnosis", outcome.diagnosis ? render_diagnosis(*outcome.diagnosis) : Json()},
         {"source", Json::object({{"kind", outcome.source.kind},
                                  {"origin", outcome.source.origin},
                                  {"filename", outcome.source.filename},
                                  {"sha256", outcome.source.sha256}})},
         {"wheel", Json::object({{"filename", outcome.wheel.filename},
                                 {"sha256", outcome.wheel.sha256},
                                 {"size", outcome.wheel.size}})},
         {"verdicts", Json::array_of(outcome.verdicts)},
         {"provenance", render_provenance(outcome.provenance)}});
    return json.render_pretty();
}

base::Result<Outcome> parse_outcome(std::string_view text) {
    WHEELYARD_ASSIGN(const auto json, io::parse_json(text));
    const std::string found = json.string_or("format", "");
    if (found != outcome_format) {
        return base::fail("outcome.format",
                          "The outcome does not have the format " + std::string(outcome_format), found);
    }
    Outcome outcome;
    WHEELYARD_ASSIGN(outcome.attempt, json.string_at("attempt"));
    WHEELYARD_ASSIGN(outcome.cell, json.string_at("cell"));
    WHEELYARD_ASSIGN(const auto result, json.string_at("result"));
    if (result != "done" && result != "failed") {
        return base::fail("outcome.result", "The result of an outcome must be done or failed", result);
    }
    outcome.done = result == "done";
    outcome.purpose = json.string_or("purpose", "build");
    outcome.site = json.string_or("site", "");
    outcome.package = json.string_or("package", "");
    outcome.version = json.string_or("version", "");
    outcome.python = json.string_or("python", "");
    outcome.number = static_cast<int>(json.int_or("number", 1));
    outcome.began = time_in(json, "began");
    outcome.ended = time_in(json, "ended");
    const Json& scheduler = member(json, "scheduler");
    outcome.scheduler_status = scheduler.string_or("status", "");
    outcome.used = {scheduler.int_or("seconds", 0), scheduler.int_or("cpu_seconds", 0),
                    scheduler.int_or("memory_kib", 0)};
    if (const auto* code = member(json, "exit_code").as_int()) outcome.exit_code = static_cast<int>(*code);
    const Json& request = member(json, "request");
    outcome.request = {request.int_or("memory_mib", 0), request.int_or("max_walltime_minutes", 0),
                       static_cast<int>(request.int_or("cores", 0)), request.string_or("remedy", "")};
    outcome.provenance = parse_provenance(member(json, "provenance"));
    const Json& governed = member(json, "governor");
    if (governed.find("limit_bytes") != nullptr) outcome.governed = parse_governed_build(governed);
    const Json& diagnosis = member(json, "diagnosis");
    if (diagnosis.find("code") != nullptr) outcome.diagnosis = parse_diagnosis(diagnosis);
    const Json& source = member(json, "source");
    outcome.source = {source.string_or("kind", ""), source.string_or("origin", ""),
                      source.string_or("filename", ""), source.string_or("sha256", "")};
    const Json& wheel = member(json, "wheel");
    outcome.wheel = {wheel.string_or("filename", ""), wheel.string_or("sha256", ""),
                     static_cast<std::uint64_t>(wheel.int_or("size", 0))};
    for (const auto& phase : json.items("phases")) {
        const Json& seconds = member(phase, "seconds");
        const double value = seconds.as_double() != nullptr ? *seconds.as_double()
                             : seconds.as_int() != nullptr  ? static_cast<double>(*seconds.as_int())
                                                            : 0;
        outcome.phases.push_back({phase.string_or("name", ""), value});
    }
    outcome.verdicts = json.texts("verdicts");
    return outcome;
}

}  // namespace wheelyard::wire
