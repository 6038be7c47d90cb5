// The HTTP server, and what other processes and nodes change beside it.
#include <algorithm>
#include <utility>

#include "lib/io/log.hpp"
#include "registry/api/operation.hpp"
#include "registry/serve/descriptors.hpp"
#include "registry/serve/phases.hpp"
#include "registry/serve/service_state.hpp"

namespace wheelyard::registry {
namespace {

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

http::ServerSettings server_settings(const ServiceParts& parts, RemoteFiles& remote_files) {
    const ConfigView held = parts.config.held();
    const RegistryConfig& config = held;
    const DescriptorShares shares = shares_that_fit(config);
    http::ServerSettings settings = config.server;
    settings.published = config.published();
    settings.published_private = config.published_private();
    settings.operations = api_operations();
    settings.indexes = index_entries(config);
    settings.max_connections = shares.connections;
    settings.max_files = shares.files;
    settings.remote_files = &remote_files;
    settings.service_state = [parts] { return look_at_service(parts); };
    if (!parts.node.is_alone()) {
        settings.may_answer = [&node = parts.node] { return node.may_answer(); };
        settings.reading_only = [&node = parts.node] { return node.reading_only(); };
    }
    return settings;
}

}  // namespace

Doors::Doors(http::Server started, const ServiceParts& parts, Writer& writer, ServingParts& services)
    : server(std::move(started)), notices(parts, writer), moves(services.moves) {
    moves->attach(server, services.sites);
}

base::Result<std::unique_ptr<Doors>> Doors::open(const Claim& claim, KeptParts& kept, PublishQueue& pages,
                                                 ServingParts& services, const Chores& chores) {
    const ServiceParts parts{.config = claim.live,
                             .blobs = *kept.blobs,
                             .pages = pages,
                             .writer = kept.writer,
                             .tasks = *kept.tasks,
                             .upkeep = chores.upkeep,
                             .scrub = chores.scrub,
                             .cache_limit = chores.cache_limit,
                             .upstreams = *services.upstreams,
                             .sites = services.sites,
                             .node = *kept.node};
    WHEELYARD_ASSIGN(auto server,
                     http::Server::start(server_settings(parts, services.remote_files), services.uploads,
                                         &services.api, services.resumable.get(), services.upstreams.get(),
                                         &services.readers, kept.node->forward()));
    auto doors = std::unique_ptr<Doors>(new Doors(std::move(server), parts, kept.writer, services));
    WHEELYARD_ASSIGN(doors->others, OtherCommits::follow(claim.store, pages, kept.node->is_alone()));
    services.indexes.open();
    doors->adopting = kept.node->call_before_pages(
        [&services](const catalog::Catalog& reader) { return services.indexes.adopt(reader); });
    kept.node->wait_joined(claim.config.node.lease_ms);
    auto control = ControlServer::open(claim.config.store, services.api, pages);
    if (control)
        doors->control = *std::move(control);
    else
        io::log_warn("control.absent", {{"error", control.error().text()}});
    return doors;
}

}  // namespace wheelyard::registry
