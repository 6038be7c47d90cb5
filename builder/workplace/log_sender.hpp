// Sends the logs of the site's builds to the registry, in pieces, so that people read them there while the
// build runs. STATE/sent_logs.json says how much the registry has; without it the agent asks. A build that
// ended more than a day before the first call is not sent.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "builder/attempt/attempt.hpp"
#include "builder/workplace/workplace.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::builder {

// One log of two files: of the steps on the login node, then of the job.
struct SentLog {
    std::int64_t sent = -1;         // -1: not known
    std::int64_t login_bytes = -1;  // of the first file, once the second one exists
};
struct SentLogs {
    base::UnixMicros since = 0;           // attempts that ended before it have been sent
    std::map<std::string, SentLog> logs;  // by attempt
};
[[nodiscard]] std::string render_sent_logs(const SentLogs& sent);
// Empty if the text is no such document.
[[nodiscard]] SentLogs parse_sent_logs(std::string_view text);

class LogSender {
  public:
    // The references must outlive the object.
    LogSender(Workplace& place, io::HttpClient& http) : place_(place), http_(http) {}
    // What is new in the logs of these attempts, all of the journal. Errors: those of send_build_log() and of
    // the disk; the next call goes on there.
    [[nodiscard]] base::Status send(const std::vector<Attempt>& attempts,
                                    const std::vector<std::string>& secrets);

  private:
    [[nodiscard]] base::Status send_all(const std::vector<Attempt>& attempts,
                                        const std::vector<std::string>& secrets);
    // Says whether there is more to come.
    [[nodiscard]] base::Result<bool> send_one(const Attempt& attempt, SentLog& log,
                                              const std::vector<std::string>& secrets);
    [[nodiscard]] base::Result<std::string> next_piece(const Attempt& attempt, SentLog& log,
                                                       const std::vector<std::string>& secrets) const;

    Workplace& place_;
    io::HttpClient& http_;
    SentLogs known_;
    bool is_absent_ = false;  // the registry keeps no logs, as it answered at asked_
    base::UnixMicros asked_ = 0;
};

}  // namespace wheelyard::builder
