#include "builder/workplace/status_sender.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "builder/remote/report_client.hpp"
#include "builder/remote/secrets.hpp"
#include "builder/workplace/build_course.hpp"
#include "builder/workplace/status_report.hpp"
#include "lib/base/files/file.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::int64_t report_timeout_ms = 20'000;           // one report to the registry
constexpr std::int64_t report_every_ms = 60'000;             // of a `run` in which nothing moves
constexpr std::int64_t logs_every_ms = 10'000;               // of a `run`
constexpr std::uint64_t max_report_error_bytes = 16 * 1024;  // report_error.json

namespace fs = std::filesystem;

constexpr std::string_view error_format = "wheelyard.report_error/1";

fs::path error_file(const fs::path& state_directory) {
    return state_directory / "report_error.json";
}

}  // namespace

std::optional<ReportError> last_report_error(const fs::path& state_directory) {
    const auto text = base::read_file(error_file(state_directory), max_report_error_bytes);
    const auto json = text ? io::parse_json(*text) : base::Result<io::Json>(tl::unexpected(text.error()));
    if (!json || json->string_or("format", "") != error_format) return std::nullopt;
    return ReportError{json->string_or("error", ""),
                       base::parse_rfc3339(json->string_or("since", "")).value_or(0)};
}

StatusSender::StatusSender(Workplace& place, std::function<void(const std::string&)> say,
                           std::int64_t tick_interval_s)
    : place_(place),
      say_(std::move(say)),
      tick_interval_s_(tick_interval_s > 0 ? tick_interval_s : place.site().tick_minutes * 60),
      http_({.connect_timeout_ms = report_timeout_ms,
             .stall_timeout_ms = report_timeout_ms,
             .answer_timeout_ms = report_timeout_ms}) {}

void StatusSender::after_tick(const Plan& plan, bool moved) {
    const auto& registry = place_.site().registry;
    if (!registry || registry->report == "no") return;
    const base::UnixMicros now = place_.clock().now();
    const bool reports = moved || sent_ == 0 || now - sent_ >= report_every_ms * 1000;
    if (!reports && now - logs_sent_ < logs_every_ms * 1000) return;
    logs_sent_ = now;
    if (!reports) {
        // The next report says what keeps a log away. A build that no report has named has no log there.
        if (has_reported_) static_cast<void>(send_logs());
        return;
    }
    sent_ = now;
    auto sent = send(plan);
    has_reported_ = sent.has_value();
    if (sent) sent = send_logs();
    note(sent);
}

// After the report, which makes the registry know the builds.
base::Status StatusSender::send_logs() {
    if (place_.site().registry->report != "all") return {};
    WHEELYARD_ASSIGN(const auto journal, place_.journal().read());
    WHEELYARD_ASSIGN(const auto secrets, secrets_of(place_.site()));
    return logs_.send(journal.attempts, secrets);
}

base::Status StatusSender::send(const Plan& plan) {
    WHEELYARD_ASSIGN(const auto journal, place_.journal().read());
    const base::UnixMicros now = place_.clock().now();
    const auto views = place_.views(journal.attempts);
    const bool sends_lines = place_.site().registry->report == "all";
    std::map<std::string, AttemptLog> logs;
    std::vector<const Attempt*> failed;
    for (const Attempt& attempt : journal.attempts) {
        if (is_reported_failure(attempt)) failed.push_back(&attempt);
        if (is_over(attempt.state)) continue;
        const std::string text = read_log_tail(place_.log_of(attempt), course_log_bytes);
        AttemptLog& log = logs[attempt.id];
        log.course = parse_build_course(text);
        if (sends_lines)
            log.last_lines = last_log_lines(
                std::string_view(text).substr(text.size() - std::min(text.size(), log_tail_bytes)));
    }
    const std::size_t count = sends_lines ? std::min(failed.size(), status::max_failure_logs) : 0;
    const auto end = failed.begin() + static_cast<std::ptrdiff_t>(count);
    std::partial_sort(failed.begin(), end, failed.end(),
                      [](const Attempt* a, const Attempt* b) { return a->changed > b->changed; });
    for (const Attempt* attempt : std::span(failed).first(count))
        logs[attempt->id].last_lines = last_log_lines(read_log_tail(place_.log_of(*attempt), log_tail_bytes),
                                                      status::max_failure_log_lines);
    ReportInput input{place_.site(),
                      place_.recipes(),
                      plan,
                      place_.pythons(),
                      views,
                      now,
                      now + tick_interval_s_ * 1'000'000};
    WHEELYARD_ASSIGN(input.secrets, secrets_of(place_.site()));
    return send_report(http_, *place_.site().registry, input.site.name,
                       status::render_site_report(make_status_report(input, logs)));
}

void StatusSender::note(const base::Status& sent) {
    const fs::path& state = place_.site().state_directory;
    const auto before = last_report_error(state);
    if (sent) {
        if (!before) return;
        static_cast<void>(base::remove_file(error_file(state)));  // else it is printed once more
        say_("The registry has this site's status again.");
        return;
    }
    const std::string text = sent.error().text();
    if (before && before->text == text) return;
    say_("The registry did not get this site's status: " + text);
    // If it cannot be written, the next tick prints the error again.
    static_cast<void>(base::replace_file(
        error_file(state),
        io::Json::object({{"format", error_format},
                          {"error", text},
                          {"since", base::render_rfc3339(before ? before->since : place_.clock().now())}})
            .render_pretty()));
}

}  // namespace wheelyard::builder
