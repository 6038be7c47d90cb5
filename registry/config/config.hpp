// The registry's configuration file. docs/reference/registry-config.md describes every key.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/limits.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/inspect.hpp"
#include "lib/io/json.hpp"
#include "lib/notify/notify.hpp"
#include "lib/page/farm.hpp"
#include "lib/store/blobs/disk_room.hpp"
#include "lib/store/blobs/store.hpp"
#include "lib/store/engine/place.hpp"
#include "lib/store/nodes/limits.hpp"
#include "lib/store/nodes/node_board.hpp"
#include "lib/store/tasks/task_store.hpp"
#include "registry/config/identity_config.hpp"
#include "registry/config/limits.hpp"
#include "registry/config/publisher_config.hpp"
#include "registry/config/upstream_config.hpp"
#include "registry/server/server.hpp"

namespace wheelyard::registry {

// `[stores]`: the stores outside of the data folder, for a registry that one machine is not enough for.
struct StoresConfig {
    std::string database;                          // empty: SQLite in the data folder
    std::filesystem::path database_password_file;  // empty: libpq finds the password
    std::string blobs;                             // "s3://BUCKET/PREFIX"; empty: files in the data folder
    std::string blobs_endpoint;                    // "https://…", for the server
    std::string blobs_public_endpoint;  // the same for clients; empty: they get no URL of the store
    std::string blobs_region;
    bool blobs_path_style = false;                 // the bucket is part of the path, not of the host's name
    std::filesystem::path blobs_credentials_file;  // empty: from the environment
};

// `[pages]`: what a farm says of itself in its web UI, and how that looks.
struct PagesConfig {
    std::string text;     // what this farm is, on the front page
    std::string contact;  // URL or address of electronic mail
    std::string colour;   // of links in light, "#rrggbb"; may be empty
    std::string colour_dark;
    std::filesystem::path logo_file;
    std::string style;  // the style sheet of its colours; may be empty
    std::string logo;   // the bytes of its logo; may be empty
    page::Farm farm;    // the name, and the published names of style and logo
};

// `[node]`: this server among several over one database (lib/store/nodes/). Without the table it is one that
// no other passes writes to.
struct NodeConfig {
    std::string name;  // for people; the machine's unless configured
    std::string
        address;  // "http://node-a.example.org:8080": where other nodes send writes; empty: they cannot
    std::int64_t lease_ms = nodes::default_lease_s * 1000;
    std::int64_t read_without_database_ms = 0;  // since it last answered; 0: until the lease ends
};

[[nodiscard]] std::string name_of_machine();

// `[attest]`: whether and how the registry signs statements about wheels that agents built, and its indexes,
// and whose attestations it believes; `[[index.attested_by]]`: whose wheels an index takes.
//
//     [[index.attested_by]]
//     projects = ["solver"]
//     issuer = "https://token.actions.githubusercontent.com"
//     repository = "https://github.com/octo-org/solver"
//     workflow = ".github/workflows/release.yml"
//
//     [[index.attested_by]]
//     agents = ["agent:bede-gh200"]
struct AttestConfig {
    std::filesystem::path key;  // PEM; empty: nothing is signed
    std::string name;           // URI of this registry in statements; empty: server.public_url
    // IDs of tokens whose agents run as a site's service account: a name can be given to a second token.
    // Names of agents that enrolled (agent:SITE) as well.
    std::vector<std::string> service_accounts;
    std::filesystem::path trusted_root;  // of a Sigstore instance; empty: the public one's
    [[nodiscard]] bool is_service_account(std::string_view token_id) const;
};

// One kind of origin: a publisher's attestation, or an agent.
struct AttestedBy {
    std::vector<std::string> projects = {"*"};  // "*" or normalised names
    // IDs of tokens, and names of agents that enrolled (agent:SITE); "*": any that sends what made the wheel.
    std::vector<std::string> agents = {};
    std::string issuer = {};  // the others of an attestation's certificate; empty: any
    std::string subject = {};
    std::string repository = {};
    std::string workflow = {};
    bool operator==(const AttestedBy&) const = default;
};

// What uploads may keep in an index. A deleted file counts no longer; a quarantined one does.
struct Quota {
    std::uint64_t bytes = no_quota;
    std::uint64_t files = no_quota;
    [[nodiscard]] bool is_set() const { return bytes != no_quota || files != no_quota; }
};

// Wheels that each uploaded source distribution is to become, once somebody approves it.
struct BuildTarget {
    std::string index;  // whose site builds them
    std::vector<std::string> pythons;
    std::vector<std::string> accelerators;  // "": without one
    bool operator==(const BuildTarget&) const = default;
};

struct IndexConfig {
    std::string name;                  // first segment of its URLs: /<name>/simple/
    std::string title;                 // for people; may be empty
    bool is_private = false;           // `read = "token"`: only tokens with the action `read` may read it
    bool are_logs_for_tokens = false;  // `read_logs = "token"`: of builds; likewise
    bool may_strangers_ask = false;    // `ask = "anyone"`: for a wheel, without a token
    bool has_pages = true;             // for people
    bool is_archived = false;          // takes no new files, and is not on the front page; its files stay
    bool sdists = false;               // source distributions are accepted, and offered of upstreams
    std::uint64_t max_file_bytes = static_cast<std::uint64_t>(default_max_file_mib) * base::mib;
    inspect::Policy policy;
    std::vector<std::string> inherits = {};  // indexes whose projects this one also shows, in order
    std::set<std::string> owns = {};         // normalized names of projects that are never inherited
    std::string staging = {};                // the index that receives the wheels of its tasks; empty: itself
    Quota quota = {};                        // of all uploads to the index
    Quota token_quota = {};                  // of the uploads with tokens of one name
    std::vector<BuildTarget> builds = {};    // requested of each sdist that is uploaded here
    std::vector<AttestedBy> attested_by = {};    // where files have to come from; empty: anywhere
    std::vector<UpstreamConfig> upstreams = {};  // asked in order for projects that no index has or owns
    // Its name and those of its upstreams' caches: the catalog has its files under these.
    [[nodiscard]] std::vector<std::string> stored_names() const;
};

struct RegistryConfig {
    http::ServerSettings server;  // [server]; listen[0] is the key `listen`
    std::filesystem::path store;  // absolute, or relative to the working directory if the file's path was
    // Free space below which uploads are refused; `reserve` in the store has the same size
    // (blobs/disk_room.hpp).
    std::uint64_t min_free_bytes = static_cast<std::uint64_t>(default_min_free_mib) * base::mib;
    std::int64_t scrub_mib_per_s = default_scrub_mib_per_s;  // 0: `serve` does not scrub
    bool pages = true;                                       // the published tree has the web UI
    PagesConfig look;                                        // [pages]
    StoresConfig stores = {};                                // [stores]
    NodeConfig node = {};                                    // [node]
    AttestConfig attest = {};                                // [attest]
    tasks::TaskRules tasks;
    std::vector<IdentityConfig> identities = {};   // [[identity]]
    std::vector<PublisherConfig> publishers = {};  // [[publisher]]
    std::string notify_command = {};               // for /bin/sh; empty: nobody is told
    std::vector<IndexConfig> indexes;
    io::Json index_tables;                   // `indexes` as they were written: an array of [[index]] tables
    io::Json settings = io::Json::object();  // every other table as it was written
    nodes::SharedSettings shared;  // of the file, whichever indexes are in force (shared_settings.hpp)
    std::filesystem::path file;    // relative paths of `index_tables` are relative to its folder

    [[nodiscard]] database::Place database() const {
        return {store, stores.database, stores.database_password_file};
    }
    [[nodiscard]] blobs::Place blob_place() const;
    [[nodiscard]] std::filesystem::path published() const { return store / "public"; }
    // The tree of the private indexes; only `serve` reads it.
    [[nodiscard]] std::filesystem::path published_private() const { return store / "private"; }
    [[nodiscard]] std::filesystem::path tree_of(std::string_view index) const;
    [[nodiscard]] notify::Settings notify_settings() const;
    // URI of this registry in what it signs with the key of this ID.
    [[nodiscard]] std::string signer(std::string_view key_id) const;
    [[nodiscard]] bool is_private(std::string_view index) const;  // also of the cache of an upstream
    [[nodiscard]] bool has_private() const;
    // One of several nodes. Their indexes are in the database, where no node's file may undo what another one
    // did.
    [[nodiscard]] bool is_of_several() const { return !stores.database.empty() && !node.address.empty(); }
    // "https://wheels.example.org/": where the indexes are, for PEP 740, which asks for a secure origin.
    // Empty: unknown.
    [[nodiscard]] std::string secure_root_url() const;
    [[nodiscard]] blobs::DiskRoom room() const { return {store, min_free_bytes}; }
    [[nodiscard]] const IndexConfig* find_index(std::string_view name) const;
    [[nodiscard]] std::vector<std::string> index_names() const;
    [[nodiscard]] std::vector<std::string> cache_names() const;  // of all upstreams
};

// Reports all problems of the file together, each with line and column ("config.invalid").
[[nodiscard]] base::Result<RegistryConfig> read_config(const std::filesystem::path& file);
[[nodiscard]] base::Result<RegistryConfig> parse_config(std::string_view text,
                                                        const std::filesystem::path& file);

// Empty if `name` is a valid index name, otherwise a sentence that says what is wrong.
[[nodiscard]] std::string index_name_fault(std::string_view name);

// Parses "127.0.0.1:8080", "[::1]:8080", either after "https://" for TLS, or "unix:PATH", relative to
// `folder`.
[[nodiscard]] base::Result<http::ListenPoint> parse_listen(std::string_view text,
                                                           const std::filesystem::path& folder = {});

// The keys of each table as registry-config.md has them, without their meanings: "index.build", lines.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> document_config_keys();
// The commented configuration file that `init` writes.
[[nodiscard]] std::string config_template();
// The same for `folder`, an absolute path: a configuration under /etc has its store in /var/lib/wheelyard
// (FHS 3.0, 5.8).
[[nodiscard]] std::string initial_config(const std::filesystem::path& folder);

}  // namespace wheelyard::registry
