// What a start reads before it opens the store, and the store's lock.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "lib/attest/sigstore/limits.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/process/user.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/io/log.hpp"
#include "lib/io/toml.hpp"
#include "lib/store/lifecycle/store_identity.hpp"
#include "registry/config/index_changes.hpp"
#include "registry/serve/phases.hpp"
#include "registry/store/lock.hpp"

namespace wheelyard::registry {
namespace {

// Several nodes have their list of indexes in the database.
void warn_of_other_indexes(const RegistryConfig& file, const RegistryConfig& in_force) {
    for (const auto& [index, difference] : reasons_of(list_index_changes(in_force, file)))
        io::log_warn("indexes.decided_by_nodes",
                     {{"index", index},
                      {"not_applied", difference},
                      {"advice", "wheelyard-registry apply applies the file to all nodes"}});
}

// The file would undo what commands of an earlier version did, and open what they closed. What it lacks is
// printed.
base::Status check_says_all(const RegistryConfig& file, const std::optional<IndexList>& list) {
    WHEELYARD_ASSIGN(const std::string tables, tables_to_paste(file, list));
    if (tables.empty()) return {};
    base::print(stdout, tables);
    return io::fail_configuration(
        {"index.not_in_file",
         "Commands of an earlier version made or changed indexes, and the file does not say so",
         file.file.string(),
         "put the [[index]] tables that are printed here into it, in place of those of the same names; or "
         "`wheelyard-registry apply`, for what the file says now"});
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

// The folder is there, or the server's user can make it.
base::Status check_store_folder(const std::filesystem::path& store, const std::optional<ServiceUnit>& unit) {
    if (unit && !is_below(store, unit->writable))
        return base::fail(
            "store.unit", "The unit lets the server write nothing here", store.string(),
            "`systemctl edit wheelyard-registry`, and below [Service] ReadWritePaths=" + store.string());
    std::filesystem::path there = std::filesystem::absolute(store);
    std::error_code fault;
    while (!std::filesystem::exists(there, fault) && (!fault || fault == std::errc::permission_denied) &&
           there != there.parent_path())
        there = there.parent_path();
    const bool is_there = there == std::filesystem::absolute(store);
    if (!is_there && unit && is_below(store, unit->made)) return {};
    int why = fault.value();
    if (why != 0 || !std::filesystem::is_directory(there, fault))
        why = fault ? fault.value() : ENOTDIR;
    else if (unit && unit->user != base::user_name(::geteuid()))  // this process is the owner of `there`
        why = EACCES;
    else if (::faccessat(AT_FDCWD, there.c_str(), R_OK | W_OK | X_OK, AT_EACCESS) != 0)
        why = errno;
    if (why == 0) return {};
    if (why != EACCES) return base::fail_errno("using the store's folder", there.string(), why);
    const std::string user = unit ? unit->user : base::user_name(::geteuid());
    const std::string quoted = base::quote_shell(store.string());
    return base::fail("store.folder",
                      "The user " + user +
                          (is_there ? " cannot write to the store: " : " cannot make the store: ") +
                          std::strerror(why),
                      store.string(),
                      is_there ? "as root: chown -R " + user + " " + quoted
                               : "as root: install -d -o " + user + " -m 711 " + quoted);
}

base::Status check_start_itself(const RegistryConfig& file, const std::optional<ServiceUnit>& unit) {
    WHEELYARD_TRY(http::check_listening(file.server, unit && unit->has_low_ports));
    WHEELYARD_TRY(read_signing_key(file));
    WHEELYARD_TRY(read_trusted_root(file));
    for (const auto& secret : {file.blob_place().credentials_file, file.database().password_file})
        if (!secret.empty()) WHEELYARD_TRY(base::open_read(secret));
    return check_store_folder(file.store, unit);
}

// What a server does without for some time, or for some requests.
base::Status check_other_files(const RegistryConfig& file) {
    for (const IdentityConfig& identity : file.identities) {
        if (!identity.client_secret_file.empty())
            WHEELYARD_TRY(read_client_secret(identity.client_secret_file));
    }
    for (const IndexConfig& index : file.indexes) {
        for (const UpstreamConfig& upstream : index.upstreams) {
            if (!upstream.password_file.empty()) WHEELYARD_TRY(base::open_read(upstream.password_file));
        }
    }
    std::vector<std::filesystem::path> written = database::Store(file.database()).files();
    for (const char* folder : {"blobs", "private", "public", "upstream"})
        written.push_back(file.store / folder);
    for (const std::filesystem::path& each : written) {
        if (::faccessat(AT_FDCWD, each.c_str(), R_OK | W_OK, AT_EACCESS) != 0 && errno != ENOENT)
            return base::fail_errno("write", each.string(), errno);
    }
    return {};
}

base::Status of_configuration(base::Status checked) {
    if (checked) return checked;
    return io::fail_configuration(std::move(checked.error()));
}

}  // namespace

base::Status check_start(const RegistryConfig& file, const std::optional<ServiceUnit>& unit) {
    return of_configuration(check_start_itself(file, unit));
}

base::Status check_configuration(const RegistryConfig& file, const std::optional<ServiceUnit>& unit) {
    WHEELYARD_TRY(check_start(file, unit));
    WHEELYARD_TRY(of_configuration(check_other_files(file)));
    WHEELYARD_ASSIGN(const auto blobs, blobs::read_blob_store(file.blob_place()));
    // Says whether the store answers, knows the credentials and has the bucket.
    if (blobs->serves_files()) WHEELYARD_TRY(blobs->list("00"));
    const database::Store store(file.database());
    auto found = store.find_catalog();
    const bool has_store = found.has_value();
    const bool is_missing =
        !found && (found.error().kind == base::ErrorKind::missing || found.error().os_error == ENOENT);
    if (!has_store && !is_missing) return tl::unexpected(found.error());
    if (has_store) {
        WHEELYARD_ASSIGN(const auto list, read_index_list(store));
        WHEELYARD_TRY(check_says_all(file, list));
        WHEELYARD_ASSIGN(const auto catalog, store.reader());
        WHEELYARD_TRY(lifecycle::check_store(
            {.on_catalog = [&](const lifecycle::CatalogWork& work) { return work(*catalog); },
             .blobs = *blobs,
             .clock = base::SystemClock(),
             .store = file.blob_place().text(),
             .config = file.file}));
    }
    base::print(stdout, "the configuration is good: %zu %s, store %s%s\n", file.indexes.size(),
                file.indexes.size() == 1 ? "index" : "indexes", file.store.c_str(),
                has_store ? "" : " (`serve` creates it)");
    base::print(stdout, note_of_root(file.store));
    return {};
}

base::Result<std::unique_ptr<Claim>> Claim::take(const RegistryConfig& file, const Program& program) {
    WHEELYARD_ASSIGN(auto signing_key, read_signing_key(file));
    WHEELYARD_ASSIGN(auto trusted_root, read_trusted_root(file));
    database::Store store(file.database());
    WHEELYARD_TRY(base::make_directories(file.store));
    WHEELYARD_ASSIGN(base::Fd lock, lock_store(file.store));
    WHEELYARD_ASSIGN(auto list, read_index_list(store));
    WHEELYARD_TRY(check_says_all(file, list));
    WHEELYARD_ASSIGN(RegistryConfig config, file.is_of_several() ? config_at_start(file, list) : file);
    warn_of_other_indexes(file, config);
    return std::unique_ptr<Claim>(new Claim{program, std::move(signing_key), std::move(trusted_root),
                                            std::move(store), std::move(lock), std::move(list),
                                            LiveConfig(std::move(config))});
}

}  // namespace wheelyard::registry
