// Builds as sites report them, with their logs.

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/io/log.hpp"
#include "lib/status/build_report.hpp"
#include "lib/status/documents.hpp"
#include "lib/wire/documents.hpp"
#include "registry/api/api.hpp"
#include "registry/api/operation.hpp"
#include "registry/api/readers.hpp"
#include "registry/api/site_reports.hpp"
#include "registry/api/task_api.hpp"
#include "registry/intake/refusal.hpp"

namespace wheelyard::registry {
namespace {

using io::field;
using status::BuildReport;
using tasks::KeptBuild;

constexpr std::size_t max_others = 20;    // builds of the same cell
constexpr std::size_t max_requests = 10;  // the newest for this wheel
constexpr std::size_t max_pages = 10;     // of the requests for its package that are looked through
constexpr std::size_t max_history = 9;    // builds whose middle duration is expected

tl::unexpected<wire::Problem> fail_build(const Call& call, const base::Error& error) {
    return fail_call(call, "build.refused", error, problem_of_task);
}

tl::unexpected<wire::Problem> unknown_build(const std::string& id) {
    return refuse("build.unknown", "No report of this site names this build", id,
                  "see the page of builds of the index");
}

std::int64_t seconds_of(const BuildReport& build) {
    return std::max<std::int64_t>(0, (build.ended - build.began) / 1'000'000);
}

bool is_of_cell(const BuildReport& a, const BuildReport& b) {
    return a.index == b.index && a.site == b.site && a.package == b.package && a.version == b.version &&
           a.python == b.python && a.accelerator == b.accelerator;
}

// How long the newest successful builds of the package took: those of the same site and accelerator, or else
// all others.
std::vector<std::int64_t> durations(const BuildReport& of, const std::vector<KeptBuild>& builds) {
    std::vector<std::int64_t> here;
    std::vector<std::int64_t> elsewhere;
    for (const KeptBuild& build : builds) {
        const BuildReport& report = build.report;
        if (report.state != status::build_done || !report.purpose.empty() || report.began == 0) continue;
        auto& list = report.site == of.site && report.accelerator == of.accelerator ? here : elsewhere;
        if (list.size() < max_history) list.push_back(seconds_of(report));
    }
    return here.empty() ? elsewhere : here;
}

// A cause ends with a line of the log.
BuildReport shown_to(const BuildReport& build, bool may_read_logs) {
    BuildReport shown = build;
    if (!may_read_logs) shown.cause = without_log_line(std::move(shown.cause));
    return shown;
}

using RequestsOfBuild = std::vector<wire::Task>;
constexpr auto request_of_build_record = io::record<wire::Task>({
    field<&wire::Task::id>("id", "the request's ID"),
    field<io::WordOf<wire::task_states>, &wire::Task::state>("state", "the state of the task (task.md)"),
    field<io::Moment, &wire::Task::asked>("asked", "when"),
});
// What the registry adds to the report: of lists the first row, of one build the others.
struct BesideBuild {
    std::optional<std::int64_t> memory_peak_mib = {};
    std::optional<bool> may_read_log = {};
    std::optional<bool> may_retry = {};
    std::optional<std::int64_t> log_bytes = {};
    base::UnixMicros expected_end = 0;
    std::optional<std::size_t> expected_from = {};
    std::optional<std::vector<io::Json>> others = {};
    std::optional<RequestsOfBuild> requests = {};
};
io::Document build_document();
constexpr auto beside_build_record = io::record<BesideBuild>({
    field<&BesideBuild::memory_peak_mib>("memory_peak_mib",
                                         "in lists, which have no `memory_mib` and `phases`",
                                         io::Need::optional, io::Written::unless_null),
    field<&BesideBuild::may_read_log>("may_read_log", "whether the caller may read its log",
                                      io::Need::optional, io::Written::unless_null),
    field<&BesideBuild::may_retry>(
        "may_retry", "of a failed build: whether the caller may request it again without an approval",
        io::Need::optional, io::Written::unless_null),
    field<&BesideBuild::log_bytes>("log_bytes", "the length of its log so far", io::Need::optional,
                                   io::Written::unless_null),
    field<io::Time, &BesideBuild::expected_end>(
        "expected_end", "of a running build: when it ends, if it takes as long as others did",
        io::Need::optional, io::Written::unless_null),
    field<&BesideBuild::expected_from>("expected_from", "of how many builds that is known",
                                       io::Need::optional, io::Written::unless_null),
    field<io::ListOf<io::Rendered<build_document>>, &BesideBuild::others>(
        "others", "other builds of the same cell, the newest first, at most 20", io::Need::optional,
        io::Written::unless_null),
    field<io::ListOf<io::Nested<request_of_build_record>>, &BesideBuild::requests>(
        "requests", "requests for this wheel, the newest first, at most 10", io::Need::optional,
        io::Written::unless_null),
});
io::Document build_document() {
    return {.name = status::build_format, .tables = {status::build_members(), beside_build_record.members}};
}

constexpr auto builds_record = io::record_of<std::vector<io::Json>, io::ListOf<io::Rendered<build_document>>>(
    "builds", "the newest first", "wheelyard.builds/1");
constexpr auto build_log_record =
    io::record_of<std::int64_t>("log_bytes", "how much of the log the registry has", "wheelyard.build_log/1");

io::Json other_json(const BuildReport& build, bool may_read_logs) {
    BuildReport brief = shown_to(build, may_read_logs);
    brief.memory_mib.clear();
    brief.phases.clear();
    brief.phase_seconds.clear();
    io::Json json = status::build_json(brief);
    BesideBuild beside;
    if (!build.memory_mib.empty())
        beside.memory_peak_mib = *std::max_element(build.memory_mib.begin(), build.memory_mib.end());
    beside_build_record.write_into(json, beside);
    return json;
}

std::vector<std::string> reported_to(const IndexConfig& index) {
    std::vector<std::string> names{index.name};
    if (!index.staging.empty()) names.push_back(index.staging);
    return names;
}

// A build of a site, and where in its log.
struct LogOfBuild {
    std::string index;
    std::string site;
    std::string build;
    std::int64_t offset = 0;  // bytes
};
struct BuildsWanted {
    std::string index;
    std::string package;  // empty: all
};
constexpr auto index_of_build = in_path(field<&LogOfBuild::index>("index", "The index"));
constexpr auto site_of_build = in_path(field<&LogOfBuild::site>("site", "The site that built"));
constexpr auto build_argument = in_path(field<&LogOfBuild::build>("build", "The ID of the build"));
constexpr auto of_build = arguments<LogOfBuild>({index_of_build, site_of_build, build_argument});
constexpr auto of_build_log = arguments<LogOfBuild>({
    index_of_build,
    site_of_build,
    build_argument,
    in_query(field<&LogOfBuild::offset>("offset", "Where in the log to begin, in bytes")),
});
constexpr auto of_builds = arguments<BuildsWanted>({
    in_path(field<&BuildsWanted::index>("index", "The index")),
    in_query(field<&BuildsWanted::package>("package", "Only of this project")),
});
struct FoundBuild {
    KeptBuild build;
    bool may_read_logs = false;
};

// A token that may report the builds of a site sends their logs.
Reply append_build_log(const ApiParts& parts, const Call& call, const LogOfBuild& of) {
    if (!may_report(call.who(), of.index, of.site)) return refuse_reporting(call.who());
    const auto size = parts.builds->append_log({of.index, of.site, of.build}, of.offset, call.request.body);
    if (!size) return fail_build(call, size.error());
    return reply_with(build_log_record.write(*size));
}

Reply list_builds(const ApiParts& parts, const Call& call, const BuildsWanted& of) {
    const std::string& package = of.package;
    const auto index = index_to_read(parts.config, call.caller, of.index, package);
    if (!index) return tl::unexpected(index.error());
    std::vector<KeptBuild> builds;
    for (const std::string& name : reported_to(**index)) {
        auto some = parts.builds->list(name, package);
        if (!some) return fail_build(call, some.error());
        std::move(some->begin(), some->end(), std::back_inserter(builds));
    }
    std::stable_sort(builds.begin(), builds.end(), [](const KeptBuild& a, const KeptBuild& b) {
        return std::max(a.report.began, a.report.ended) > std::max(b.report.began, b.report.ended);
    });
    if (builds.size() > tasks::max_builds_returned) builds.resize(tasks::max_builds_returned);
    std::vector<io::Json> shown;
    for (const KeptBuild& build : builds)
        shown.push_back(other_json(build.report,
                                   may_read_logs(parts.config, call.caller, **index, build.report.package)));
    return reply_with(builds_record.write(shown));
}

base::Result<std::optional<KeptBuild>> find_build(const ApiParts& parts, const IndexConfig& index,
                                                  const LogOfBuild& of) {
    for (const std::string& name : reported_to(index)) {
        WHEELYARD_ASSIGN(auto found, parts.builds->find({name, of.site, of.build}));
        if (found) return found;
    }
    return std::nullopt;
}

wire::Answered<FoundBuild> find_readable(const ApiParts& parts, const Call& call, const LogOfBuild& of) {
    const std::string& name = of.index;
    const IndexConfig* index = parts.config->find_index(name);
    auto found = index == nullptr ? base::Result<std::optional<KeptBuild>>(std::nullopt)
                                  : find_build(parts, *index, of);
    if (!found) return fail_build(call, found.error());
    const std::string package = *found ? (*found)->report.package : std::string();
    const auto readable = index_to_read(parts.config, call.caller, name, package);
    if (!readable) return tl::unexpected(readable.error());
    if (!*found) return unknown_build(of.build);
    const bool has_logs = may_read_logs(parts.config, call.caller, *index, package);
    return FoundBuild{.build = **std::move(found), .may_read_logs = has_logs};
}

// The requests for this wheel that were there when the build began, each with its page: the other way of
// add_builds() (request_api.cpp).
RequestsOfBuild requests_of(tasks::TaskStore& tasks, const std::string& index, const BuildReport& build) {
    std::vector<wire::Task> asked;
    std::string after;
    for (std::size_t page = 0; page < max_pages; ++page) {
        const auto some = tasks.list({.index = index, .packages = std::vector{build.package}}, after);
        if (!some) break;
        for (const wire::Task& task : *some) {
            if (answers(build, task.request) && build.began >= task.asked) asked.push_back(task);
        }
        if (some->size() < tasks::max_tasks_returned) break;
        after = some->back().id;
    }
    std::reverse(asked.begin(), asked.end());
    if (asked.size() > max_requests) asked.resize(max_requests);
    return asked;
}

Reply show_build(const ApiParts& parts, const Call& call, const LogOfBuild& of) {
    const auto found = find_readable(parts, call, of);
    if (!found) return tl::unexpected(found.error());
    const KeptBuild& build = found->build;
    const auto same = parts.builds->list(build.report.index, build.report.package);
    if (!same) return fail_build(call, same.error());

    io::Json json = status::build_json(shown_to(build.report, found->may_read_logs));
    BesideBuild beside{.may_read_log = found->may_read_logs};
    if (build.report.state == status::build_failed && build.report.purpose.empty())
        beside.may_retry = may_retry(call.caller, of.index, build.report.package);
    if (found->may_read_logs) beside.log_bytes = build.log_bytes;
    const std::vector<std::int64_t> seconds = durations(build.report, *same);
    if (!status::is_over(build.report)) {
        beside.expected_end = status::expected_end(build.report.began, seconds);
        beside.expected_from = seconds.size();
    }
    std::vector<io::Json>& others = beside.others.emplace();
    std::size_t count = 0;
    for (const KeptBuild& other : *same) {
        if (other.report.id == build.report.id || !is_of_cell(other.report, build.report)) continue;
        if (count++ == max_others) break;
        others.push_back(other_json(other.report, found->may_read_logs));
    }
    if (parts.tasks != nullptr) beside.requests = requests_of(*parts.tasks, of.index, build.report);
    beside_build_record.write_into(json, beside);
    return reply_with(json);
}

Reply read_build_log(const ApiParts& parts, const Call& call, const LogOfBuild& of) {
    const auto found = find_readable(parts, call, of);
    if (!found) return tl::unexpected(found.error());
    if (!found->may_read_logs) {
        if (!call.caller) return tl::unexpected(parts.tokens.verify({}).error());
        return refuse("auth.scope_refused", "This token does not permit reading the logs of this index",
                      call.who().id, "ask an administrator for a token with the action `read`");
    }
    const BuildReport& report = found->build.report;
    auto log = parts.builds->read_log({report.index, report.site, report.id}, of.offset);
    if (!log) return fail_build(call, log.error());
    http::ApiReply answer;
    answer.text = *std::move(log);
    return answer;
}

constexpr wire::Refusal malformed_build_query{"build.query"};
constexpr Right of_build_readers{.callers = Callers::everyone, .advice = "`read` for the project"};

constexpr std::array build_rows{
    row<of_builds, list_builds>(
        open_to_all(got("/api/v1/indexes/{index}/builds", "listBuilds", io::document_of<builds_record>,
                        "Lists the last builds of an index, the newest first (?package=…)")),
        malformed_build_query,
        {.callers = Callers::everyone, .advice = "`read` for all projects, or for the package"}),
    row<of_build, show_build>(
        open_to_all(got("/api/v1/indexes/{index}/builds/{site}/{build}", "showBuild", build_document,
                        "Returns what a site reported of a build, and the other builds of its cell")),
        malformed_build_query, of_build_readers),
    row<of_build_log, read_build_log>(
        with_text(open_to_all(got("/api/v1/indexes/{index}/builds/{site}/{build}/log", "readBuildLog",
                                  nullptr, "Returns the log of a build (?offset=…)"))),
        malformed_build_query, of_log_readers),
    row<of_build_log, append_build_log>(
        posted("/api/v1/indexes/{index}/builds/{site}/{build}/log", "appendBuildLog",
               io::document_of<build_log_record>,
               "Appends to the log of a build that the site has reported (?offset=…)", http::BodyKind::text),
        malformed_build_query, of_reporters, Stores::yes),
};

}  // namespace

std::span<const OperationRow> build_operations() {
    return build_rows;
}

}  // namespace wheelyard::registry
