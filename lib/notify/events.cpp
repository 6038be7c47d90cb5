// The table of events. A row is all that a new event needs, besides the code that tells it.
#include <array>

#include "lib/notify/notify.hpp"

namespace wheelyard::notify {
namespace {

constexpr std::int64_t day = 24;
constexpr std::int64_t month = 30 * day;

// clang-format off
constexpr std::array rows{
    EventRow{"cell.given_up", "builder", "a wheel is not tried again before `retry`", month},
    EventRow{"submission.refused", "builder", "a queue has taken no jobs for 15 minutes or 3 tries, or the batch system refuses one job for good, or never starts it", day},
    EventRow{"upload.paused", "builder", "the registry refuses the agent's token; wheels wait until a person replaces it", day, true},
    EventRow{"agent.late", "registry", "a site has not reported when it should have", day},
    EventRow{"agent.reused", "registry", "the renewal of an agent that enrolled was used twice, so somebody has a copy; the agent is revoked", month},
    EventRow{"upstream.alarm", "registry", "an upstream sends other bytes under a known file name; the log has the names", 1},
    EventRow{"database.history_lost", "registry", "the database lacks events that a server had shown, as after a failover to an asynchronous standby, or with an older copy of the catalog; the pages were made again", 1},
    EventRow{"file.quarantined", "registry", "a file waits in quarantine until a person decides", month},
    EventRow{"disk.reserve", "registry", "the disk of the store is full: its reserve is used, or less than `min_free_mib` is free", day},
    EventRow{"certificate.expires", "registry", "the server's certificate ends within 14 days, or has ended", day},
    EventRow{"token.expires", "registry", "a token ends within 14 days", 7 * day},
    EventRow{"test", "both", "a person runs `notify test`", 0},
};
// clang-format on

}  // namespace

std::span<const EventRow> event_rows() {
    return rows;
}

std::string render_event_table() {
    std::string text = "| event | program | when | the same again after |\n|---|---|---|---|\n";
    for (const EventRow& row : rows) {
        text += "| `" + std::string(row.event) + "` | " + std::string(row.program) + " | " +
                std::string(row.when) + " | " + (row.again_h == 0 ? "" : std::to_string(row.again_h) + " h") +
                " |\n";
    }
    return text;
}

}  // namespace wheelyard::notify
