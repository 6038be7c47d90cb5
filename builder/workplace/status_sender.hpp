// Sends the status of the site to the registry after a tick. A report that does not arrive fails no tick: it
// is noted in STATE/report_error.json, printed once, and shown by `status` until a report arrives.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "builder/plan/plan.hpp"
#include "builder/workplace/log_sender.hpp"
#include "builder/workplace/workplace.hpp"
#include "lib/base/clock.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::builder {

// Why the registry has no current report.
struct ReportError {
    std::string text;
    base::UnixMicros since = 0;
};
// nullopt: the last report arrived, or none was due. Reads STATE/report_error.json.
[[nodiscard]] std::optional<ReportError> last_report_error(const std::filesystem::path& state_directory);

class StatusSender {
  public:
    // `say` prints a line for a person. `tick_interval_s`: of ticks that repeat; 0: the site's tick_minutes.
    StatusSender(Workplace& place, std::function<void(const std::string&)> say,
                 std::int64_t tick_interval_s = 0);
    // Sends what the last tick found, and what is new in the logs. During a `run`, which ticks more than once
    // a second, a report only if an attempt `moved` or the last one is a minute old, and logs every 10 s.
    void after_tick(const Plan& plan, bool moved);

  private:
    [[nodiscard]] base::Status send(const Plan& plan);
    [[nodiscard]] base::Status send_logs();
    void note(const base::Status& sent);

    Workplace& place_;
    std::function<void(const std::string&)> say_;
    std::int64_t tick_interval_s_;
    io::HttpClient http_;
    LogSender logs_{place_, http_};
    base::UnixMicros sent_ = 0;
    base::UnixMicros logs_sent_ = 0;
    bool has_reported_ = false;  // the registry has the last report
};

}  // namespace wheelyard::builder
