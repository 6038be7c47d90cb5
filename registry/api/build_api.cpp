#include "registry/api/build_api.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/io/log.hpp"
#include "lib/status/build_report.hpp"
#include "registry/api/query.hpp"
#include "registry/api/readers.hpp"
#include "registry/api/site_reports.hpp"
#include "registry/api/task_api.hpp"
#include "registry/intake/refusal.hpp"

namespace wheelyard::registry {
namespace {

using status::BuildReport;
using tasks::KeptBuild;

constexpr std::size_t max_others = 20;  // builds of the same cell
constexpr std::size_t max_history = 9;  // builds whose middle duration is expected

constexpr std::string_view append_log_operation = "appendBuildLog";
constexpr std::string_view list_builds_operation = "listBuilds";
constexpr std::string_view show_build_operation = "showBuild";
constexpr std::string_view read_log_operation = "readBuildLog";

tl::unexpected<wire::Problem> fail(const http::ApiRequest& request, const base::Error& error) {
    wire::Problem problem = problem_of_task(error);
    io::log_warn("build.refused", {{"request", request.request_id},
                                   {"operation", std::string(request.operation)},
                                   {"status", std::to_string(problem.status)},
                                   {"error", error.text()}});
    return tl::unexpected(std::move(problem));
}

tl::unexpected<wire::Problem> unknown_build(const http::ApiRequest& request) {
    return refuse("build.unknown", "No report of this site names this build", parameter(request, "build"),
                  "see the page of builds of the index");
}

wire::Answered<std::int64_t> offset_of(const http::ApiRequest& request) {
    const auto text = query_value(request.query, "offset");
    const auto number = text ? base::parse_decimal(*text) : std::optional<std::uint64_t>(0);
    if (number && *number <= static_cast<std::uint64_t>(INT64_MAX)) return static_cast<std::int64_t>(*number);
    return refuse("build.query", "Invalid query parameter", "offset", "give a number of bytes");
}

std::int64_t seconds_of(const BuildReport& build) {
    return std::max<std::int64_t>(0, (build.ended - build.began) / 1'000'000);
}

bool is_of_cell(const BuildReport& a, const BuildReport& b) {
    return a.index == b.index && a.site == b.site && a.package == b.package && a.version == b.version &&
           a.python == b.python && a.accelerator == b.accelerator;
}

// How long the newest successful builds of the package took: those of the same site and accelerator, or else all others.
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

io::Json other_json(const BuildReport& build, bool may_read_logs) {
    BuildReport brief = shown_to(build, may_read_logs);
    brief.memory_mib.clear();
    brief.phases.clear();
    brief.phase_seconds.clear();
    io::Json json = status::build_json(brief);
    if (!build.memory_mib.empty())
        json.set("memory_peak_mib", *std::max_element(build.memory_mib.begin(), build.memory_mib.end()));
    return json;
}

std::vector<std::string> reported_to(const IndexConfig& index) {
    std::vector<std::string> names{index.name};
    if (!index.staging.empty()) names.push_back(index.staging);
    return names;
}

}  // namespace

bool BuildApi::handles(std::string_view operation) {
    return operation == append_log_operation || operation == list_builds_operation ||
           operation == show_build_operation || operation == read_log_operation;
}

wire::Answered<http::ApiReply> BuildApi::answer(const http::ApiRequest& request) {
    if (request.operation == append_log_operation) return append_log(request);
    if (request.operation == list_builds_operation) return list(request);
    return request.operation == show_build_operation ? show(request) : read_log(request);
}

// A token that may report the builds of a site sends their logs.
BuildApi::Reply BuildApi::append_log(const http::ApiRequest& request) {
    const auto token = parts_.tokens.verify(request.authorization);
    if (!token) return tl::unexpected(token.error());
    const std::string index = parameter(request, "index");
    if (parts_.config.find_index(index) == nullptr || !may_know(parts_.config, *token, index))
        return refuse("index.unknown", "There is no index with this name", index, "GET / lists the indexes");
    if (!may_report(*token, index, parameter(request, "site")))
        return refuse(
            "site.scope", "This token does not permit reporting to this index", token->id,
            "use a token of an agent that may upload to the index; one that enrolled reports its own site");
    const auto offset = offset_of(request);
    if (!offset) return tl::unexpected(offset.error());
    if (auto room = parts_.config.room().check(request.body.size()); !room)
        return fail(request, room.error());
    const auto size = parts_.builds.append_log(
        {index, parameter(request, "site"), parameter(request, "build")}, *offset, request.body);
    if (!size) return fail(request, size.error());
    return http::ApiReply{
        .status = 200,
        .json = io::Json::object({{"format", "wheelyard.build_log/1"}, {"log_bytes", *size}}).render()};
}

BuildApi::Reply BuildApi::list(const http::ApiRequest& request) {
    const auto caller = caller_of(parts_.tokens, request.authorization);
    if (!caller) return tl::unexpected(caller.error());
    const std::string package = query_value(request.query, "package").value_or("");
    const auto index = index_to_read(parts_.config, *caller, parameter(request, "index"), package);
    if (!index) return tl::unexpected(index.error());
    std::vector<KeptBuild> builds;
    for (const std::string& name : reported_to(**index)) {
        auto some = parts_.builds.list(name, package);
        if (!some) return fail(request, some.error());
        std::move(some->begin(), some->end(), std::back_inserter(builds));
    }
    std::stable_sort(builds.begin(), builds.end(), [](const KeptBuild& a, const KeptBuild& b) {
        return std::max(a.report.began, a.report.ended) > std::max(b.report.began, b.report.ended);
    });
    if (builds.size() > tasks::max_builds_returned) builds.resize(tasks::max_builds_returned);
    io::Json list = io::Json::array();
    for (const KeptBuild& build : builds)
        list.push(
            other_json(build.report, may_read_logs(parts_.config, *caller, **index, build.report.package)));
    return http::ApiReply{
        .status = 200,
        .json = io::Json::object({{"format", "wheelyard.builds/1"}, {"builds", std::move(list)}}).render()};
}

base::Result<std::optional<KeptBuild>> BuildApi::find(const IndexConfig& index,
                                                      const http::ApiRequest& request) {
    for (const std::string& name : reported_to(index)) {
        WHEELYARD_ASSIGN(auto found,
                         parts_.builds.find({name, parameter(request, "site"), parameter(request, "build")}));
        if (found) return found;
    }
    return std::nullopt;
}

wire::Answered<BuildApi::FoundBuild> BuildApi::find_readable(const http::ApiRequest& request) {
    const auto caller = caller_of(parts_.tokens, request.authorization);
    if (!caller) return tl::unexpected(caller.error());
    const std::string name = parameter(request, "index");
    const IndexConfig* index = parts_.config.find_index(name);
    auto found =
        index == nullptr ? base::Result<std::optional<KeptBuild>>(std::nullopt) : find(*index, request);
    if (!found) return fail(request, found.error());
    const std::string package = *found ? (*found)->report.package : std::string();
    const auto readable = index_to_read(parts_.config, *caller, name, package);
    if (!readable) return tl::unexpected(readable.error());
    if (!*found) return unknown_build(request);
    const bool has_logs = may_read_logs(parts_.config, *caller, *index, package);
    return FoundBuild{.build = **std::move(found), .caller = *caller, .may_read_logs = has_logs};
}

BuildApi::Reply BuildApi::show(const http::ApiRequest& request) {
    const auto found = find_readable(request);
    if (!found) return tl::unexpected(found.error());
    const KeptBuild& build = found->build;
    const auto same = parts_.builds.list(build.report.index, build.report.package);
    if (!same) return fail(request, same.error());

    io::Json json = status::build_json(shown_to(build.report, found->may_read_logs));
    json.set("may_read_log", found->may_read_logs);
    if (found->may_read_logs) json.set("log_bytes", build.log_bytes);
    const std::vector<std::int64_t> seconds = durations(build.report, *same);
    if (!status::is_over(build.report)) {
        const base::UnixMicros end = status::expected_end(build.report.began, seconds);
        if (end > 0) json.set("expected_end", base::render_rfc3339(end));
        json.set("expected_from", static_cast<std::int64_t>(seconds.size()));
    }
    io::Json others = io::Json::array();
    std::size_t count = 0;
    for (const KeptBuild& other : *same) {
        if (other.report.id == build.report.id || !is_of_cell(other.report, build.report)) continue;
        if (count++ == max_others) break;
        others.push(other_json(other.report, found->may_read_logs));
    }
    json.set("others", std::move(others));
    return http::ApiReply{.status = 200, .json = json.render()};
}

BuildApi::Reply BuildApi::read_log(const http::ApiRequest& request) {
    const auto found = find_readable(request);
    if (!found) return tl::unexpected(found.error());
    if (!found->may_read_logs) {
        if (!found->caller) return tl::unexpected(parts_.tokens.verify({}).error());
        return refuse("auth.scope_refused", "This token does not permit reading the logs of this index",
                      found->caller->id, "ask an administrator for a token with the action `read`");
    }
    const auto offset = offset_of(request);
    if (!offset) return tl::unexpected(offset.error());
    const BuildReport& report = found->build.report;
    auto log = parts_.builds.read_log({report.index, report.site, report.id}, *offset);
    if (!log) return fail(request, log.error());
    http::ApiReply answer;
    answer.text = *std::move(log);
    return answer;
}

}  // namespace wheelyard::registry
