// What a start reads before it opens the store, and the store's lock.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>
#include <vector>

#include "lib/attest/sigstore/limits.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/user.hpp"
#include "lib/io/log.hpp"
#include "registry/config/index_changes.hpp"
#include "registry/serve/phases.hpp"
#include "registry/store/lock.hpp"
#include "registry/store/owner.hpp"

namespace wheelyard::registry {
namespace {

void warn_of_other_indexes(const RegistryConfig& file, const RegistryConfig& in_force) {
    for (const auto& [index, difference] : reasons_of(list_index_changes(in_force, file)))
        io::log_warn(file.is_of_several() ? "indexes.decided_by_nodes" : "indexes.decided_by_commands",
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

}  // namespace

base::Status check_configuration(const RegistryConfig& file) {
    const bool has_tls = std::any_of(file.server.listen.begin(), file.server.listen.end(),
                                     [](const http::ListenPoint& point) { return point.tls; });
    if (has_tls) WHEELYARD_TRY(http::check_certificate(file.server));
    WHEELYARD_TRY(read_signing_key(file));
    WHEELYARD_TRY(read_trusted_root(file));
    for (const IdentityConfig& identity : file.identities) {
        if (!identity.client_secret_file.empty())
            WHEELYARD_TRY(read_client_secret(identity.client_secret_file));
    }
    for (const IndexConfig& index : file.indexes) {
        for (const UpstreamConfig& upstream : index.upstreams) {
            if (!upstream.password_file.empty()) WHEELYARD_TRY(base::open_read(upstream.password_file));
        }
    }
    WHEELYARD_ASSIGN(const auto blobs, blobs::read_blob_store(file.blob_place()));
    // Whether the store answers, knows the credentials and has the bucket.
    if (blobs->serves_files()) WHEELYARD_TRY(blobs->list("00"));
    const database::Store store(file.database());
    auto found = store.find_catalog();
    const bool has_store = found.has_value();
    const bool is_missing =
        !found && (found.error().kind == base::ErrorKind::missing || found.error().os_error == ENOENT);
    if (!has_store && !is_missing) return tl::unexpected(found.error());
    if (has_store) WHEELYARD_TRY(store.reader());
    std::vector<std::filesystem::path> written = store.files();
    written.push_back(file.store);
    for (const char* folder : {"blobs", "private", "public", "upstream"})
        written.push_back(file.store / folder);
    for (const std::filesystem::path& each : written) {
        if (::faccessat(AT_FDCWD, each.c_str(), R_OK | W_OK, AT_EACCESS) != 0 && errno != ENOENT)
            return base::fail_errno("write", each.string(), errno);
    }
    std::printf("the configuration is good: %zu %s, store %s%s\n", file.indexes.size(),
                file.indexes.size() == 1 ? "index" : "indexes", file.store.c_str(),
                has_store ? "" : " (`serve` creates it)");
    std::fputs(note_of_root(file.store).c_str(), stdout);
    return {};
}

base::Result<std::unique_ptr<Claim>> Claim::take(const RegistryConfig& file, const Program& program) {
    WHEELYARD_ASSIGN(auto signing_key, read_signing_key(file));
    WHEELYARD_ASSIGN(auto trusted_root, read_trusted_root(file));
    database::Store store(file.database());
    base::become_owner_of(file.store);
    WHEELYARD_TRY(base::make_directories(file.store));
    WHEELYARD_ASSIGN(base::Fd lock, lock_store(file.store));
    WHEELYARD_ASSIGN(auto list, read_index_list(store));
    WHEELYARD_ASSIGN(RegistryConfig config, config_at_start(file, list));
    warn_of_other_indexes(file, config);
    return std::unique_ptr<Claim>(new Claim{program, std::move(signing_key), std::move(trusted_root),
                                            std::move(store), std::move(lock), std::move(list),
                                            LiveConfig(std::move(config))});
}

}  // namespace wheelyard::registry
