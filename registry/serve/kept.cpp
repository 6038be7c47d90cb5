// Opens what the store keeps, and shows what earlier runs committed.
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "lib/io/log.hpp"
#include "registry/intake/imports/import_source.hpp"
#include "registry/serve/phases.hpp"

namespace wheelyard::registry {
namespace {

template <typename Table>
std::set<std::string, std::less<>> names_of(const std::vector<Table>& tables) {
    std::set<std::string, std::less<>> names;
    for (const Table& table : tables)
        names.insert(table.name);
    return names;
}

// With the rules of the indexes that the server starts with.
base::Result<std::unique_ptr<catalog::Catalog>> open_catalog(const Claim& claim) {
    const RegistryConfig& config = claim.config;
    WHEELYARD_ASSIGN(auto catalog, claim.store.writer());
    // The list of several nodes is as it was, until `apply`.
    const bool is_of_commands = config.is_of_several() && claim.list && claim.list->is_of_commands;
    if (config.has_private()) WHEELYARD_TRY(close_store_to_others(config, claim.store));
    WHEELYARD_TRY(record_indexes(*catalog, config, changes_since(claim.list, config),
                                 {.actor = "configuration", .reason = {}, .time = claim.program.clock.now()},
                                 is_of_commands));
    return catalog;
}

// An index that became private must have left the tree for everyone before anything is served.
base::Status check_withdrawn(const RegistryConfig& config) {
    for (const IndexConfig& index : config.indexes) {
        if (!index.is_private) continue;
        for (const std::string& name : index.stored_names()) {
            std::error_code ignored;
            const auto folder = config.published() / name;
            if (std::filesystem::exists(folder, ignored))
                return base::fail("serve.still_public", "A private index is still in the tree for everyone",
                                  folder.string(),
                                  "the log says why it could not be removed; remove it, or its cause");
        }
    }
    return {};
}

}  // namespace

base::Result<std::unique_ptr<KeptParts>> KeptParts::open(const Claim& claim) {
    const RegistryConfig& config = claim.config;
    const database::Store& store = claim.store;
    const base::Clock& clock = claim.program.clock;
    // A full disk must not keep the server from starting: it serves what is there, and an administrator can
    // work.
    claim.room.give_back_if_low();
    if (const auto room = claim.room.check(0); !room)
        io::log_warn("serve.disk_full", {{"error", room.error().text()}});
    WHEELYARD_ASSIGN(auto blobs, blobs::open_blob_store(config.blob_place()));
    remove_left_import_folders(config.store);
    // Their schema's steps may fail where an older program runs or the disk is full. No list of indexes is
    // written then.
    WHEELYARD_ASSIGN(auto tasks, store.tasks(config.tasks, clock));
    WHEELYARD_ASSIGN(auto builds, store.builds({.kept_days = config.tasks.kept_days}, clock));
    WHEELYARD_ASSIGN(auto catalog, open_catalog(claim));
    WHEELYARD_ASSIGN(auto tokens_reader, store.reader());
    auto tokens = std::make_unique<TokenVerifier>(std::move(tokens_reader), clock);
    tokens->recognise_people(names_of(config.identities));
    tokens->recognise_publishers(names_of(config.publishers));
    const std::string key = claim.signing_key ? claim.signing_key->public_key().id() : "none";
    WHEELYARD_ASSIGN(auto node, ThisNode::open(store, claim.live, *blobs, key));
    WHEELYARD_TRY(node->check_neighbours());
    WHEELYARD_ASSIGN(const catalog::Serial committed, catalog->last_serial());
    return std::unique_ptr<KeptParts>(new KeptParts{std::move(blobs), std::move(tasks), std::move(builds),
                                                    std::move(tokens), std::move(node), committed,
                                                    Writer(std::move(catalog), clock)});
}

// After a failure, such as a full disk, the server starts anyway: published files stay readable, and the
// queue tries again.
base::Result<std::unique_ptr<Shown>> Shown::show(const Claim& claim, KeptParts& kept) {
    WHEELYARD_ASSIGN(PublishFunction publish,
                     claim.program.open_publisher(claim.live, claim.store, *kept.blobs));
    auto shown = std::unique_ptr<Shown>(new Shown{PublishQueue(kept.node->guard(std::move(publish)))});
    const auto visible = shown->pages.wait_until_visible(kept.committed, claim.config.server.page_wait_ms);
    if (!visible) io::log_warn("serve.pages_lag", {{"error", visible.error().text()}});
    WHEELYARD_TRY(check_withdrawn(claim.config));
    shown->member.emplace(*kept.node, shown->pages);
    return shown;
}

}  // namespace wheelyard::registry
