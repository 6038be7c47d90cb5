// The parts of a running server, in six phases. Each is made from those before it, so no part can exist
// before what it uses; the members of a phase are in the order of their dependencies. All stop in reverse
// order.
//
//     Claim ─► KeptParts ─► Shown ─► ServingParts ─► Chores ─► Doors
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "lib/attest/keys.hpp"
#include "lib/attest/sigstore/trusted_root.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/files/fd.hpp"
#include "lib/base/result.hpp"
#include "lib/store/commit/publishing.hpp"
#include "lib/store/commit/writer.hpp"
#include "lib/store/store.hpp"
#include "registry/access/tokens.hpp"
#include "registry/api/api.hpp"
#include "registry/api/logins.hpp"
#include "registry/api/readers.hpp"
#include "registry/api/site_reports.hpp"
#include "registry/config/live_config.hpp"
#include "registry/indexes/index_apply.hpp"
#include "registry/indexes/index_moves.hpp"
#include "registry/intake/resumable.hpp"
#include "registry/intake/uploads.hpp"
#include "registry/serve/control_server.hpp"
#include "registry/serve/notices.hpp"
#include "registry/serve/other_commits.hpp"
#include "registry/serve/remote_files.hpp"
#include "registry/serve/systemd.hpp"
#include "registry/serve/this_node.hpp"
#include "registry/serve/upkeep/background_task.hpp"
#include "registry/serve/upkeep/cache_limit.hpp"
#include "registry/serve/upkeep/scrub.hpp"
#include "registry/serve/upkeep/upkeep.hpp"
#include "registry/server/server.hpp"
#include "registry/store/index_list.hpp"
#include "registry/store/opened_store.hpp"
#include "registry/upstream/last_used.hpp"
#include "registry/upstream/upstreams.hpp"

namespace wheelyard::registry {

// What the indexer does for the server, which does not know it; the clock outlives all phases.
struct Program {
    const OpenPublisher& open_publisher;
    const RenderProject& render;
    const ShowStatus& show_status;
    const base::Clock& clock;
};

// What the file names and no start can use: certificate, keys, addresses, folders. An error is
// io::is_of_configuration() unless waiting may repair it.
[[nodiscard]] base::Status check_start(const RegistryConfig& file,
                                       const std::optional<ServiceUnit>& unit = std::nullopt);
// The same, and whether other files, stores and databases can be used; changes nothing. Prints what it found.
[[nodiscard]] base::Status check_configuration(const RegistryConfig& file,
                                               const std::optional<ServiceUnit>& unit);

// The store, which no other process serves, and the configuration of the start.
struct Claim {
    [[nodiscard]] static base::Result<std::unique_ptr<Claim>> take(const RegistryConfig& file,
                                                                   const Program& program);

    const Program& program;
    const std::optional<attest::SigningKey> signing_key;
    const sigstore::TrustedRoot trusted_root;
    const database::Store store;
    const base::Fd lock;
    const std::optional<IndexList> list;  // in force before this start
    LiveConfig live;
    const SharedConfig at_start = live.now();
    const RegistryConfig& config = *at_start;
    const blobs::DiskRoom room = config.room();
};

// Bytes, rows, tokens and this node: what the store keeps, opened.
struct KeptParts {
    [[nodiscard]] static base::Result<std::unique_ptr<KeptParts>> open(const Claim& claim);

    const std::unique_ptr<blobs::BlobStore> blobs;
    const std::unique_ptr<tasks::TaskStore> tasks;
    const std::unique_ptr<tasks::BuildStore> builds;
    const std::unique_ptr<TokenVerifier> tokens;
    const std::unique_ptr<ThisNode> node;
    const catalog::Serial committed;  // before this start
    Writer writer;
};

// Pages show what earlier runs committed, and this node is one of the nodes.
struct Shown {
    [[nodiscard]] static base::Result<std::unique_ptr<Shown>> show(const Claim& claim, KeptParts& kept);

    PublishQueue pages;
    std::optional<ThisNode::Member> member = {};
};

// What answers requests.
struct ServingParts {
    [[nodiscard]] static base::Result<std::unique_ptr<ServingParts>> open(Claim& claim, KeptParts& kept,
                                                                          PublishQueue& pages);

    const std::unique_ptr<LastUsed> last_used;
    const std::unique_ptr<Upstreams> upstreams;
    Uploads uploads;
    SiteReports sites;
    const std::shared_ptr<IndexMoves> moves;
    IndexApply indexes;
    Logins logins;
    Api api;
    Readers readers;
    RemoteFiles remote_files;
    std::unique_ptr<Resumable> resumable = {};

  private:
    ServingParts(Claim& claim, KeptParts& kept, PublishQueue& pages, std::unique_ptr<LastUsed> used,
                 std::unique_ptr<Upstreams> opened, std::unique_ptr<nodes::ReportBoard> board);
};

// What works beside requests, each part in a thread of its own.
struct Chores {
    Chores(const Claim& claim, KeptParts& kept, PublishQueue& pages, ServingParts& services);

    const BackgroundTask ended_logins;
    std::optional<BackgroundTask> providers = {};
    const Upkeep upkeep;
    const Scrub scrub;
    const CacheLimit cache_limit;
    std::optional<BackgroundTask> left_uploads = {};
    std::optional<BackgroundTask> signed_again = {};
    std::optional<BackgroundTask> reports_of_others = {};
};

// Where requests, and changes that other processes and nodes make, come in.
struct Doors {
    [[nodiscard]] static base::Result<std::unique_ptr<Doors>> open(const Claim& claim, KeptParts& kept,
                                                                   PublishQueue& pages,
                                                                   ServingParts& services,
                                                                   const Chores& chores);
    ~Doors() { moves->detach(); }  // a publish run may use it after the server
    Doors(const Doors&) = delete;
    Doors& operator=(const Doors&) = delete;

    http::Server server;
    const Notices notices;
    const std::shared_ptr<IndexMoves> moves;
    std::unique_ptr<OtherCommits> others = {};
    std::shared_ptr<void> adopting = {};          // what other nodes change of the indexes
    std::unique_ptr<ControlServer> control = {};  // absent where the store's file system has no sockets

  private:
    Doors(http::Server started, const ServiceParts& parts, Writer& writer, ServingParts& services);
};

}  // namespace wheelyard::registry
