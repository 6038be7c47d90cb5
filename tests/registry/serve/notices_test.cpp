// What a server tells people of, and what it leaves out.
#include "registry/serve/notices.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace wheelyard::registry {
namespace {

constexpr base::UnixMicros day = 86'400'000'000;
constexpr base::UnixMicros now = 20'000 * day;

std::vector<std::string> told(const Observed& observed) {
    std::vector<std::string> events;
    for (const notify::Notice& notice : notices_of(observed))
        events.push_back(std::string(notice.event) + " " + notice.subject);
    return events;
}

catalog::TokenRow token(const std::string& id, base::UnixMicros created, base::UnixMicros expires) {
    catalog::TokenRow row;
    row.id = id;
    row.created = created;
    row.expires = expires;
    return row;
}

}  // namespace

TEST_CASE("nothing is told of a server that is well") {
    catalog::TokenRow revoked = token("wy_3", now - 80 * day, now + day);
    revoked.revoked = true;
    catalog::TokenRow log_in = token("wy_4", now - 80 * day, now + day);  // its person logs in again
    log_in.name = "login:campus:03a084df36d91e24 Anna";
    const std::vector<catalog::TokenRow> tokens = {token("lasting", now, 0),
                                                   token("ends later", now, now + 90 * day),
                                                   revoked,
                                                   token("has ended", now - 80 * day, now - day),
                                                   token("made for a day", now, now + day),
                                                   log_in};
    CHECK(told({.now = now, .certificate_end = now + 15 * day, .tokens = tokens}) ==
          std::vector<std::string>{});
}

TEST_CASE("each event of the table that is the registry's has a cause that tells it") {
    status::SiteReport late;
    late.site = "bede";
    late.index = "main";
    late.time = now - 2 * day;
    late.next_tick = now - day;
    catalog::TokenRow copied = token("wy_2", now - day, now + 59 * day);
    copied.name = copied.revoked_by = "agent:bede renewal";
    copied.revoked = true;
    catalog::FileRow file;
    file.index = "main";
    file.filename = "six-1.0-py3-none-any.whl";
    const auto all = told({.now = now,
                           .disk_is_full = true,
                           .sites = {late},
                           .new_alarms = 1,
                           .certificate_end = now - day,
                           .tokens = {token("wy_1", now - 80 * day, now + 13 * day), copied},
                           .quarantined = {file},
                           .new_lost_histories = 1});
    CHECK(all == std::vector<std::string>{
                     "disk.reserve store", "certificate.expires " + base::render_rfc3339(now - day),
                     "agent.late main/bede", "upstream.alarm upstreams", "database.history_lost database",
                     "file.quarantined main/six-1.0-py3-none-any.whl", "token.expires wy_1",
                     "agent.reused agent:bede renewal"});
    for (const notify::EventRow& row : notify::event_rows()) {
        if (row.program != "registry") continue;
        CHECK_MESSAGE(
            std::any_of(all.begin(), all.end(),
                        [&](const auto& one) { return one.starts_with(std::string(row.event) + " "); }),
            row.event);
    }
}

}  // namespace wheelyard::registry
