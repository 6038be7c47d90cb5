// What the server does again and again, and how often.
#include <vector>

#include "lib/io/log.hpp"
#include "registry/access/person.hpp"
#include "registry/serve/phases.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::int64_t login_pause_ms = 500;  // until a provider that is wanted is asked
constexpr std::int64_t ended_logins_pause_ms = 3600LL * 1000;
constexpr std::int64_t reports_pause_ms = 2'000;         // sites report every few minutes
constexpr std::int64_t signed_pause_ms = 3600LL * 1000;  // states of indexes are signed again each day
constexpr std::int64_t unfinished_pause_ms = 6LL * 3600 * 1000;

void drop_unfinished(const blobs::BlobStore& blobs) {
    const auto dropped = blobs.drop_unfinished();
    if (!dropped)
        io::log_warn("blobs.unfinished_stay", {{"error", dropped.error().text()}});
    else if (*dropped > 0)
        io::log_info("blobs.unfinished_dropped", {{"uploads", std::to_string(*dropped)}});
}

// Of several nodes: whether this one does what only one has to do.
std::function<bool()> writes(const ThisNode& node) {
    return [&node] { return node.may_write(); };
}

void drop_ended_logins(Writer& writer, base::UnixMicros now) {
    std::vector<std::string> ids;
    const auto done = writer.run([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(const auto tokens, catalog.tokens());
        ids = log_ins_to_drop(tokens, now);
        return catalog.drop_tokens(ids);
    });
    if (!done)
        io::log_warn("login.ended_stay", {{"error", done.error().text()}});
    else if (!ids.empty())
        io::log_info("login.ended_dropped", {{"logins", std::to_string(ids.size())}});
}

}  // namespace

Chores::Chores(const Claim& claim, KeptParts& kept, PublishQueue& pages, ServingParts& services)
    : ended_logins(0, ended_logins_pause_ms,
                   [&kept](base::Clock& clock) { drop_ended_logins(kept.writer, clock.now()); }),
      upkeep(claim.live, kept.writer, *kept.tasks),
      scrub(claim.config, claim.store, *kept.blobs, pages, writes(*kept.node), {}),
      cache_limit({.config = claim.live,
                   .store = claim.store,
                   .blobs = *kept.blobs,
                   .writer = kept.writer,
                   .pages = pages,
                   .last_used = *services.last_used,
                   .is_mine = writes(*kept.node)}) {
    if (!claim.config.identities.empty() || !claim.config.publishers.empty())
        providers.emplace(0, login_pause_ms, [&services](base::Clock&) { services.logins.fetch_due(); });
    if (kept.blobs->serves_files())
        left_uploads.emplace(unfinished_pause_ms, unfinished_pause_ms,
                             [&kept](base::Clock&) { drop_unfinished(*kept.blobs); });
    if (claim.signing_key)
        signed_again.emplace(signed_pause_ms, signed_pause_ms,
                             [&pages](base::Clock&) { pages.want_pages(); });
    if (services.sites.has_board())
        reports_of_others.emplace(reports_pause_ms, reports_pause_ms,
                                  [&services](base::Clock&) { services.sites.follow(); });
}

}  // namespace wheelyard::registry
