#include "registry/serve/own_store.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/io/log.hpp"
#include "lib/store/lifecycle/verify.hpp"

namespace wheelyard::registry {

namespace {

std::string name_of(const lifecycle::StoreIdentity& identity) {
    return identity.store + " " + identity.place;
}

}  // namespace

base::Result<std::unique_ptr<OwnStore>> OwnStore::open(const database::Store& store,
                                                       const RegistryConfig& config,
                                                       const blobs::BlobStore& blobs) {
    WHEELYARD_ASSIGN(auto catalog, store.writer());
    auto own = std::unique_ptr<OwnStore>(new OwnStore(std::move(catalog), config, blobs));
    const base::Status noted = own->note_if(lifecycle::EmptyStore::is_new_without_blobs);
    if (own->is_of_another()) return base::fail(noted.error());
    return own;
}

OwnStore::OwnStore(std::unique_ptr<catalog::Catalog> catalog, const RegistryConfig& config,
                   const blobs::BlobStore& blobs)
    : catalog_(std::move(catalog)),
      parts_{.on_catalog = [this](const lifecycle::CatalogWork& work) { return work(*catalog_); },
             .blobs = blobs,
             .clock = clock_,
             .store = config.blob_place().text(),
             .config = config.file} {}

bool OwnStore::is_there() const {
    const auto found = lifecycle::read_identity(parts_.blobs);
    if (!found || !*found) return false;
    if (!name_.empty()) return name_of(**found) == name_;
    const auto registry = catalog_->registry_id();
    return registry && *registry == (*found)->registry;
}

base::Status OwnStore::note_if(lifecycle::EmptyStore empty) {
    const auto claim = lifecycle::claim_store(parts_, empty);
    is_of_another_ = !claim && lifecycle::is_of_store(claim.error());
    if (claim) has_other_history_ = !claim->history;
    if (claim && name_.empty()) name_ = name_of(claim->identity);
    base::Status noted = claim ? claim->history : base::fail(claim.error());
    const std::string why = noted ? std::string() : noted.error().text();
    if (why != std::exchange(why_not_noted_, why) && !noted)
        io::log_error("store.not_noted", {{"error", why}});
    return noted;
}

namespace {

namespace fs = std::filesystem;

fs::path aside(const fs::path& tree) {
    return tree.string() + ".lost";
}

bool is_wheel_or_sdist(const fs::path& file) {
    return file.extension() == ".whl" || file.extension() == ".gz";
}

// The tree's links may be the last copies of blobs that the store lacks: those are stored again.
base::Status keep_blobs(const fs::path& tree, const blobs::BlobStore& blobs) {
    if (blobs.serves_files()) return {};  // the tree has stand-ins of them
    std::error_code error;
    for (fs::recursive_directory_iterator file(tree, error), end; !error && file != end;
         file.increment(error)) {
        std::string sha256 = file->path().parent_path().filename().string();
        if (!base::is_sha256_hex(sha256) || !file->is_regular_file(error)) continue;
        if (!is_wheel_or_sdist(file->path())) {  // its METADATA, its provenance
            WHEELYARD_ASSIGN(sha256, base::hex_of_file(base::DigestKind::sha256, file->path()));
        }
        if (!blobs.contains(sha256)) WHEELYARD_TRY(lifecycle::restore_from(file->path(), sha256, blobs));
    }
    if (error && error != std::errc::no_such_file_or_directory)
        return base::fail_errno("read", tree.string(), error.value());
    return {};
}

// A tree that is aside already, of a rebuild that was killed, is the one that was shown: the new one goes
// instead.
base::Status set_aside(const fs::path& tree, const blobs::BlobStore& blobs) {
    std::error_code error;
    if (fs::exists(aside(tree), error)) {
        WHEELYARD_TRY(keep_blobs(tree, blobs));
        fs::remove_all(tree, error);
    } else if (!error) {
        fs::rename(tree, aside(tree), error);
    }
    if (error && error != std::errc::no_such_file_or_directory)
        return base::fail_errno("rename", tree.string(), error.value());
    return {};
}

// Lines "INDEX<TAB>SHA-256<TAB>FILENAME" of the wheels and sdists below INDEX/files/ab/SHA-256/ of the tree
// that was set aside and not below the same folder of the new one. Indexes in `fetched` are left out.
std::string lost_between(const fs::path& tree, const std::vector<std::string>& fetched) {
    std::string lost;
    std::error_code error;
    for (const auto& index : fs::directory_iterator(aside(tree), error)) {
        const std::string name = index.path().filename().string();
        if (std::find(fetched.begin(), fetched.end(), name) != fetched.end()) continue;
        for (const auto& digits : fs::directory_iterator(index.path() / "files", error)) {
            for (const auto& folder : fs::directory_iterator(digits.path(), error)) {
                const std::string sha256 = folder.path().filename().string();
                if (fs::exists(tree / name / "files" / digits.path().filename() / sha256, error)) continue;
                for (const auto& file : fs::directory_iterator(folder.path(), error)) {
                    if (is_wheel_or_sdist(file.path()))
                        lost += name + "\t" + sha256 + "\t" + file.path().filename().string() + "\n";
                }
            }
        }
    }
    return lost;
}

}  // namespace

NodeTrees::NodeTrees(const RegistryConfig& config)
    : store(config.store),
      open(config.published()),
      with_token(config.published_private()),
      fetched(config.cache_names()) {}

bool are_trees_aside(const NodeTrees& trees) {
    std::error_code ignored;
    return fs::exists(aside(trees.open), ignored) || fs::exists(aside(trees.with_token), ignored);
}

base::Status set_trees_aside(const NodeTrees& trees, const blobs::BlobStore& blobs) {
    WHEELYARD_TRY(set_aside(trees.open, blobs));
    return set_aside(trees.with_token, blobs);
}

base::Status list_lost_files(const NodeTrees& trees, const blobs::BlobStore& blobs) {
    for (const fs::path& tree : {trees.open, trees.with_token})
        WHEELYARD_TRY(keep_blobs(aside(tree), blobs));
    const std::string lost =
        lost_between(trees.open, trees.fetched) + lost_between(trees.with_token, trees.fetched);
    const fs::path list = trees.store / "lost-files.tsv";
    if (!lost.empty()) {
        constexpr mode_t owner_alone = 0600;  // it may name files of private indexes
        constexpr std::uint64_t max_bytes = 64u << 20;
        const auto before = base::read_file(list, max_bytes);
        WHEELYARD_TRY(base::replace_file(list, (before ? *before : std::string()) + lost, owner_alone));
        io::log_error("node.files_lost",
                      {{"files", std::to_string(std::count(lost.begin(), lost.end(), '\n'))},
                       {"list", list.string()},
                       {"advice", "ask who uploaded them to send them again"}});
    }
    for (const fs::path& tree : {trees.open, trees.with_token}) {
        std::error_code error;
        fs::remove_all(aside(tree), error);
        if (error) return base::fail_errno("remove", aside(tree).string(), error.value());
    }
    return {};
}

}  // namespace wheelyard::registry
