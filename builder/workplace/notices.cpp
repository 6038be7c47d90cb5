// Cells that were given up, queues that take no jobs, and a refused token.
#include "builder/workplace/notices.hpp"

#include <algorithm>
#include <utility>

#include "builder/remote/secrets.hpp"

namespace wheelyard::builder {
namespace {

constexpr int min_tries = 3;
constexpr base::UnixMicros min_held = 15 * 60'000'000LL;
constexpr std::size_t max_cause_bytes = 400;

// The steps of builder/steps/steps.cpp that ask the batch system for a job.
bool is_refused_job(const Attempt& attempt) {
    return attempt.failure && (attempt.failure->phase == "submit" || attempt.failure->phase == "start");
}

// Without numbers, such as those of jobs and times, which differ from refusal to refusal.
std::string kind_of_reason(std::string reason) {
    std::erase_if(reason, [](char c) { return c >= '0' && c <= '9'; });
    return reason.substr(0, max_cause_bytes);
}

}  // namespace

notify::Settings notify_settings(const Site& site) {
    return {.command = site.notify_command,
            .folder = site.state_directory / "notify",
            .program = "wheelyard-builder",
            .from = site.name};
}

std::vector<notify::Notice> notices_of(const TickReport& report, const std::vector<Attempt>& attempts,
                                       const std::vector<std::string>& secrets, base::UnixMicros now) {
    std::vector<notify::Notice> notices;
    if (report.uploads_paused)
        notices.push_back({"upload.paused", "token", "Uploads are paused. " + report.uploads_paused->text()});
    for (const HeldQueue& queue : report.plan.held_queues) {
        if (queue.tries < min_tries && now - queue.since < min_held) continue;  // it may pass within seconds
        notices.push_back(
            {"submission.refused", queue_words(queue.queue), describe(queue), kind_of_reason(queue.reason)});
    }
    for (const Cell& cell : report.plan.cells) {
        if (cell.state != CellState::given_up) continue;
        const auto attempt = std::find_if(attempts.begin(), attempts.end(),
                                          [&](const Attempt& one) { return one.id == cell.attempt; });
        const bool is_refused = attempt != attempts.end() && is_refused_job(*attempt);
        notices.push_back({is_refused ? "submission.refused" : "cell.given_up",
                           cell.name + (cell.attempt.empty() ? "" : " " + cell.attempt),
                           cell.name + " is given up: " + cell.reason});
    }
    for (notify::Notice& notice : notices) {
        notice.sentence = hide_secrets(notice.sentence, secrets);
        notice.cause = hide_secrets(notice.cause, secrets);
    }
    return notices;
}

base::Status notify_after_tick(Workplace& place, const TickReport& report) {
    const notify::Settings settings = notify_settings(place.site());
    if (settings.command.empty()) return {};
    WHEELYARD_ASSIGN(const auto journal, place.journal().read());
    // A token that cannot be read reached nobody's output either; the rest is hidden by its form.
    const auto secrets = secrets_of(place.site()).value_or(std::vector<std::string>());
    WHEELYARD_TRY(notify::tell(settings, notices_of(report, journal.attempts, secrets, place.clock().now()),
                               place.clock()));
    return {};
}

}  // namespace wheelyard::builder
