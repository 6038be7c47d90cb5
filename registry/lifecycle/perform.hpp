// Performs an action on the catalog; durable on return. The caller publishes the change: `Done::serial` must
// become visible.
#pragma once

#include <functional>

#include "lib/base/clock.hpp"
#include "registry/blobs/store.hpp"
#include "registry/lifecycle/action.hpp"

namespace wheelyard::lifecycle {

// Runs work where the catalog may be used: the server's writer thread, or at once in a command.
using CatalogWork = std::function<base::Status(catalog::Catalog&)>;
using OnCatalog = std::function<base::Status(const CatalogWork&)>;

// Whether the index takes this file, which it shows from then on: its configuration's answer.
using Admits = std::function<base::Status(const std::string& index, const catalog::FileRow& row)>;

struct Place {
    OnCatalog on_catalog;
    const blobs::BlobStore& blobs;
    const base::Clock& clock;
    Admits admits = {};  // of perform() alone
};

// Errors "lifecycle.*": no_such_file, no_such_project, pinned, quarantined, name_taken, name_was_deleted,
// project_closed, blob_damaged, and what check() finds; those of `admits`.
[[nodiscard]] base::Result<Done> perform(const Place& place, const Action& action, const std::string& actor);

}  // namespace wheelyard::lifecycle
