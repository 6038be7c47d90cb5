// Brings a published tree up to date with the catalog: only what changed is written, each file aside, fsynced
// and renamed, in the order files → metadata → project page → root page, so that no reader ever sees a page
// that names a missing file.
//
//     TREE/<index>/files/ab/<sha256>/<filename>            hard link to the blob (or a copy on another file
//     system) TREE/<index>/files/ab/<sha256>/<filename>.metadata   METADATA, byte for byte (PEP 658, PEP 714)
//     TREE/<index>/simple/<project>/index.html             PEP 503
//     TREE/<index>/simple/<project>/index.json             PEP 691
//     TREE/<index>/simple/index.html, index.json           the root: changes only with a new name, and may be
//     late where it is large
//     TREE/<index>/find-links/<filename>                   link to the file: every wheel in one folder
//     TREE/.wheelyard/published.json                       the serial up to which all of this is true
//
// What is deleted or quarantined leaves in reverse: the page first, then its files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "registry/blobs/store.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::indexer {

// What could not be brought up to date though the rest was: a file whose blob is gone or damaged is left off
// its page; without a filename, the project's pages as a whole are the old ones. Every run tries again.
struct Lagging {
    std::string index;
    std::string project;
    std::string filename;
    base::Error error;
};

// What a tree has beside pages and files. Once asked for it stays: a later run without it keeps it true.
struct TreeViews {
    bool find_links = false;     // <index>/find-links/, for pip's --no-index --find-links
    bool precompressed = false;  // index.html.gz beside index.html
};

// The root pages that a run writes: all that are stale, or those alone that are small or are to lose a name.
// What `prompt` leaves stays noted in the tree, and a run with `all` writes it:
// docs/explanation/decisions/0010.
enum class RootPages { all, prompt };

struct PublishReport {
    catalog::Serial serial = 0;  // what the tree now shows
    std::uint64_t events = 0;
    std::uint64_t project_pages = 0;
    std::uint64_t root_pages = 0;
    std::uint64_t files_linked = 0;
    std::uint64_t files_removed = 0;
    std::vector<Lagging> lagging;
    std::vector<std::string> late_roots = {};  // indexes whose root is left for later
};

// One publisher a tree at a time (a lock file in TREE/.wheelyard); killed anywhere, the next run finishes.
// `indexes` get their (maybe empty) root pages even before the first upload.
[[nodiscard]] base::Result<PublishReport> publish(const catalog::Catalog& catalog,
                                                  const blobs::BlobStore& blobs,
                                                  const std::filesystem::path& tree,
                                                  const std::vector<std::string>& indexes,
                                                  const base::Clock& clock, const TreeViews& views = {},
                                                  RootPages roots = RootPages::all);

}  // namespace wheelyard::indexer
