// Creates the parts, starts them in the order of their dependencies, and stops them in reverse order.
#include "registry/serve/serve.hpp"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "lib/attest/keys.hpp"
#include "lib/attest/sigstore/limits.hpp"
#include "lib/attest/sigstore/trusted_root.hpp"
#include "lib/base/files/file.hpp"
#include "lib/io/log.hpp"
#include "registry/access/local_actor.hpp"
#include "registry/access/person.hpp"
#include "registry/access/tokens.hpp"
#include "registry/api/api.hpp"
#include "registry/api/logins.hpp"
#include "registry/api/readers.hpp"
#include "registry/api/task_api.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/commit/writer.hpp"
#include "registry/config/index_changes.hpp"
#include "registry/config/index_rules.hpp"
#include "registry/database/store.hpp"
#include "registry/identity/transport.hpp"
#include "registry/imports/import_folder.hpp"
#include "registry/indexes/index_apply.hpp"
#include "registry/indexes/index_moves.hpp"
#include "registry/indexes/index_request.hpp"
#include "registry/intake/resumable.hpp"
#include "registry/intake/uploads.hpp"
#include "registry/serve/descriptors.hpp"
#include "registry/serve/notices.hpp"
#include "registry/serve/other_commits.hpp"
#include "registry/serve/remote_files.hpp"
#include "registry/serve/service_state.hpp"
#include "registry/serve/this_node.hpp"
#include "registry/server/server.hpp"
#include "registry/store/index_list.hpp"
#include "registry/store/lock.hpp"
#include "registry/store/owner.hpp"
#include "registry/upkeep/background_task.hpp"

namespace wheelyard::registry {
namespace {

// Blocks SIGTERM, SIGINT and SIGHUP in every thread, and so before any thread starts, and waits for them in one
// place.
class StopSignals {
  public:
    StopSignals() {
        ::sigemptyset(&signals_);
        ::sigaddset(&signals_, SIGTERM);
        ::sigaddset(&signals_, SIGINT);
        ::sigaddset(&signals_, SIGHUP);
        ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
        std::signal(SIGPIPE, SIG_IGN);  // a disconnected client is an error of its connection only
    }
    siginfo_t wait() {
        siginfo_t received{};
        while (::sigwaitinfo(&signals_, &received) < 0) {
        }
        return received;
    }
    // From here on a second signal ends the process at once, which is as safe as a crash.
    void release() { ::pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr); }

  private:
    sigset_t signals_{};
};

DescriptorShares shares_that_fit(const RegistryConfig& config) {
    const std::uint64_t descriptors = raise_descriptor_limit();
    const bool has_upstream = std::any_of(config.indexes.begin(), config.indexes.end(),
                                          [](const IndexConfig& index) { return !index.upstreams.empty(); });
    const DescriptorShares shares =
        share_descriptors(descriptors, {.max_connections = config.server.max_connections,
                                        .max_uploads = config.server.max_uploads,
                                        .io_threads = config.server.io_threads,
                                        .max_transfers = has_upstream ? 2 * file_threads + page_threads : 0});
    if (shares.connections < config.server.max_connections)
        io::log_warn("serve.few_descriptors", {{"descriptors", std::to_string(descriptors)},
                                               {"max_connections", std::to_string(shares.connections)},
                                               {"max_files", std::to_string(shares.files)},
                                               {"configured", std::to_string(config.server.max_connections)},
                                               {"advice", "raise the hard limit: ulimit -Hn, LimitNOFILE="}});
    return shares;
}

http::ServerSettings server_settings(const ServiceParts& parts) {
    const RegistryConfig& config = *parts.config;
    const DescriptorShares shares = shares_that_fit(config);
    http::ServerSettings settings = config.server;
    settings.published = config.published();
    settings.published_private = config.published_private();
    settings.indexes = index_entries(config);
    settings.max_connections = shares.connections;
    settings.max_files = shares.files;
    settings.service_state = [parts] { return look_at_service(parts); };
    if (!parts.node.is_alone()) settings.may_answer = [&node = parts.node] { return node.may_answer(); };
    return settings;
}

std::string url_of(const http::ListenPoint& point, std::uint16_t port) {
    if (!point.unix_socket.empty()) return "unix:" + point.unix_socket.string();
    const bool ipv6 = point.address.find(':') != std::string::npos;
    std::string url = point.tls ? "https://" : "http://";
    url += ipv6 ? "[" + point.address + "]" : point.address;
    return url + ":" + std::to_string(port);
}

// Waits for the signal that stops the server; SIGHUP reloads the certificate and applies a changed configuration.
int serve_until_stopped(StopSignals& stop, http::Server& server, IndexApply& indexes) {
    for (;;) {
        const siginfo_t received = stop.wait();
        if (received.si_signo != SIGHUP) return received.si_signo;
        if (const auto reloaded = server.reload_certificate(); !reloaded)
            io::log_error("serve.reload_failed", {{"error", reloaded.error().text()}});
        else
            io::log_info("serve.reloaded");
        indexes.on_signal(received.si_code == SI_USER ? local_actor(received.si_uid) : "configuration");
    }
}

// Threads that hash the members of one upload; several uploads at once are rare.
unsigned inspect_threads() {
    return std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
}

// An index that became private must have left the tree for everyone before anything is served.
base::Status check_withdrawn(const RegistryConfig& config) {
    std::vector<std::string> names;
    for (const IndexConfig& index : config.indexes) {
        if (!index.is_private) continue;
        names.push_back(index.name);
        for (const UpstreamConfig& upstream : index.upstreams)
            names.push_back(upstream.cache_index);
    }
    for (const std::string& name : names) {
        std::error_code ignored;
        const auto folder = config.published() / name;
        if (std::filesystem::exists(folder, ignored))
            return base::fail("serve.still_public", "A private index is still in the tree for everyone",
                              folder.string(),
                              "the log says why it could not be removed; remove it, or its cause");
    }
    return {};
}

void warn_of_other_indexes(const RegistryConfig& file, const RegistryConfig& in_force) {
    for (const auto& [index, difference] : reasons_of(list_index_changes(in_force, file)))
        io::log_warn("indexes.decided_by_commands",
                     {{"index", index},
                      {"not_applied", difference},
                      {"advice", "wheelyard-registry apply makes the file decide"}});
}

base::Result<std::optional<attest::SigningKey>> read_signing_key(const RegistryConfig& config) {
    if (config.attest.key.empty()) return std::nullopt;
    return attest::SigningKey::read(config.attest.key);
}

base::Result<sigstore::TrustedRoot> read_trusted_root(const RegistryConfig& config) {
    if (config.attest.trusted_root.empty()) return sigstore::public_root();
    WHEELYARD_ASSIGN(const std::string text,
                     base::read_file(config.attest.trusted_root, sigstore::max_root_bytes));
    return sigstore::read_trusted_root(text);
}

template <typename Table>
std::set<std::string, std::less<>> names_of(const std::vector<Table>& tables) {
    std::set<std::string, std::less<>> names;
    for (const Table& table : tables)
        names.insert(table.name);
    return names;
}

// What serving would fail on, without touching the store.
base::Status check_configuration(const RegistryConfig& config) {
    const bool has_tls = std::any_of(config.server.listen.begin(), config.server.listen.end(),
                                     [](const http::ListenPoint& point) { return point.tls; });
    if (has_tls) WHEELYARD_TRY(http::check_certificate(config.server));
    WHEELYARD_TRY(read_signing_key(config));
    WHEELYARD_TRY(read_trusted_root(config));
    for (const IdentityConfig& identity : config.identities) {
        if (!identity.client_secret_file.empty())
            WHEELYARD_TRY(read_client_secret(identity.client_secret_file));
    }
    WHEELYARD_ASSIGN(const auto blobs, blobs::read_blob_store(config.blob_place()));
    // Whether the store answers, knows the credentials and has the bucket.
    if (blobs->serves_files()) WHEELYARD_TRY(blobs->list("00"));
    const database::Store store(config.database());
    auto found = store.find_catalog();
    const bool has_store = found.has_value();
    const bool is_missing =
        !found && (found.error().kind == base::ErrorKind::missing || found.error().os_error == ENOENT);
    if (!has_store && !is_missing) return tl::unexpected(found.error());
    if (has_store) WHEELYARD_TRY(store.reader());
    std::printf("the configuration is good: %zu %s, store %s%s\n", config.indexes.size(),
                config.indexes.size() == 1 ? "index" : "indexes", config.store.c_str(),
                has_store ? "" : " (`serve` creates it)");
    return {};
}

// The store of this server alone, and the indexes that it starts with.
struct Start {
    base::Fd lock;
    std::optional<IndexList> list;  // in force before this start
    RegistryConfig config;
};

DecidedBy decided_by(const std::optional<IndexList>& list) {
    return list ? list->decided_by : DecidedBy::file;
}

base::Result<Start> claim_store(const RegistryConfig& file, const database::Store& store) {
    create_as_owner_of(file.store);
    WHEELYARD_TRY(base::make_directories(file.store));
    WHEELYARD_ASSIGN(base::Fd lock, lock_store(file.store, StoreUser::server));
    WHEELYARD_ASSIGN(auto list, read_index_list(store));
    WHEELYARD_ASSIGN(RegistryConfig config, config_at_start(file, list));
    warn_of_other_indexes(file, config);
    return Start{std::move(lock), std::move(list), std::move(config)};
}

// The catalog with the rules of the indexes that the server starts with; `list` was in force before.
base::Result<std::unique_ptr<catalog::Catalog>> open_catalog(const database::Store& store,
                                                             const RegistryConfig& config,
                                                             const std::optional<IndexList>& list,
                                                             const base::Clock& clock) {
    WHEELYARD_ASSIGN(auto catalog, store.writer());
    if (config.has_private()) WHEELYARD_TRY(close_store_to_others(config, store));
    WHEELYARD_TRY(catalog->set_index_rules(
        index_rules(config), {.actor = "configuration", .reason = {}, .time = clock.now()},
        reasons_since(list, config), render_index_list({decided_by(list), config.index_tables})));
    return catalog;
}

// Publishes commits from before a crash, and the pages of new indexes. After a failure, such as a full disk, the server
// starts anyway: published files stay readable, and the queue tries again.
base::Status show_commits(PublishQueue& pages, catalog::Serial committed, const RegistryConfig& config) {
    if (const auto visible = pages.wait_until_visible(committed, config.server.page_wait_ms); !visible)
        io::log_warn("serve.pages_lag", {{"error", visible.error().text()}});
    return check_withdrawn(config);
}

// Requests are answered from here on.
base::Status announce(const http::Server& server, const RegistryConfig& config,
                      const std::filesystem::path& ready_file) {
    for (std::size_t i = 0; i < config.server.listen.size(); ++i)
        std::printf("listening on %s\n", url_of(config.server.listen[i], server.port(i)).c_str());
    std::fflush(stdout);
    const std::string url = url_of(config.server.listen.front(), server.port());
    if (!ready_file.empty()) WHEELYARD_TRY(base::replace_file(ready_file, url + "\n"));
    io::log_info("serve.ready", {{"url", url}, {"store", config.store.string()}});
    return {};
}

constexpr std::int64_t login_pause_ms = 500;  // until a provider that is wanted is asked
constexpr std::int64_t ended_logins_pause_ms = 3600LL * 1000;
constexpr std::int64_t reports_pause_ms = 2'000;         // sites report every few minutes
constexpr std::int64_t signed_pause_ms = 3600LL * 1000;  // states of indexes are signed again each day
constexpr std::int64_t unfinished_pause_ms = 6LL * 3600 * 1000;

BackgroundTask::Work drop_unfinished(const blobs::BlobStore& blobs) {
    return [&blobs](base::Clock&) {
        const auto dropped = blobs.drop_unfinished();
        if (!dropped)
            io::log_warn("blobs.unfinished_stay", {{"error", dropped.error().text()}});
        else if (*dropped > 0)
            io::log_info("blobs.unfinished_dropped", {{"uploads", std::to_string(*dropped)}});
    };
}

void drain(int signal, http::Server& server, Upstreams& upstreams, LastUsed& last_used,
           const base::Clock& clock) {
    io::log_info("serve.draining", {{"signal", signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
    upstreams.stop();  // a request that waits for a large file would outlast the drain
    server.drain();
    if (const auto saved = last_used.save(clock.now()); !saved)
        io::log_warn("upstream.last_used_not_saved", {{"error", saved.error().text()}});
    io::log_info("serve.stopped");
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

Logins::Network network_of_provider(const identity::ProviderRules& rules) {
    return {identity::fetch_over_network(rules.allow_private),
            identity::post_over_network(rules.allow_private)};
}

// A build that is not noted is noted with the next report, unless it has ended meanwhile.
void note_builds(tasks::BuildStore& builds, const status::SiteReport& report) {
    if (const auto noted = builds.note(report); !noted)
        io::log_warn("builds.not_noted", {{"site", report.site}, {"error", noted.error().text()}});
}

}  // namespace

base::Status run_serve(const ServeArguments& arguments, const OpenPublisher& open_publisher,
                       const RenderProject& render, const ShowStatus& show_status, const base::Clock& clock) {
    StopSignals stop;
    WHEELYARD_ASSIGN(const RegistryConfig file, read_config(arguments.config));
    if (arguments.check) return check_configuration(file);
    WHEELYARD_ASSIGN(const std::optional<attest::SigningKey> signing_key, read_signing_key(file));
    WHEELYARD_ASSIGN(const sigstore::TrustedRoot trusted_root, read_trusted_root(file));
    const database::Store store(file.database());
    WHEELYARD_ASSIGN(Start start, claim_store(file, store));
    // A ready file of an earlier run would be wrong while this run starts.
    if (!arguments.ready_file.empty()) WHEELYARD_TRY(base::remove_file(arguments.ready_file));
    LiveConfig live(std::move(start.config));
    const RegistryConfig& config = live.now();  // of the start
    // A full disk must not keep the server from starting: it serves what is there, and an administrator can work.
    config.room().give_back_if_low();
    WHEELYARD_ASSIGN(const auto blobs, blobs::open_blob_store(config.blob_place()));
    remove_left_import_folders(config.store);
    WHEELYARD_ASSIGN(auto catalog, open_catalog(store, config, start.list, clock));
    WHEELYARD_ASSIGN(const auto tasks, store.tasks(config.tasks, clock));
    WHEELYARD_ASSIGN(const auto builds, store.builds({.kept_days = config.tasks.kept_days}, clock));
    WHEELYARD_ASSIGN(const auto tokens, TokenVerifier::open(store, clock));
    tokens->recognise_grants(*tasks);
    tokens->recognise_people(names_of(config.identities));
    tokens->recognise_publishers(names_of(config.publishers));
    WHEELYARD_ASSIGN(const auto node, ThisNode::open(store, config));
    WHEELYARD_TRY(node->check_neighbours());
    WHEELYARD_ASSIGN(const PublishFunction publish, open_publisher(live, store, *blobs));
    WHEELYARD_ASSIGN(const catalog::Serial committed, catalog->last_serial());
    Writer writer(std::move(catalog), clock);
    PublishQueue pages(node->guard(publish));
    WHEELYARD_TRY(show_commits(pages, committed, config));
    const ThisNode::Member member(*node, pages);
    const blobs::DiskRoom room = config.room();
    Uploads uploads({.config = live,
                     .blobs = *blobs,
                     .room = room,
                     .tokens = *tokens,
                     .writer = writer,
                     .pages = pages,
                     .clock = clock,
                     .inspect_threads = inspect_threads(),
                     .tasks = tasks.get(),
                     .signing_key = signing_key ? &*signing_key : nullptr,
                     .trusted_root = &trusted_root});
    const ShowStatus show_status_and_pages = [&](const auto& tree, const auto& index, const auto& document) {
        auto changed = show_status(tree, index, document);
        if (changed && *changed) pages.want_pages();
        return changed;
    };
    WHEELYARD_ASSIGN(auto report_board, store.report_board());
    SiteReports sites(
        live, show_status_and_pages, clock,
        [&](const std::string& index) { return open_requests(*tasks, index); },
        [&](const status::SiteReport& report) { note_builds(*builds, report); }, std::move(report_board));
    LastUsed last_used(config.store / "upstream" / "last-used.json");
    WHEELYARD_ASSIGN(const auto upstreams, Upstreams::open({.config = live,
                                                            .store = store,
                                                            .blobs = *blobs,
                                                            .writer = writer,
                                                            .pages = pages,
                                                            .clock = clock,
                                                            .render = render,
                                                            .last_used = last_used,
                                                            .inspect_threads = inspect_threads(),
                                                            .trusted_root = &trusted_root}));
    const auto moves = std::make_shared<IndexMoves>(live);
    IndexApply indexes({.config = live,
                        .store = store,
                        .writer = writer,
                        .pages = pages,
                        .upstreams = *upstreams,
                        .moves = moves,
                        .clock = clock,
                        .decided_by = decided_by(start.list)});
    WHEELYARD_TRY(remove_requests(config.store));
    Logins logins(config, clock, network_of_provider);
    const BackgroundTask ended_logins(0, ended_logins_pause_ms,
                                      [&writer](base::Clock& now) { drop_ended_logins(writer, now.now()); });
    std::optional<BackgroundTask> providers;
    if (!config.identities.empty() || !config.publishers.empty())
        providers.emplace(0, login_pause_ms, [&logins](base::Clock&) { logins.fetch_due(); });
    Api api({.config = live,
             .store = store,
             .blobs = *blobs,
             .tokens = *tokens,
             .writer = writer,
             .pages = pages,
             .clock = clock,
             .tasks = tasks.get(),
             .builds = builds.get(),
             .sites = &sites,
             .indexes = &indexes,
             .logins = &logins});
    WHEELYARD_ASSIGN(const auto resumable,
                     Resumable::open(config.store / "resumable", room, uploads, *tokens, clock));
    const Upkeep upkeep(live, writer, *tasks);
    const auto is_mine = [&writer_node = *node] { return writer_node.may_write(); };
    const Scrub scrub(config, store, *blobs, pages, is_mine, {});
    const CacheLimit cache_limit({.config = live,
                                  .store = store,
                                  .blobs = *blobs,
                                  .writer = writer,
                                  .pages = pages,
                                  .last_used = last_used,
                                  .is_mine = is_mine});
    std::optional<BackgroundTask> left_uploads;
    if (blobs->serves_files())
        left_uploads.emplace(unfinished_pause_ms, unfinished_pause_ms, drop_unfinished(*blobs));
    Readers readers(live, *tokens);
    RemoteFiles remote_files(*blobs, config.store, config.room());
    const ServiceParts parts{live,  pages,       writer,     *tasks, upkeep,
                             scrub, cache_limit, *upstreams, sites,  *node};
    http::ServerSettings settings = server_settings(parts);
    settings.remote_files = &remote_files;
    WHEELYARD_ASSIGN(http::Server server, http::Server::start(settings, uploads, &api, resumable.get(),
                                                              upstreams.get(), &readers, node->forward()));
    const Notices notices(parts, writer);
    std::optional<BackgroundTask> signed_again;
    if (signing_key)
        signed_again.emplace(signed_pause_ms, signed_pause_ms,
                             [&pages](base::Clock&) { pages.want_pages(); });
    std::optional<BackgroundTask> reports_of_others;
    if (sites.has_board())
        reports_of_others.emplace(reports_pause_ms, reports_pause_ms,
                                  [&sites](base::Clock&) { sites.follow(); });
    WHEELYARD_ASSIGN(const auto others, OtherCommits::follow(store, pages, node->is_alone()));
    moves->attach(server, sites);
    indexes.open();
    const auto adopting =
        node->call_before_pages([&indexes](const catalog::Catalog& reader) { return indexes.adopt(reader); });
    node->wait_joined(config.node.lease_ms);
    WHEELYARD_TRY(announce(server, config, arguments.ready_file));
    const int signal = serve_until_stopped(stop, server, indexes);
    stop.release();
    drain(signal, server, *upstreams, last_used, clock);
    moves->detach();
    return {};
}

}  // namespace wheelyard::registry
