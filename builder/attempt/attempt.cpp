// Attempts as JSON, their states and their names.
#include "builder/attempt/attempt.hpp"

#include <array>

#include "builder/attempt/limits.hpp"
#include "lib/base/check.hpp"
#include "lib/base/digest.hpp"

namespace wheelyard::builder {
namespace {

using io::Json;

constexpr std::string_view format = "wheelyard.attempt/1";

struct StateRow {
    State state;
    std::string_view text;
};
constexpr std::array<StateRow, 9> states{{{State::planned, "planned"},
                                          {State::fetched, "fetched"},
                                          {State::prepared, "prepared"},
                                          {State::submitting, "submitting"},
                                          {State::running, "running"},
                                          {State::built, "built"},
                                          {State::uploading, "uploading"},
                                          {State::done, "done"},
                                          {State::failed, "failed"}}};

struct PurposeRow {
    Purpose purpose;
    std::string_view text;
};
constexpr std::array<PurposeRow, 4> purposes{{{Purpose::build, "build"},
                                              {Purpose::gpu_test, "gpu-test"},
                                              {Purpose::multi_node_test, "multi-node-test"},
                                              {Purpose::promotion, "promotion"}}};

struct WaitRow {
    WaitFor what;
    std::string_view text;
};
constexpr std::array<WaitRow, 7> waits{{{WaitFor::nothing, ""},
                                        {WaitFor::retry, "retry"},
                                        {WaitFor::person, "person"},
                                        {WaitFor::login_step, "login_step"},
                                        {WaitFor::job_slot, "job_slot"},
                                        {WaitFor::queue, "queue"},
                                        {WaitFor::scheduler, "scheduler"}}};

// Crockford's letters: no i, l, o, u, so an id can be read aloud.
constexpr std::string_view digits = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::size_t id_time_digits = 7;  // 32^7 seconds reach the year 3058
constexpr std::size_t id_random_digits = max_attempt_id_bytes - 1 - id_time_digits;

Json render_source(const SourceRecord& source) {
    return Json::object({{"kind", source.kind},
                         {"origin", source.origin},
                         {"filename", source.filename},
                         {"sha256", source.sha256},
                         {"folder", source.folder},
                         {"back_end", source.back_end},
                         {"back_end_path", Json::array_of(source.back_end_path)},
                         {"requires", Json::array_of(source.build_requires)}});
}

std::vector<std::string> strings_in(const Json& object, std::string_view name) {
    std::vector<std::string> found;
    const Json* member = object.find(name);
    if (member == nullptr || member->as_array() == nullptr) return found;
    for (const auto& item : *member->as_array()) {
        if (item.as_string() != nullptr) found.push_back(*item.as_string());
    }
    return found;
}

SourceRecord parse_source(const Json& json) {
    SourceRecord source;
    source.kind = json.string_or("kind", "");
    source.origin = json.string_or("origin", "");
    source.filename = json.string_or("filename", "");
    source.sha256 = json.string_or("sha256", "");
    source.folder = json.string_or("folder", "");
    source.back_end = json.string_or("back_end", "");
    source.back_end_path = strings_in(json, "back_end_path");
    source.build_requires = strings_in(json, "requires");
    return source;
}

Json render_failure(const Failure& failure) {
    return Json::object({{"phase", failure.phase},
                         {"code", failure.error.code},
                         {"sentence", failure.error.sentence},
                         {"value", failure.error.value},
                         {"advice", failure.error.advice},
                         {"first_error", failure.first_error},
                         {"cause", failure.cause},
                         {"line", failure.line},
                         {"try_again", failure.try_again}});
}

Failure parse_failure(const Json& json) {
    Failure failure;
    failure.phase = json.string_or("phase", "");
    failure.error = {json.string_or("code", ""), json.string_or("sentence", ""), json.string_or("value", ""),
                     json.string_or("advice", "")};
    failure.end = cause_of_code(failure.error.code);
    failure.first_error = json.string_or("first_error", "");
    failure.cause = json.string_or("cause", "");
    failure.line = static_cast<std::uint64_t>(json.int_or("line", 0));
    failure.try_again = json.bool_or("try_again", true);
    return failure;
}

base::UnixMicros time_in(const Json& object, std::string_view name) {
    const auto time = base::parse_rfc3339(object.string_or(name, ""));
    return time ? *time : 0;
}

Waiting parse_waiting(const Json& json) {
    Waiting waiting{WaitFor::nothing, static_cast<int>(json.int_or("tries", 0)), time_in(json, "since"),
                    time_in(json, "not_before"), json.string_or("reason", "")};
    const std::string what = json.string_or("for", "");
    for (const auto& row : waits) {
        if (row.text == what) waiting.what = row.what;
    }
    return waiting;
}

Json render_time(base::UnixMicros time) {
    return time == 0 ? Json() : Json(base::render_rfc3339(time));
}

Json render_job_end(const JobEnd& end) {
    return Json::object({{"cause", end.cause == EndCause::unexplained ? "" : end_row(end.cause).code},
                         {"word", end.word},
                         {"seconds", end.used.seconds},
                         {"cpu_seconds", end.used.cpu_seconds},
                         {"memory_kib", end.used.memory_kib}});
}

JobEnd parse_job_end(const Json& json) {
    return {cause_of_code(json.string_or("cause", "")).value_or(EndCause::unexplained),
            {},
            json.string_or("word", ""),
            {json.int_or("seconds", 0), json.int_or("cpu_seconds", 0), json.int_or("memory_kib", 0)}};
}

void parse_optional_members(const Json& json, Attempt& attempt) {
    attempt.accelerator = json.string_or("accelerator", "");
    attempt.against = json.string_or("against", "");
    if (const Json* source = json.find("source")) attempt.source = parse_source(*source);
    if (const Json* job = json.find("job")) {
        attempt.submits = static_cast<int>(job->int_or("submits", 0));
        attempt.submitted = time_in(*job, "submitted");
        attempt.job_ended = time_in(*job, "ended");
        attempt.builds_in = job->string_or("builds_in", "");
        attempt.max_walltime_minutes = job->int_or("max_walltime_minutes", 0);
        attempt.memory_mib = job->int_or("memory_mib", 0);
        attempt.cores = static_cast<int>(job->int_or("cores", 0));
        attempt.remedy = job->string_or("remedy", "");
        const Json* end = job->find("end");
        if (end != nullptr && end->as_object() != nullptr) attempt.end = parse_job_end(*end);
        attempt.told_to_end = time_in(*job, "told_to_end");
        const Json* governed = job->find("governor");
        if (governed != nullptr && governed->as_object() != nullptr)
            attempt.governed = wire::parse_governed_build(*governed);
        const Json* code = job->find("exit_code");
        if (code != nullptr && code->as_int() != nullptr)
            attempt.exit_code = static_cast<int>(*code->as_int());
        const Json* phases = job->find("phases");
        if (phases != nullptr && phases->as_array() != nullptr) {
            for (const auto& phase : *phases->as_array()) {
                attempt.phases.push_back({phase.string_or("name", ""), time_in(phase, "began")});
            }
        }
    }
    if (const Json* wheel = json.find("wheel")) {
        attempt.wheel = {wheel->string_or("filename", ""),
                         wheel->string_or("sha256", ""),
                         static_cast<std::uint64_t>(wheel->int_or("size", 0)),
                         static_cast<int>(wheel->int_or("sends", 0)),
                         time_in(*wheel, "sent"),
                         wheel->string_or("index", "")};
    }
    attempt.verdicts = strings_in(json, "verdicts");
    if (const Json* waiting = json.find("waiting")) attempt.waiting = parse_waiting(*waiting);
    const Json* failure = json.find("failure");
    if (failure != nullptr && failure->as_object() != nullptr) attempt.failure = parse_failure(*failure);
    if (const Json* tree = json.find("tree")) {
        const Json* bytes = tree->find("bytes");
        if (bytes != nullptr && bytes->as_int() != nullptr)
            attempt.tree_bytes = static_cast<std::uint64_t>(*bytes->as_int());
        attempt.tree_removed = time_in(*tree, "removed");
    }
    attempt.for_task = json.bool_or("for_task", false);
    attempt.superseded = json.bool_or("superseded", false);
}

}  // namespace

std::string_view state_text(State state) {
    for (const auto& row : states) {
        if (row.state == state) return row.text;
    }
    return "?";
}

std::optional<State> parse_state(std::string_view text) {
    for (const auto& row : states) {
        if (row.text == text) return row.state;
    }
    return std::nullopt;
}

std::string_view purpose_text(Purpose purpose) {
    for (const auto& row : purposes) {
        if (row.purpose == purpose) return row.text;
    }
    return "?";
}

std::optional<Purpose> parse_purpose(std::string_view text) {
    for (const auto& row : purposes) {
        if (row.text == text) return row.purpose;
    }
    return std::nullopt;
}

std::string_view wait_text(WaitFor what) {
    for (const auto& row : waits) {
        if (row.what == what) return row.text;
    }
    return "";
}

std::string waiting_suffix(const Waiting& waiting) {
    if (waiting.reason.empty()) return "";
    return (waiting.what == WaitFor::job_slot ? ", waits " : ", waiting: ") + waiting.reason;
}

std::string task_name(std::string_view package, std::string_view version, std::string_view python_tag) {
    return std::string(package) + "-" + std::string(version) + "-" + std::string(python_tag);
}

std::string render_attempt(const Attempt& attempt) {
    Json phases = Json::array();
    for (const auto& phase : attempt.phases) {
        phases.push(Json::object({{"name", phase.name}, {"began", render_time(phase.began)}}));
    }
    Json json = Json::object({{"format", format},
                              {"id", attempt.id},
                              {"task", attempt.task},
                              {"purpose", purpose_text(attempt.purpose)},
                              {"package", attempt.package},
                              {"version", attempt.version},
                              {"python", attempt.python},
                              {"accelerator", attempt.accelerator},
                              {"against", attempt.against},
                              {"number", attempt.number},
                              {"state", state_text(attempt.state)},
                              {"created", render_time(attempt.created)},
                              {"changed", render_time(attempt.changed)},
                              {"source", render_source(attempt.source)}});
    json.set("job",
             Json::object(
                 {{"builds_in", attempt.builds_in},
                  {"max_walltime_minutes", attempt.max_walltime_minutes},
                  {"memory_mib", attempt.memory_mib},
                  {"cores", attempt.cores},
                  {"remedy", attempt.remedy},
                  {"submits", attempt.submits},
                  {"submitted", render_time(attempt.submitted)},
                  {"ended", render_time(attempt.job_ended)},
                  {"exit_code", attempt.exit_code ? Json(*attempt.exit_code) : Json()},
                  {"phases", phases},
                  {"told_to_end", render_time(attempt.told_to_end)},
                  {"end", attempt.end ? render_job_end(*attempt.end) : Json()},
                  {"governor", attempt.governed ? wire::render_governed_build(*attempt.governed) : Json()}}));
    json.set("wheel", Json::object({{"filename", attempt.wheel.filename},
                                    {"sha256", attempt.wheel.sha256},
                                    {"size", attempt.wheel.size},
                                    {"sends", attempt.wheel.sends},
                                    {"sent", render_time(attempt.wheel.sent)},
                                    {"index", attempt.wheel.index}}));
    json.set("verdicts", Json::array_of(attempt.verdicts));
    json.set("waiting", Json::object({{"for", wait_text(attempt.waiting.what)},
                                      {"tries", attempt.waiting.tries},
                                      {"since", render_time(attempt.waiting.since)},
                                      {"not_before", render_time(attempt.waiting.not_before)},
                                      {"reason", attempt.waiting.reason}}));
    json.set("failure", attempt.failure ? render_failure(*attempt.failure) : Json());
    json.set("tree", Json::object({{"bytes", attempt.tree_bytes ? Json(*attempt.tree_bytes) : Json()},
                                   {"removed", render_time(attempt.tree_removed)}}));
    json.set("for_task", attempt.for_task);
    json.set("superseded", attempt.superseded);
    return json.render_pretty();
}

base::Result<Attempt> parse_attempt(std::string_view text) {
    const auto json = io::parse_json(text);
    if (!json) return base::fail("journal.broken", "A journal file is not JSON: " + json.error().sentence);
    const std::string found = json->string_or("format", "");
    if (found != format) {
        return base::fail("journal.format", "A journal file has another format than " + std::string(format),
                          found, "use the wheelyard-builder that wrote it");
    }
    Attempt attempt;
    for (auto [name, into] : {std::pair{"id", &attempt.id}, std::pair{"task", &attempt.task},
                              std::pair{"package", &attempt.package}, std::pair{"version", &attempt.version},
                              std::pair{"python", &attempt.python}}) {
        const auto value = json->string_at(name);
        if (!value || value->empty()) {
            return base::fail("journal.broken", std::string("A journal file lacks `") + name + "`");
        }
        *into = *value;
    }
    const auto state = parse_state(json->string_or("state", ""));
    if (!state) {
        return base::fail("journal.broken", "A journal file names an unknown state",
                          json->string_or("state", ""));
    }
    attempt.state = *state;
    const auto purpose = parse_purpose(json->string_or("purpose", "build"));
    if (!purpose) {
        return base::fail("journal.broken", "A journal file names an unknown purpose",
                          json->string_or("purpose", ""));
    }
    attempt.purpose = *purpose;
    attempt.number = static_cast<int>(json->int_or("number", 1));
    attempt.created = time_in(*json, "created");
    attempt.changed = time_in(*json, "changed");
    parse_optional_members(*json, attempt);
    return attempt;
}

std::string new_attempt_id(base::UnixMicros now) {
    std::string id(id_time_digits, '0');
    auto seconds = static_cast<std::uint64_t>(now / 1'000'000);
    for (auto digit = id.rbegin(); digit != id.rend(); ++digit, seconds /= 32)
        *digit = digits[seconds % 32];
    for (const char byte : base::random_bytes(id_random_digits)) {
        id += digits[static_cast<unsigned char>(byte) % 32];
    }
    id.insert(id.begin(), 'w');
    WHEELYARD_CHECK(id.size() <= max_attempt_id_bytes);
    return id;
}

}  // namespace wheelyard::builder
