// Performs an action on the catalog; durable on return. The caller publishes the change: `Done::serial` must
// become visible.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/store/blobs/store.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/lifecycle/action.hpp"

namespace wheelyard::lifecycle {

// Runs work where the catalog may be used: the server's writer thread, or at once in a command.
using CatalogWork = std::function<base::Status(catalog::Catalog&)>;
using OnCatalog = std::function<base::Status(const CatalogWork&)>;

// Says whether the index takes this file, which it shows from then on: its configuration's answer. `with`:
// all files of the promotion, this one included.
using Admits = std::function<base::Status(const std::string& index, const catalog::FileRow& row,
                                          const std::vector<catalog::FileRow>& with)>;

// Called between the steps of a long action, with how many of them are done; an error stops it, and what is
// done stays so.
using Step = std::function<base::Status(std::uint64_t done, std::uint64_t of)>;

struct LifecycleParts {
    OnCatalog on_catalog;
    const blobs::BlobStore& blobs;
    const base::Clock& clock;
    Admits admits = {};  // of perform() alone
    Step step = {};      // of gc and retain; may be empty
    // For messages: where the blobs are, and the configuration that says so.
    std::string store = {};
    std::filesystem::path config = {};
};

// Errors "lifecycle.*": no_such_file, no_such_project, pinned, quarantined, name_taken, name_was_deleted,
// project_closed, blob_damaged, and what check() finds; those of `admits`.
[[nodiscard]] base::Result<Done> perform(const LifecycleParts& place, const Action& action,
                                         const std::string& actor);

// The reason of a file that verify has quarantined: it begins so, and names the blob that is damaged or
// missing.
inline constexpr std::string_view verify_reason = "verify: the stored bytes of ";

// The first blob of the file that is damaged or missing, by its bytes; empty: none.
[[nodiscard]] std::string find_damaged(const blobs::BlobStore& blobs, const catalog::FileRow& row);

// Releases the files of this blob that verify has quarantined, where all their bytes are intact now; one for
// which a person has decided otherwise meanwhile stays. Returns the released ones.
[[nodiscard]] base::Result<std::vector<catalog::FileName>> release_intact(const LifecycleParts& place,
                                                                          const std::string& sha256,
                                                                          const std::string& actor);

// gc: removes blobs that no file has referred to for a grace period.
//
// Blobs of pinned and quarantined files stay. Rows are removed first, in one transaction per batch with the
// event that lists the blobs, and then the bytes: after a crash in between, the next run removes the orphans.
[[nodiscard]] base::Result<Done> collect(const LifecycleParts& place, const Action& action,
                                         const std::string& actor);

// Selects the files that a retention rule deletes: all but the newest versions of each series. Pure, no I/O.
//
// A series is a version's epoch and first two release numbers: 2.4.0, 2.4.1rc1 and 2.4.1+cu126 are of series
// 2.4. Versions that differ only in their local part count as one, so that builds for other hardware are kept
// together. "Newest" is PEP 440's order.
//
// Installers choose neither yanked files nor, beside finals, pre-releases. So a version is deleted only where
// `keep` newer ones of its series have a file that is not yanked; for a final release only finals count.
struct GivenUp {
    std::string filename;
    std::string series;
};
// `files`: one project's, in any order. A pinned file is never deleted, and neither is a quarantined one (it
// is evidence) or one whose version cannot be read; none of them takes a kept version's place.
[[nodiscard]] std::vector<GivenUp> choose_given_up(const std::vector<catalog::FileRow>& files,
                                                   std::int64_t keep);

}  // namespace wheelyard::lifecycle
