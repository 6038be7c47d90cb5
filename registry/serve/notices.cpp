// One look: gather, decide, tell.
#include "registry/serve/notices.hpp"

#include <utility>

#include "lib/io/log.hpp"
#include "lib/store/blobs/disk_room.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "registry/access/agents.hpp"
#include "registry/access/person.hpp"
#include "registry/server/tls.hpp"

namespace wheelyard::registry {
namespace {

constexpr base::UnixMicros soon = 14 * base::day_us;
constexpr std::size_t max_events_a_look = 10'000;

}  // namespace

std::vector<notify::Notice> notices_of(const Observed& observed) {
    std::vector<notify::Notice> notices;
    if (observed.disk_is_full)
        notices.push_back({"disk.reserve", "store",
                           "the disk of the store is full, and uploads are refused. Free space on it."});
    if (observed.certificate_end && *observed.certificate_end - observed.now < soon)
        notices.push_back({"certificate.expires", base::render_rfc3339(*observed.certificate_end),
                           "the certificate of the server ends at " +
                               base::render_rfc3339(*observed.certificate_end) +
                               ". Renew it, then send SIGHUP."});
    for (const status::SiteReport& site : observed.sites) {
        if (!status::late_ms(site, observed.now)) continue;
        notices.push_back({"agent.late", site.index + "/" + site.site,
                           "the agent of the site " + site.site + " has not reported since " +
                               base::render_rfc3339(site.time) + ". Look at its cron and its login node."});
    }
    if (observed.new_alarms > 0)
        notices.push_back({"upstream.alarm", "upstreams",
                           "an upstream sends other bytes under a known file name (" +
                               std::to_string(observed.new_alarms) + " times). The log has the names."});
    if (observed.new_lost_histories > 0)
        notices.push_back(
            {"database.history_lost", "database",
             "the database lacks events that this node had shown, as after a failover to an "
             "asynchronous standby, or with an older copy of the catalog. Its pages were made again; files "
             "that were answered with 200 may be missing: lost-files.tsv of the data folder has them."});
    for (const catalog::FileRow& file : observed.quarantined)
        notices.push_back({"file.quarantined", file.index + "/" + file.filename,
                           file.filename + " of the index " + file.index +
                               " waits in quarantine for `release` or `delete`."});
    for (const catalog::TokenRow& token : observed.tokens) {
        const bool is_renewal = agent_row_of(token.name) == AgentRow::renewal;
        if (is_renewal && token.revoked_by == token.name)
            notices.push_back(
                {"agent.reused", token.name,
                 "a renewal of " + agent_name(site_of_agent(token.name)) + " was used twice, at last at " +
                     base::render_rfc3339(token.revoked_at) +
                     ", so somebody has a copy. The agent is revoked. Find the copy, then enrol the "
                     "agent again."});
        const bool ends_soon =
            token.expires > observed.now && token.expires - observed.now < soon && !token.revoked;
        const bool is_short = token.expires - token.created < 2 * soon || is_person(token.name) || is_renewal;
        if (!ends_soon || is_short) continue;  // made to be
        notices.push_back({"token.expires", token.id,
                           "the token " + token.name + " (" + token.id + ") ends at " +
                               base::render_rfc3339(token.expires) + ". Create another one in time."});
    }
    return notices;
}

Notices::Notices(const ServiceParts& parts, Writer& writer, std::int64_t interval_ms)
    : parts_(parts), writer_(writer), task_(0, interval_ms, [this](base::Clock& clock) { look(clock); }) {}

base::Result<Observed> Notices::observe(base::UnixMicros now) {
    const ConfigView held = parts_.config.held();
    const RegistryConfig& config = held;
    Observed seen{.now = now};
    seen.disk_is_full =
        !parts_.upkeep.seen().has_reserve || blobs::free_bytes_of(config.store) < config.min_free_bytes;
    const std::uint64_t lost = parts_.node.lost_histories();
    seen.new_lost_histories = lost - std::exchange(lost_histories_, lost);
    const bool tells_all = parts_.node.may_write();
    if (tells_all) seen.sites = parts_.sites.list();
    const std::uint64_t alarms = parts_.upstreams.alarms();
    seen.new_alarms = alarms - std::exchange(alarms_, alarms);
    if (!config.server.certificate_file.empty()) {
        if (const auto end = http::certificate_end(config.server.certificate_file))
            seen.certificate_end = *end;
    }
    WHEELYARD_TRY(writer_.run([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(const catalog::Serial last, catalog.last_serial());
        if (!seen_ || !tells_all) seen_ = last;
        if (!tells_all) return {};
        WHEELYARD_ASSIGN(seen.tokens, catalog.tokens());
        WHEELYARD_ASSIGN(const auto events, catalog.events_after(*seen_, max_events_a_look));
        for (const catalog::Event& event : events) {
            seen_ = event.serial;
            const bool may_be = event.kind == catalog::EventKind::file_added ||
                                event.kind == catalog::EventKind::file_quarantined;
            if (!may_be) continue;
            WHEELYARD_ASSIGN(auto row, catalog::parse_file_row(event.details_json));
            if (row.state == catalog::FileState::quarantined) seen.quarantined.push_back(std::move(row));
        }
        return {};
    }));
    return seen;
}

void Notices::look(const base::Clock& clock) {
    const notify::Settings settings = parts_.config.held()->notify_settings();
    if (settings.command.empty()) return;
    const auto seen = observe(clock.now());
    const auto told = seen ? notify::tell(settings, notices_of(*seen), clock)
                           : base::Result<int>(tl::unexpected(seen.error()));
    if (!told) io::log_warn("notify.failed", {{"error", told.error().text()}});
}

}  // namespace wheelyard::registry
