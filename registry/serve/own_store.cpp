#include "registry/serve/own_store.hpp"

#include <utility>

#include "lib/io/log.hpp"

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
    const base::Status noted = own->note();
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

base::Status OwnStore::note() {
    const auto claim = lifecycle::claim_store(parts_);
    is_of_another_ = !claim && lifecycle::is_of_store(claim.error());
    if (claim) has_other_history_ = !claim->history;
    if (claim && name_.empty()) name_ = name_of(claim->identity);
    base::Status noted = claim ? claim->history : base::fail(claim.error());
    const std::string why = noted ? std::string() : noted.error().text();
    if (why != std::exchange(why_not_noted_, why) && !noted)
        io::log_error("store.not_noted", {{"error", why}});
    return noted;
}

}  // namespace wheelyard::registry
