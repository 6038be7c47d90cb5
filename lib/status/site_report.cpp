// One table for each kind of object renders it, parses it and documents it.
#include "lib/status/site_report.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include "lib/base/text/printable.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"

namespace wheelyard::status {
namespace {

using base::Result;
using io::Json;

tl::unexpected<base::Error> malformed(std::string sentence, std::string_view value = {}) {
    return base::fail_malformed("site_report.format", std::move(sentence),
                                std::string(base::cut_utf8(value, 80)), "see docs/reference/site-status.md");
}

enum class Need { optional, required };

template <typename Owner>
struct Word {  // a name, a version or a state
    std::string Owner::*member;
};
template <typename Owner>
struct Text {
    std::string Owner::*member;
};
template <typename Owner>
struct Count {
    std::int64_t Owner::*member;
};
template <typename Owner>
struct Time {
    base::UnixMicros Owner::*member;
};
template <typename Owner>
struct Flag {
    bool Owner::*member;
};
template <typename Owner>
struct Texts {
    std::vector<std::string> Owner::*member;
    std::size_t max_items;
    std::size_t max_bytes;
};

template <typename Owner>
struct Counts {
    std::vector<std::int64_t> Owner::*member;
    std::size_t max_items;
};

template <typename Owner>
struct Field {
    std::string_view name;
    std::string_view meaning;
    std::variant<Word<Owner>, Text<Owner>, Count<Owner>, Time<Owner>, Flag<Owner>, Texts<Owner>,
                 Counts<Owner>>
        value;
    Need need = Need::optional;
};

using N = NodeReport;
constexpr std::array node_fields = {
    Field<N>{"name", "its name in the site file", Word<N>{&N::name}, Need::required},
    Field<N>{"cores", "cores of one node", Count<N>{&N::cores}},
    Field<N>{"memory_mib", "memory of one node", Count<N>{&N::memory_mib}},
    Field<N>{"gpus", "GPUs of one node", Count<N>{&N::gpus}},
    Field<N>{"accelerator", "name in the site file; absent: none", Word<N>{&N::accelerator}},
    Field<N>{"architectures", "of that accelerator: `sm_90`, `gfx90a`",
             Texts<N>{&N::architectures, max_log_lines, max_word_bytes}},
    Field<N>{"machine", "machine type: `aarch64`", Word<N>{&N::machine}},
    Field<N>{"glibc", "version of its glibc: `2.34`; absent: not known, or musl", Word<N>{&N::glibc}},
};

using C = CellReport;
constexpr std::array cell_fields = {
    Field<C>{"package", "normalised name", Word<C>{&C::package}, Need::required},
    Field<C>{"version", "as in the site file if it could not be resolved", Word<C>{&C::version},
             Need::required},
    Field<C>{"python", "`3.12`", Word<C>{&C::python}, Need::required},
    Field<C>{"accelerator", "name in the site file; absent: one wheel for all accelerators",
             Word<C>{&C::accelerator}},
    Field<C>{
        "purpose",
        "absent: a build; else `gpu-test`, `multi-node-test`, `promotion` or `reproduction` of its wheel",
        Word<C>{&C::purpose}},
    Field<C>{"state", "the state of the cell in the plan (site.md, \"Cells of the plan\")",
             Word<C>{&C::state}, Need::required},
    Field<C>{"reason", "why it has this state", Text<C>{&C::reason}},
    Field<C>{"attempt", "ID of the latest attempt", Word<C>{&C::attempt}},
};

using A = AttemptReport;
constexpr std::array attempt_fields = {
    Field<A>{"id", "ID of the attempt", Word<A>{&A::id}, Need::required},
    Field<A>{"package", "as in its cell", Word<A>{&A::package}, Need::required},
    Field<A>{"version", "as in its cell", Word<A>{&A::version}, Need::required},
    Field<A>{"python", "as in its cell", Word<A>{&A::python}, Need::required},
    Field<A>{"accelerator", "as in its cell", Word<A>{&A::accelerator}},
    Field<A>{"state", "the state of the attempt (journal.md)", Word<A>{&A::state}, Need::required},
    Field<A>{"phase", "the phase of its job, while the job runs", Word<A>{&A::phase}},
    Field<A>{"waiting", "what it waits for", Text<A>{&A::waiting}},
    Field<A>{"began", "when the attempt began", Time<A>{&A::began}},
    Field<A>{"done", "steps done in this phase, as ninja or CMake counts them", Count<A>{&A::done}},
    Field<A>{"total", "steps of this phase; absent: no counter; 100: `done` is a percentage",
             Count<A>{&A::total}},
    Field<A>{"memory_limit_mib", "memory that its job requests", Count<A>{&A::memory_limit_mib}},
    Field<A>{"memory_mib",
             "memory of its compiles so far, oldest first: the maximum in each of at most 60 equal parts",
             Counts<A>{&A::memory_mib, max_memory_points}},
    Field<A>{"phases", "the phases of its job so far, at most the last 16",
             Texts<A>{&A::phases, max_phases, max_word_bytes}},
    Field<A>{"phase_seconds", "how long each of `phases` took, or has taken so far",
             Counts<A>{&A::phase_seconds, max_phases}},
    Field<A>{"log_tail", "the last lines of its log, at most 50 of 500 bytes",
             Texts<A>{&A::log_tail, max_log_lines, max_log_line_bytes}},
};

using F = FailureReport;
constexpr std::array failure_fields = {
    Field<F>{"attempt", "ID of the failed attempt", Word<F>{&F::attempt}, Need::required},
    Field<F>{"package", "as in its cell", Word<F>{&F::package}, Need::required},
    Field<F>{"version", "as in its cell", Word<F>{&F::version}, Need::required},
    Field<F>{"python", "as in its cell", Word<F>{&F::python}, Need::required},
    Field<F>{"accelerator", "as in its cell", Word<F>{&F::accelerator}},
    Field<F>{"began", "when the attempt began", Time<F>{&F::began}},
    Field<F>{"ended", "when it failed", Time<F>{&F::ended}},
    Field<F>{"phase", "phase of the job, or step of the agent", Word<F>{&F::phase}},
    Field<F>{"rule", "the doctor's rule that matches its log (doctor-rules.md)", Word<F>{&F::rule}},
    Field<F>{"cause", "the error, and the line of the log that looks like its cause", Text<F>{&F::cause}},
    Field<F>{"remedy", "what to do", Text<F>{&F::remedy}},
};

using S = SiteReport;
constexpr std::array site_fields = {
    Field<S>{"site", "the site's name", Word<S>{&S::site}, Need::required},
    Field<S>{"index", "the index that its wheels are uploaded to", Word<S>{&S::index}, Need::required},
    Field<S>{"program", "the agent and its version", Word<S>{&S::program}},
    Field<S>{"time", "when the tick ended", Time<S>{&S::time}, Need::required},
    Field<S>{"next_tick", "when the next tick is due; the site is late 10 minutes after that",
             Time<S>{&S::next_tick}},
    Field<S>{"cut", "true: the report was too large, and lists are not complete", Flag<S>{&S::is_cut}},
    Field<S>{"pythons", "versions of Python that the site builds for",
             Texts<S>{&S::pythons, max_log_lines, max_word_bytes}},
    Field<S>{"machine", "machine type of the agent's host", Word<S>{&S::machine}},
    Field<S>{"glibc", "version of glibc of the Pythons there; absent: not known, or musl",
             Word<S>{&S::glibc}},
};

// What no reader has to expect: a line feed in a line, or bytes that change what a terminal shows.
std::string clean(std::string_view text, std::size_t max_bytes) {
    std::string shown = base::printable(text);
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
    shown.resize(base::cut_utf8(shown, max_bytes).size());
    return shown;
}

// An absent member means the default, so empty values are not written.
template <typename Owner>
struct Rendering {
    const Owner& owner;
    Json operator()(const Word<Owner>& field) const {
        return text(clean(owner.*field.member, max_word_bytes));
    }
    Json operator()(const Text<Owner>& field) const {
        return text(clean(owner.*field.member, max_text_bytes));
    }
    Json operator()(const Count<Owner>& field) const {
        return owner.*field.member > 0 ? Json(owner.*field.member) : Json();
    }
    Json operator()(const Time<Owner>& field) const {
        return owner.*field.member > 0 ? Json(base::render_rfc3339(owner.*field.member)) : Json();
    }
    Json operator()(const Flag<Owner>& field) const { return owner.*field.member ? Json(true) : Json(); }
    Json operator()(const Texts<Owner>& field) const {
        Json list = Json::array();
        for (const std::string& item : owner.*field.member) {
            if (list.items().size() < field.max_items) list.push(clean(item, field.max_bytes));
        }
        return list.items().empty() ? Json() : list;
    }
    Json operator()(const Counts<Owner>& field) const {
        Json list = Json::array();
        for (const std::int64_t item : owner.*field.member) {
            if (list.items().size() < field.max_items) list.push(std::max<std::int64_t>(item, 0));
        }
        return list.items().empty() ? Json() : list;
    }
    static Json text(std::string value) { return value.empty() ? Json() : Json(std::move(value)); }
};

// Each returns whether the value has the field's type and keeps its limits.
template <typename Owner>
struct Parsing {
    const Json& json;
    Owner& into;
    bool operator()(const Word<Owner>& field) const {
        const std::string* word = json.as_string();
        if (word == nullptr || word->size() > max_word_bytes || clean(*word, max_word_bytes) != *word)
            return false;
        into.*field.member = *word;
        return true;
    }
    bool operator()(const Text<Owner>& field) const {
        if (json.as_string() == nullptr) return false;
        into.*field.member = clean(*json.as_string(), max_text_bytes);
        return true;
    }
    bool operator()(const Count<Owner>& field) const {
        if (json.as_int() == nullptr || *json.as_int() < 0) return false;
        into.*field.member = *json.as_int();
        return true;
    }
    bool operator()(const Time<Owner>& field) const {
        const auto time = base::parse_rfc3339(json.as_string() == nullptr ? "" : *json.as_string());
        if (!time || *time <= 0) return false;
        into.*field.member = *time;
        return true;
    }
    bool operator()(const Flag<Owner>& field) const {
        if (json.as_bool() == nullptr) return false;
        into.*field.member = *json.as_bool();
        return true;
    }
    bool operator()(const Texts<Owner>& field) const {
        if (json.as_array() == nullptr || json.as_array()->size() > field.max_items) return false;
        for (const Json& item : *json.as_array()) {
            if (item.as_string() == nullptr) return false;
            (into.*field.member).push_back(clean(*item.as_string(), field.max_bytes));
        }
        return true;
    }
    bool operator()(const Counts<Owner>& field) const {
        if (json.as_array() == nullptr || json.as_array()->size() > field.max_items) return false;
        for (const Json& item : *json.as_array()) {
            if (item.as_int() == nullptr || *item.as_int() < 0) return false;
            (into.*field.member).push_back(*item.as_int());
        }
        return true;
    }
};

template <typename Owner, std::size_t Size>
Json render(const Owner& owner, const std::array<Field<Owner>, Size>& fields) {
    Json json = Json::object();
    for (const auto& field : fields) {
        Json value = std::visit(Rendering<Owner>{owner}, field.value);
        if (!value.is_null()) json.set(std::string(field.name), std::move(value));
    }
    return json;
}

template <typename Owner, std::size_t Size>
Json render_all(const std::vector<Owner>& owners, const std::array<Field<Owner>, Size>& fields) {
    Json list = Json::array();
    for (const Owner& owner : owners)
        list.push(render(owner, fields));
    return list;
}

template <typename Owner, std::size_t Size>
base::Status parse(const Json& json, std::string_view where, const std::array<Field<Owner>, Size>& fields,
                   Owner& into) {
    if (json.as_object() == nullptr) return malformed("`" + std::string(where) + "` must be an object");
    for (const auto& field : fields) {
        const Json* value = json.find(field.name);
        const std::string path = std::string(where) + (where.empty() ? "" : ".") + std::string(field.name);
        const bool is_there = value != nullptr && !value->is_null() &&
                              !(value->as_string() != nullptr && value->as_string()->empty());
        if (!is_there && field.need == Need::required) return malformed("`" + path + "` is missing");
        if (is_there && !std::visit(Parsing<Owner>{*value, into}, field.value))
            return malformed("`" + path + "` has a wrong type or is too long",
                             value->as_string() == nullptr ? "" : *value->as_string());
    }
    return {};
}

template <typename Owner, std::size_t Size>
base::Status parse_all(const Json& json, std::string_view name, const std::array<Field<Owner>, Size>& fields,
                       std::vector<Owner>& into) {
    const Json* list = json.find(name);
    if (list == nullptr) return {};
    if (list->as_array() == nullptr || list->as_array()->size() > max_report_items)
        return malformed("`" + std::string(name) + "` must be a list of at most " +
                         std::to_string(max_report_items) + " objects");
    for (const Json& item : *list->as_array()) {
        into.emplace_back();
        WHEELYARD_TRY(parse(item, name, fields, into.back()));
    }
    return {};
}

template <typename Owner, std::size_t Size>
std::string table_of(std::string_view list, const std::array<Field<Owner>, Size>& fields) {
    std::string text;
    for (const auto& field : fields) {
        text += "| `" + std::string(list) + (list.empty() ? "" : "[].") + std::string(field.name) + "` | " +
                (field.need == Need::required ? "yes" : "") + " | " + std::string(field.meaning) + " |\n";
    }
    return text;
}

}  // namespace

Json site_report_json(const SiteReport& report) {
    Json json = Json::object({{"format", report_format}});
    const Json members = render(report, site_fields);
    for (const auto& [name, value] : *members.as_object())
        json.set(name, value);
    json.set("nodes", render_all(report.nodes, node_fields));
    json.set("cells", render_all(report.cells, cell_fields));
    json.set("attempts", render_all(report.attempts, attempt_fields));
    json.set("failures", render_all(report.failures, failure_fields));
    return json;
}

std::string render_site_report(const SiteReport& report) {
    return site_report_json(report).render();
}

SiteReport fit_site_report(SiteReport report, std::size_t max_bytes) {
    const auto keep = [](auto& list, std::size_t count) {
        if (list.size() > count) list.resize(count);
    };
    keep(report.failures, max_failures);
    const auto is_small = [&] {
        return report.cells.size() <= max_report_items && render_site_report(report).size() <= max_bytes;
    };
    if (is_small()) return report;
    report.is_cut = true;
    for (std::size_t lines = max_log_lines / 2;; lines /= 4) {
        for (AttemptReport& attempt : report.attempts) {
            const std::size_t left = std::min(lines, attempt.log_tail.size());
            attempt.log_tail.erase(attempt.log_tail.begin(),
                                   attempt.log_tail.end() - static_cast<std::ptrdiff_t>(left));
        }
        if (is_small()) return report;
        if (lines == 0) break;
    }
    keep(report.failures, max_failures / 5);
    for (CellReport& cell : report.cells) {
        if (cell.state == "have") cell.reason.clear();
    }
    if (is_small()) return report;
    report.failures.clear();
    report.attempts.clear();
    keep(report.cells, max_report_items);
    while (!report.cells.empty() && !is_small())
        report.cells.resize(report.cells.size() * 3 / 4);
    return report;
}

bool is_site_name(std::string_view text) {
    return !text.empty() && text.size() <= max_word_bytes && text.front() != '.' &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return base::is_ascii_alnum(c) || c == '.' || c == '_' || c == '-'; });
}

Result<SiteReport> site_report_of(const Json& json) {
    if (json.as_object() == nullptr) return malformed("A site's report must be an object");
    if (json.string_or("format", "") != report_format)
        return malformed("The report does not have the format " + std::string(report_format),
                         json.string_or("format", ""));
    SiteReport report;
    WHEELYARD_TRY(parse(json, "", site_fields, report));
    for (const std::string* name : {&report.site, &report.index}) {
        if (!is_site_name(*name)) return malformed("A site or an index has an invalid name", *name);
    }
    WHEELYARD_TRY(parse_all(json, "nodes", node_fields, report.nodes));
    WHEELYARD_TRY(parse_all(json, "cells", cell_fields, report.cells));
    WHEELYARD_TRY(parse_all(json, "attempts", attempt_fields, report.attempts));
    WHEELYARD_TRY(parse_all(json, "failures", failure_fields, report.failures));
    return report;
}

Result<SiteReport> parse_site_report(std::string_view text) {
    if (text.size() > max_report_bytes)
        return base::fail_as(
            base::ErrorKind::too_large, base::Recovery::never,
            {"site_report.too_large", "The report of a site has too many bytes", std::to_string(text.size()),
             "send at most " + std::to_string(max_report_bytes) + " bytes"});
    const auto json = io::parse_json(text, {.bytes = max_report_bytes, .depth = max_report_depth});
    if (!json) return malformed("The report of a site is not JSON: " + json.error().sentence);
    return site_report_of(*json);
}

std::optional<std::int64_t> late_ms(const SiteReport& report, base::UnixMicros now) {
    const bool is_announced = report.next_tick > 0;
    const base::UnixMicros due = is_announced ? report.next_tick : report.time;
    const std::int64_t patience_ms = is_announced ? late_after_ms : silent_after_ms;
    if (now - due <= patience_ms * 1000) return std::nullopt;
    return (now - report.time) / 1000;
}

std::string render_report_fields() {
    return "| member | required | meaning |\n|---|---|---|\n| `format` | yes | `" +
           std::string(report_format) + "` |\n" + table_of("", site_fields) + table_of("nodes", node_fields) +
           table_of("cells", cell_fields) + table_of("attempts", attempt_fields) +
           table_of("failures", failure_fields);
}

}  // namespace wheelyard::status
