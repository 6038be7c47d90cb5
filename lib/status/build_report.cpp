// A report says what is; the difference to what is known says what ended.
#include "lib/status/build_report.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "lib/status/build_members.hpp"
#include "lib/status/documents.hpp"

namespace wheelyard::status {
namespace {

constexpr auto build_record = io::record<BuildReport>(
    {
        build::site,
        build::index,
        build::id,
        build::package,
        build::version,
        build::python,
        build::accelerator,
        build::purpose,
        build::state,
        build::phase,
        build::waiting,
        build::began,
        build::ended,
        build::done,
        build::total,
        build::memory_limit_mib,
        build::memory_mib,
        build::phases,
        build::phase_seconds,
        build::rule,
        build::cause,
        build::remedy,
        build::source,
        build::source_sha256,
    },
    build_format);

// The report of a build that is over: keeps what was known while it ran.
BuildReport of_ended(BuildReport ended, const KnownBuilds& known, std::string_view state) {
    ended.state = state;
    ended.log_tail.clear();
    const auto before = known.find(ended.id);
    if (before == known.end()) return ended;
    const BuildReport& was = before->second;
    ended.done = was.done;
    ended.total = was.total;
    ended.memory_limit_mib = was.memory_limit_mib;
    ended.memory_mib = was.memory_mib;
    if (ended.phases.empty()) {
        ended.phases = was.phases;
        ended.phase_seconds = was.phase_seconds;
    }
    if (ended.source.empty()) {
        ended.source = was.source;
        ended.source_sha256 = was.source_sha256;
    }
    return ended;
}

}  // namespace

bool is_over(const BuildReport& build) {
    return build.state == build_done || build.state == build_failed || build.state == build_ended;
}

io::Json build_json(const BuildReport& build) {
    return build_record.write(build);
}

std::span<const io::Member> build_members() {
    return build_record.members;
}

base::Result<BuildReport> parse_build(std::string_view text) {
    WHEELYARD_ASSIGN(const io::Json json,
                     io::parse_json(text, {.bytes = max_build_bytes, .depth = max_report_depth}));
    BuildReport build;
    WHEELYARD_TRY(build_record.read(json, build));
    return build;
}

std::vector<std::string> builds_named(const SiteReport& report) {
    std::set<std::string> names;
    for (const auto* list : {&report.attempts, &report.failures, &report.finished}) {
        for (const BuildReport& build : *list)
            names.insert(build.id);
    }
    return {names.begin(), names.end()};
}

std::vector<BuildReport> changed_builds(const SiteReport& report, const KnownBuilds& known) {
    KnownBuilds now;
    for (const BuildReport& finished : report.finished) {
        BuildReport build = of_ended(finished, known, build_done);
        build.done = build.total = 0;
        now.insert_or_assign(build.id, std::move(build));
    }
    for (const BuildReport& failure : report.failures)
        now.insert_or_assign(failure.id, of_ended(failure, known, build_failed));
    for (const BuildReport& attempt : report.attempts)
        now.insert_or_assign(attempt.id, attempt).first->second.log_tail.clear();
    for (const auto& [id, build] : known) {
        if (is_over(build) || now.contains(id) || report.is_cut) continue;
        BuildReport ended = build;
        ended.state = build_ended;
        ended.waiting.clear();
        ended.ended = report.time;
        now.emplace(id, std::move(ended));
    }
    std::vector<BuildReport> changed;
    for (auto& [id, build] : now) {
        build.site = report.site;
        build.index = report.index;
        const auto before = known.find(id);
        if (before == known.end() || before->second != build) changed.push_back(std::move(build));
    }
    return changed;
}

base::UnixMicros expected_end(base::UnixMicros began, std::vector<std::int64_t> seconds) {
    if (began == 0 || seconds.empty()) return 0;
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
    std::nth_element(seconds.begin(), middle, seconds.end());
    return began + *middle * base::second_us;
}

std::string render_build_fields() {
    return build_record.document(build_format);
}

}  // namespace wheelyard::status
