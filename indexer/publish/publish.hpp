// Brings a published tree up to date with the catalog. Only changes are written. Each file is written to a
// temporary file, fsynced and renamed, in the order files → metadata → project page → root page, so that
// readers never see a page that links to a missing file. Deleted and quarantined files leave in reverse
// order: first the page, then the files.
//
//     TREE/<index>/files/ab/<sha256>/<filename>            hard link to the blob, or a copy
//     TREE/<index>/files/ab/<sha256>/<filename>.metadata   METADATA, byte for byte (PEP 658, PEP 714)
//     TREE/<index>/simple/<project>/index.html             PEP 503
//     TREE/<index>/simple/<project>/index.json             PEP 691
//     TREE/<index>/simple/index.html, index.json           root: changes only with a new name; late if large
//     TREE/<index>/find-links/<filename>                   link to the file: every wheel in one folder
//     TREE/<index>/project/<project>/index.html            for people (web_run.hpp)
//     TREE/.wheelyard/published.json                       the serial that the tree shows
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/tree/published_state.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/store/blobs/store.hpp"
#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::indexer {

class KeptPages;

// Something that could not be updated although the rest of the run succeeded. With a filename: the file's
// blob is missing or damaged, and its page does not list it. Without one: the project keeps its old pages.
// Every run retries.
struct Lagging {
    std::string index;
    std::string project;
    std::string filename;
    base::Error error;
};

// Optional views of a tree. A view stays once requested: later runs keep it up to date.
struct TreeViews {
    bool find_links = false;            // <index>/find-links/, for pip's --no-index --find-links
    bool precompressed = false;         // index.html.gz and .zst next to index.html
    bool pages = false;                 // the web UI: <index>/project/, <index>/builds/, index.html
    std::optional<FarmText> farm = {};  // shown in it; nullopt: what an earlier run was given
    // Where the tree is served: "https://HOST/", for PEP 740's absolute URLs; empty: nowhere over TLS;
    // nullopt: as before. Another one rewrites every page.
    std::optional<std::string> root_url = {};
    // Whose indexes the tree holds: everyone's, or (with_token) the private ones. A tree of private indexes
    // has mode 0700.
    catalog::Readers readers = catalog::Readers::everyone;
};

// Which stale root pages a run writes: `all`, or with `prompt` only those that are small or lose a name. The
// tree records the rest, and a run with `all` writes them (docs/explanation/decisions/0010). The web UI comes
// with `all`, or as soon as a file that it may name leaves the tree; the compressed copies of project pages
// come with `all` (docs/explanation/decisions/0045).
enum class RootPages { all, prompt };

// Called after each project that a run looked at: `what` it writes, of how many projects.
using PublishProgress = std::function<void(std::string_view what, std::size_t done, std::size_t projects)>;

struct PublishReport {
    catalog::Serial serial = 0;  // what the tree now shows
    std::uint64_t events = 0;
    std::uint64_t project_pages = 0;
    std::uint64_t root_pages = 0;
    std::uint64_t files_linked = 0;
    std::uint64_t files_removed = 0;
    std::vector<Lagging> lagging;
    std::vector<std::string> late_roots = {};  // indexes whose root is left to a later run
    std::uint64_t web_pages = 0;               // pages of the web UI that were written, counted by folder
    bool are_pages_late = false;               // the web UI is left to a later run
    std::size_t late_copies = 0;               // projects whose compressed copies are left to a later run
};

// One publisher per tree at a time ("lock.held"). The next run finishes what a killed one left. `indexes` get
// root pages even before their first upload; those of other readers are ignored. "publish.other_readers": the
// tree holds the indexes of others. `kept`: of earlier runs for the same tree and catalog; it makes a run
// cheaper, and its result is the same.
[[nodiscard]] base::Result<PublishReport> publish(
    const catalog::Catalog& catalog, const blobs::BlobStore& blobs, const std::filesystem::path& tree,
    const std::vector<std::string>& indexes, const base::Clock& clock, const TreeViews& views = {},
    RootPages roots = RootPages::all, KeptPages* kept = nullptr);

}  // namespace wheelyard::indexer
