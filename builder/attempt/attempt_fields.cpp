// One table renders, parses and documents the fields. A row has the path of a member in the JSON document
// ("job.memory_mib"), its meaning, and the functions that write and read its value. A missing value is written as null.
// An absent member, or one of another type, leaves the default.
#include "builder/attempt/attempt_fields.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace wheelyard::builder {
namespace {

using io::Json;

constexpr std::string_view attempt_format = "wheelyard.attempt/1";

enum class Need {
    optional,
    valid,     // may be absent; an invalid value is an error
    required,  // absent, empty or invalid is an error
};

template <typename Owner>
struct Field {
    std::string_view path;
    std::string_view meaning;
    Json (*render)(const Owner&);
    bool (*parse)(const Json&, Owner&);
    Need need = Need::optional;
};

// Converts one value: to() writes it; from() reads it and returns false if the JSON has another type.
struct Plain {
    static Json to(const std::string& value) { return value; }
    static Json to(int value) { return value; }
    static Json to(std::int64_t value) { return value; }
    static Json to(std::uint64_t value) { return value; }
    static Json to(bool value) { return value; }
    static Json to(const std::vector<std::string>& value) { return Json::array_of(value); }
    static Json to(State value) { return state_text(value); }
    static Json to(Purpose value) { return purpose_text(value); }
    static Json to(WaitFor value) { return wait_text(value); }
    static Json to(EndCause value) { return value == EndCause::unexplained ? "" : end_row(value).code; }
    static Json to(const wire::GovernedBuild& value) { return wire::render_governed_build(value); }
    static Json to(const wire::UploadedSource& value) {
        return Json::object({{"index", value.index}, {"filename", value.filename}, {"sha256", value.sha256}});
    }
    static Json to(const std::vector<PhaseRecord>& value);
    static Json to(const JobEnd& value);
    static Json to(const Failure& value);
    template <typename T>
    static Json to(const std::optional<T>& value) {
        return value ? to(*value) : Json();
    }

    static bool from(const Json& json, std::string& into) {
        if (json.as_string() != nullptr) into = *json.as_string();
        return json.as_string() != nullptr;
    }
    template <typename Integer>
    requires std::is_integral_v<Integer>
    static bool from(const Json& json, Integer& into) {
        if (json.as_int() != nullptr) into = static_cast<Integer>(*json.as_int());
        return json.as_int() != nullptr;
    }
    static bool from(const Json& json, bool& into) {
        if (json.as_bool() != nullptr) into = *json.as_bool();
        return json.as_bool() != nullptr;
    }
    static bool from(const Json& json, std::vector<std::string>& into) {
        if (json.as_array() == nullptr) return false;
        for (const Json& item : *json.as_array()) {
            if (item.as_string() != nullptr) into.push_back(*item.as_string());
        }
        return true;
    }
    template <typename Word>
    static bool from_word(const std::optional<Word>& word, Word& into) {
        if (word) into = *word;
        return word.has_value();
    }
    static bool from(const Json& json, State& into) { return from_word(parse_state(text_of(json)), into); }
    static bool from(const Json& json, Purpose& into) {
        return from_word(parse_purpose(text_of(json)), into);
    }
    static bool from(const Json& json, WaitFor& into) { return from_word(parse_wait(text_of(json)), into); }
    static bool from(const Json& json, EndCause& into) {
        return from_word(cause_of_code(text_of(json)), into);
    }
    static bool from(const Json& json, wire::GovernedBuild& into) {
        if (json.as_object() != nullptr) into = wire::parse_governed_build(json);
        return json.as_object() != nullptr;
    }
    static bool from(const Json& json, wire::UploadedSource& into) {
        into = {json.string_or("index", ""), json.string_or("filename", ""), json.string_or("sha256", "")};
        return json.as_object() != nullptr;
    }
    static bool from(const Json& json, std::vector<PhaseRecord>& into);
    static bool from(const Json& json, JobEnd& into);
    static bool from(const Json& json, Failure& into);
    template <typename T>
    static bool from(const Json& json, std::optional<T>& into) {
        T value{};
        if (!from(json, value)) return false;
        into = std::move(value);
        return true;
    }

    static std::string_view text_of(const Json& json) {
        return json.as_string() == nullptr ? std::string_view() : std::string_view(*json.as_string());
    }
};

// A time in RFC 3339; 0 is null.
struct Time {
    static Json to(base::UnixMicros value) { return value == 0 ? Json() : Json(base::render_rfc3339(value)); }
    static bool from(const Json& json, base::UnixMicros& into) {
        const auto time = base::parse_rfc3339(Plain::text_of(json));
        if (time) into = *time;
        return time.has_value();
    }
};

// The member that a path of member pointers leads to.
template <auto First, auto... Rest, typename Owner>
auto& part(Owner& owner) {
    if constexpr (sizeof...(Rest) == 0)
        return owner.*First;
    else
        return part<Rest...>(owner.*First);
}

template <typename Member, typename Owner>
Owner owner_of(Member Owner::*);

template <typename Value, auto First, auto... Rest>
constexpr auto row(std::string_view path, std::string_view meaning, Need need = Need::optional) {
    using Owner = decltype(owner_of(First));
    return Field<Owner>{
        path, meaning, [](const Owner& owner) { return Value::to(part<First, Rest...>(owner)); },
        [](const Json& json, Owner& owner) { return Value::from(json, part<First, Rest...>(owner)); }, need};
}
template <auto... Path>
constexpr auto plain(std::string_view path, std::string_view meaning, Need need = Need::optional) {
    return row<Plain, Path...>(path, meaning, need);
}
template <auto... Path>
constexpr auto time(std::string_view path, std::string_view meaning) {
    return row<Time, Path...>(path, meaning);
}

using A = Attempt;
using S = SourceRecord;
using J = JobRecord;
using W = WheelRecord;
using R = ReproducedRecord;
constexpr std::array attempt_fields = {
    plain<&A::id>("id", "the attempt's ID, also its job's name", Need::required),
    plain<&A::asked, &Asked::cell>("cell", "the name of its cell in the plan", Need::required),
    plain<&A::asked, &Asked::purpose>(
        "purpose",
        "`build`, or `gpu-test`, `multi-node-test`, `promotion` of the wheel in `source` "
        "(kind `wheel`), or `reproduction` of the build in `reproduced`",
        Need::valid),
    plain<&A::asked, &Asked::package>("package", "the project's normalised name", Need::required),
    plain<&A::asked, &Asked::version>("version", "including the local label", Need::required),
    plain<&A::asked, &Asked::python>("python", "`3.11`, as in the site file", Need::required),
    plain<&A::asked, &Asked::accelerator>("accelerator",
                                          "name in the site file; empty: one wheel for all accelerators"),
    plain<&A::asked, &Asked::against>(
        "against", "`torch==2.4.0+cu123`: the package in the same index to build against, or empty"),
    plain<&A::number>("number", "counts the attempts at this cell, from 1"),
    plain<&A::state>("state", "one of the states above", Need::required),
    time<&A::created>("created", "when the attempt began"),
    time<&A::changed>("changed", "when it entered its state"),
    plain<&A::source, &S::kind>("source.kind", "`sdist`, `tarball`, `git`, `path`, `upstream`, `wheel`"),
    plain<&A::source, &S::origin>("source.origin", "URL without secrets, or folder"),
    plain<&A::source, &S::filename>("source.filename", "name of the downloaded file"),
    plain<&A::source, &S::sha256>("source.sha256", "digest of the downloaded file; empty for a path"),
    plain<&A::source, &S::folder>("source.folder", "the project's folder in the attempt's tree"),
    plain<&A::source, &S::back_end>("source.back_end", "`build-backend` of its pyproject.toml"),
    plain<&A::source, &S::back_end_path>("source.back_end_path", "`backend-path` of its pyproject.toml"),
    plain<&A::source, &S::build_requires>("source.requires", "`requires` of its pyproject.toml"),
    plain<&A::job, &J::tree>("job.tree", "its build tree, `WORK/trees/TREE`; empty: it builds nothing"),
    plain<&A::job, &J::builds_in>("job.builds_in",
                                  "the attempt that began its build tree, if it continues one; else empty"),
    plain<&A::job, &J::max_walltime_minutes>("job.max_walltime_minutes", "requested by its job; 0: no limit"),
    plain<&A::job, &J::memory_mib>("job.memory_mib", "requested by its job; 0: no request"),
    plain<&A::job, &J::cores>("job.cores", "parallel compile jobs, if fewer than the site's cores; else 0"),
    plain<&A::job, &J::remedy>("job.remedy", "what it changes after the previous attempt, and why"),
    plain<&A::job, &J::submits>("job.submits", "how often it was submitted"),
    time<&A::job, &J::submitted>("job.submitted", "when it was last submitted"),
    time<&A::job, &J::ended>("job.ended", "when the job ended"),
    plain<&A::job, &J::exit_code>("job.exit_code", "exit code in the exit record, or null"),
    plain<&A::job, &J::phases>("job.phases", "phases in the exit record: `name`, `began`"),
    time<&A::job, &J::asked_to_end>("job.asked_to_end",
                                    "when the agent asked its job to end after its time limit"),
    plain<&A::job, &J::end>("job.end", "the end of its job as its scheduler reports it, or null"),
    plain<&A::job, &J::governed>(
        "job.governor",
        "null, or the governor's summary: `compiles`, `killed` and `oom_kills` (both run "
        "again), `could_not_fit`, `wall_s`, `high_water_bytes`, `limit_bytes`, `limit`, `worst` "
        "(`source`, `peak_bytes`, `seconds`), `messages`"),
    plain<&A::wheel, &W::filename>("wheel.filename", "file name of the built wheel"),
    plain<&A::wheel, &W::sha256>("wheel.sha256", "digest of its bytes"),
    plain<&A::wheel, &W::size>("wheel.size", "in bytes"),
    plain<&A::wheel, &W::sends>("wheel.sends", "uploads started, at most 10"),
    time<&A::wheel, &W::sent>("wheel.sent", "when the registry accepted it"),
    plain<&A::wheel, &W::index>("wheel.index",
                                "the index whose page listed it: the site's, or that of the registry's task"),
    plain<&A::wheel, &W::verdicts>("verdicts", "findings of the inspection, one line each"),
    plain<&A::reproduced, &R::attempt>("reproduced.attempt",
                                       "of a reproduction: the attempt that made the recorded wheel"),
    plain<&A::reproduced, &R::tree>("reproduced.tree", "the build tree of that attempt"),
    plain<&A::reproduced, &R::filename>("reproduced.filename", "file name of the recorded wheel"),
    plain<&A::reproduced, &R::sha256>("reproduced.sha256", "its digest"),
    plain<&A::reproduced, &R::identical>("reproduced.identical",
                                         "whether both wheels have the same bytes; null: not compared yet"),
    plain<&A::reproduced, &R::causes>("reproduced.causes", "codes of the causes of the differences"),
    plain<&A::waiting, &Waiting::what>(
        "waiting.for",
        "what it waits for: `retry`, `person`, `login_step`, `job_slot`, `queue`, `scheduler`, or nothing"),
    plain<&A::waiting, &Waiting::tries>("waiting.tries", "temporary errors so far"),
    time<&A::waiting, &Waiting::since>("waiting.since", "the first of the consecutive temporary errors"),
    time<&A::waiting, &Waiting::not_before>("waiting.not_before", "when the agent tries again"),
    plain<&A::waiting, &Waiting::reason>("waiting.reason", "the reason, as text for a person"),
    plain<&A::failure>("failure", "null, or the members `failure.*` below"),
    plain<&A::tree, &TreeRecord::bytes>(
        "tree.bytes",
        "size of its build tree and venv; null before they are measured, 0 after they are removed"),
    time<&A::tree, &TreeRecord::removed>(
        "tree.removed", "when the agent removed them to keep within `work.trees_gib` of the site"),
    plain<&A::asked, &Asked::for_task>(
        "for_task",
        "true: for a task of the registry that the site file does not request; "
        "the upload needs the task's lease"),
    plain<&A::asked, &Asked::with>(
        "with",
        "of a promotion: the file names of the other wheels of its set, promoted in the same request"),
    plain<&A::asked, &Asked::uploaded>(
        "uploaded",
        "null, or the uploaded source that it builds in a namespace: `index`, `filename`, `sha256`",
        Need::valid),
    plain<&A::superseded>("superseded", "true after `retry`: no longer counted"),
};

constexpr std::array failure_fields = {
    plain<&Failure::phase>("phase", "phase of the job, or step of the agent"),
    plain<&Failure::error, &base::Error::code>("code", "the error's code"),
    plain<&Failure::error, &base::Error::sentence>("sentence", "the error as text for a person"),
    plain<&Failure::error, &base::Error::value>("value", "the invalid value, or empty"),
    plain<&Failure::error, &base::Error::advice>("advice", "what to do, or empty"),
    plain<&Failure::first_error>("first_error", "the first line of the log that looks like the cause"),
    plain<&Failure::cause>("cause", "the code of the matching doctor rule, or empty"),
    plain<&Failure::line>("line", "the line of the log that the doctor's rule matches"),
    plain<&Failure::try_again>("try_again", "false: another attempt would fail the same way"),
};

constexpr std::array job_end_fields = {
    plain<&JobEnd::cause>("cause", "the code of the cause, or empty if it is unknown"),
    plain<&JobEnd::scheduler_status>("scheduler_status", "the status text of its scheduler"),
    plain<&JobEnd::used, &wire::JobUsage::seconds>("seconds", "run time; 0: not known"),
    plain<&JobEnd::used, &wire::JobUsage::cpu_seconds>("cpu_seconds", "processor time; 0: not known"),
    plain<&JobEnd::used, &wire::JobUsage::memory_kib>("memory_kib", "peak memory; 0: not known"),
};

constexpr std::array phase_fields = {
    plain<&PhaseRecord::name>("name", "name of the phase"),
    time<&PhaseRecord::began>("began", "when the phase began"),
};

// "job.memory_mib" is the member `memory_mib` of the member `job`.
struct Path {
    explicit Path(std::string_view path)
        : group(path.substr(0, path.find('.') == std::string_view::npos ? 0 : path.find('.'))),
          name(path.substr(group.empty() ? 0 : group.size() + 1)) {}
    std::string_view group;
    std::string_view name;
};

template <typename Owner>
void render_into(Json& json, std::span<const Field<Owner>> fields, const Owner& owner) {
    for (const auto& field : fields) {
        const Path path(field.path);
        if (path.group.empty()) {
            json.set(std::string(path.name), field.render(owner));
            continue;
        }
        const Json* group = json.find(path.group);
        Json members = group == nullptr ? Json::object() : *group;
        members.set(std::string(path.name), field.render(owner));
        json.set(std::string(path.group), std::move(members));
    }
}

template <typename Owner, std::size_t Count>
Json render_object(const std::array<Field<Owner>, Count>& fields, const Owner& owner) {
    Json json = Json::object();
    render_into<Owner>(json, fields, owner);
    return json;
}

// The first field that is required and missing, or invalid; nullptr: none.
template <typename Owner>
const Field<Owner>* parse_from(const Json& json, std::span<const Field<Owner>> fields, Owner& owner) {
    for (const auto& field : fields) {
        const Path path(field.path);
        const Json* group = path.group.empty() ? &json : json.find(path.group);
        const Json* value = group == nullptr ? nullptr : group->find(path.name);
        const bool is_there = value != nullptr && !value->is_null();
        const bool is_read = is_there && field.parse(*value, owner);
        const bool is_empty = is_there && value->as_string() != nullptr && value->as_string()->empty();
        if (field.need == Need::required && (!is_read || is_empty)) return &field;
        if (field.need == Need::valid && is_there && !is_read) return &field;
    }
    return nullptr;
}

template <typename Owner, std::size_t Count>
bool parse_object(const Json& json, const std::array<Field<Owner>, Count>& fields, Owner& into) {
    if (json.as_object() == nullptr) return false;
    parse_from<Owner>(json, fields, into);
    return true;
}

Json Plain::to(const Failure& value) {
    return render_object(failure_fields, value);
}

Json Plain::to(const JobEnd& value) {
    return render_object(job_end_fields, value);
}

Json Plain::to(const std::vector<PhaseRecord>& value) {
    Json phases = Json::array();
    for (const PhaseRecord& phase : value)
        phases.push(render_object(phase_fields, phase));
    return phases;
}

bool Plain::from(const Json& json, Failure& into) {
    const bool is_read = parse_object(json, failure_fields, into);
    into.end = cause_of_code(into.error.code);
    return is_read;
}

bool Plain::from(const Json& json, JobEnd& into) {
    return parse_object(json, job_end_fields, into);
}

bool Plain::from(const Json& json, std::vector<PhaseRecord>& into) {
    if (json.as_array() == nullptr) return false;
    for (const Json& item : *json.as_array()) {
        into.emplace_back();
        parse_object(item, phase_fields, into.back());
    }
    return true;
}

template <typename Owner, std::size_t Count>
void add_rows(std::string& text, const std::string& prefix, const std::array<Field<Owner>, Count>& fields) {
    for (const auto& field : fields)
        text += "| `" + prefix + std::string(field.path) + "` | " + std::string(field.meaning) + " |\n";
}

}  // namespace

std::string render_attempt(const Attempt& attempt) {
    Json json = Json::object({{"format", attempt_format}});
    render_into<Attempt>(json, attempt_fields, attempt);
    return json.render_pretty();
}

base::Result<Attempt> parse_attempt(std::string_view text) {
    const auto json = io::parse_json(text);
    if (!json) return base::fail("journal.broken", "A journal file is not JSON: " + json.error().sentence);
    const std::string found = json->string_or("format", "");
    if (found != attempt_format) {
        return base::fail("journal.format",
                          "The format of a journal file is not " + std::string(attempt_format), found,
                          "use the version of wheelyard-builder that wrote it");
    }
    Attempt attempt;
    if (const auto* field = parse_from<Attempt>(*json, attempt_fields, attempt)) {
        return base::fail("journal.broken",
                          "A journal file lacks `" + std::string(field->path) + "`, or its value is unknown",
                          json->string_or(field->path, ""));
    }
    return attempt;
}

std::string render_attempt_fields() {
    std::string text = "| member | meaning |\n|---|---|\n| `format` | `" + std::string(attempt_format) +
                       "`; any other format is an error |\n";
    add_rows(text, "", attempt_fields);
    add_rows(text, "failure.", failure_fields);
    add_rows(text, "job.end.", job_end_fields);
    add_rows(text, "job.phases.", phase_fields);
    return text;
}

}  // namespace wheelyard::builder
