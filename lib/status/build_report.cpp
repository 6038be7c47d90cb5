// A report says what is; the difference to what is known says what ended.
#include "lib/status/build_report.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "lib/status/codecs.hpp"

namespace wheelyard::status {
namespace {

using B = BuildReport;
constexpr auto build_record = io::record<B>({
    member<Word, &B::site>("site", "the site that builds", Need::required),
    member<Word, &B::index>("index", "the index that its wheels are uploaded to", Need::required),
    member<Word, &B::id>("id", "ID of the attempt", Need::required),
    member<Word, &B::package>("package", "normalised name", Need::required),
    member<Word, &B::version>("version", "as in its cell", Need::required),
    member<Word, &B::python>("python", "`3.12`", Need::required),
    member<Word, &B::accelerator>("accelerator", "name in the site file; absent: none"),
    member<Word, &B::purpose>("purpose", "of a build that ended well, as in its cell; absent: a wheel"),
    member<Word, &B::state>(
        "state",
        "the state of the attempt (journal.md); `done`, `failed`, or `ended`: the site no longer reports it",
        Need::required),
    member<Word, &B::phase>("phase", "the phase of its job; of a failed build where it failed"),
    member<Text<max_text_bytes>, &B::waiting>("waiting", "what it waits for"),
    member<io::Time, &B::began>("began", "when the attempt began"),
    member<io::Time, &B::ended>("ended", "when it ended; absent: it has not"),
    member<Count, &B::done>("done", "steps done in this phase"),
    member<Count, &B::total>("total", "steps of this phase; 100: `done` is a percentage"),
    member<Count, &B::memory_limit_mib>("memory_limit_mib", "memory that its job requests"),
    member<Some<ItemCount, max_memory_points>, &B::memory_mib>("memory_mib",
                                                               "memory of its compiles, oldest first"),
    member<Some<Text<max_word_bytes>, max_phases>, &B::phases>("phases", "the phases of its job"),
    member<Some<ItemCount, max_phases>, &B::phase_seconds>("phase_seconds", "how long each of them took"),
    member<Word, &B::rule>("rule", "the doctor's rule that matches its log (doctor-rules.md)"),
    member<Text<max_text_bytes>, &B::cause>("cause", "why it failed"),
    member<Text<max_text_bytes>, &B::remedy>("remedy", "what to do, for the shell of the site's agent"),
    member<Text<max_text_bytes>, &B::source>("source", source_meaning),
    member<Word, &B::source_sha256>("source_sha256", source_sha256_meaning),
});

BuildReport of_attempt(const AttemptReport& attempt) {
    return {.id = attempt.id,
            .package = attempt.package,
            .version = attempt.version,
            .python = attempt.python,
            .accelerator = attempt.accelerator,
            .state = attempt.state,
            .phase = attempt.phase,
            .waiting = attempt.waiting,
            .began = attempt.began,
            .done = attempt.done,
            .total = attempt.total,
            .memory_limit_mib = attempt.memory_limit_mib,
            .memory_mib = attempt.memory_mib,
            .phases = attempt.phases,
            .phase_seconds = attempt.phase_seconds,
            .source = attempt.source,
            .source_sha256 = attempt.source_sha256};
}

// The report of a build that is over: adds to what was known while it ran.
template <typename Ended>
BuildReport of_ended(const Ended& ended, const KnownBuilds& known, std::string_view state) {
    const auto before = known.find(ended.attempt);
    BuildReport build = before == known.end() ? BuildReport() : before->second;
    build.id = ended.attempt;
    build.package = ended.package;
    build.version = ended.version;
    build.python = ended.python;
    build.accelerator = ended.accelerator;
    build.state = state;
    build.waiting.clear();
    build.began = ended.began;
    build.ended = ended.ended;
    if (!ended.phases.empty()) {
        build.phases = ended.phases;
        build.phase_seconds = ended.phase_seconds;
    }
    return build;
}

}  // namespace

bool is_over(const BuildReport& build) {
    return build.state == build_done || build.state == build_failed || build.state == build_ended;
}

io::Json build_json(const BuildReport& build) {
    io::Json json = io::Json::object({{"format", build_format}});
    build_record.write_into(json, build);
    return json;
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
    for (const AttemptReport& attempt : report.attempts)
        names.insert(attempt.id);
    for (const FailureReport& failure : report.failures)
        names.insert(failure.attempt);
    for (const FinishedReport& finished : report.finished)
        names.insert(finished.attempt);
    return {names.begin(), names.end()};
}

std::vector<BuildReport> changed_builds(const SiteReport& report, const KnownBuilds& known) {
    KnownBuilds now;
    for (const FinishedReport& finished : report.finished) {
        BuildReport build = of_ended(finished, known, build_done);
        build.purpose = finished.purpose;
        build.phase.clear();
        build.done = build.total = 0;
        now.insert_or_assign(build.id, std::move(build));
    }
    for (const FailureReport& failure : report.failures) {
        BuildReport build = of_ended(failure, known, build_failed);
        build.phase = failure.phase;
        build.rule = failure.rule;
        build.cause = failure.cause;
        build.remedy = failure.remedy;
        build.source = failure.source;
        build.source_sha256 = failure.source_sha256;
        now.insert_or_assign(build.id, std::move(build));
    }
    for (const AttemptReport& attempt : report.attempts)
        now.insert_or_assign(attempt.id, of_attempt(attempt));
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
