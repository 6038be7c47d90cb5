// What a command beside the server works on: the data folder that a configuration names, opened, with what
// brings its pages up to date.
#pragma once

#include <filesystem>
#include <memory>

#include "registry/catalog/catalog.hpp"
#include "registry/commands.hpp"
#include "registry/lifecycle/perform.hpp"

namespace wheelyard::registry {

struct OpenedStore {
    RegistryConfig config;
    blobs::BlobStore blobs;
    catalog::Catalog catalog;
    PublishFunction publish;

    // Of this object, which has to stay where it is.
    [[nodiscard]] lifecycle::Place place(const base::Clock& clock);
    // Brings the pages up to date; an error when those of `files` were left behind.
    [[nodiscard]] base::Status show(const std::vector<catalog::FileName>& files) const;
};

// Of a registry that is there: opening must not make one. "lifecycle.no_such_index" before anything is
// opened: a name of `indexes` that is not configured; empty ones are passed over.
[[nodiscard]] base::Result<std::unique_ptr<OpenedStore>> open_store(
    const std::filesystem::path& config_file, const OpenPublisher& open_publisher,
    const std::vector<std::string>& indexes = {});

}  // namespace wheelyard::registry
