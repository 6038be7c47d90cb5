// The state of a published tree: TREE/.wheelyard/published.json, rewritten as a whole.
//
//     {"format":"wheelyard.published/2","serial":12,"time":"2026-11-20T12:00:00.000000Z","kind":"file_added",
//      "views":["find-links","precompressed"],"stale_roots":["main"]}
//
// `time` and `kind` describe the event with that serial. They detect another catalog that has reached the
// same serial. `views` lists what the tree has in addition to pages and files; a view stays once a run
// requested it.
//
// `lagging` lists projects whose files or pages could not be updated although the rest of the run succeeded.
// Every run retries them.
//
// `pages` says how far the web UI is and what the farm's configuration said about itself:
// {"serial":12,"look":"…","farm":{"title":"","text":"","contact":"","style":"","logo":"",
// "titles":{"main":"Wheels of Bede"},"upstreams":{"main":"pypi"},"hidden":["staging"],"without_pages":[]}}. A server writes them a moment
// after the Simple pages.
//
// `find_links` is the event up to which the pages of --find-links are current, likewise.
//
// `read` is "token" in a tree of private indexes, and absent in one of public indexes. A tree never changes
// from one to the other.
//
// `serials` has the last event of each index that the tree shows: {"main":12}. The server passes it on to
// mirrors.
//
// A root page is stale from before the first page of a new project is written until a root that lists it is
// published. It is recorded first so that a run after a kill can finish: by then, the page exists and nothing
// else shows that the root lacks the project.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "indexer/tree/disk.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::indexer {

// What a farm's configuration says about itself, for the web UI.
struct FarmText {
    std::string title = {};                             // empty: "Wheelyard"
    std::string text = {};                              // on the front page; empty: ours
    std::string contact = {};                           // URL or address of electronic mail; empty: none
    std::string style = {};                             // a style sheet with the farm's colours; empty: none
    std::string logo = {};                              // the published name of its logo; empty: ours
    std::string url = {};                               // where readers find it; empty: nobody has said
    std::string login = {};                             // where they log in; empty: nowhere
    std::map<std::string, std::string> titles = {};     // of indexes, for people
    std::map<std::string, std::string> upstreams = {};  // of indexes that have some: "pypi, torch"
    std::set<std::string> hidden = {};                  // indexes that the front page does not list
    std::set<std::string> without_pages = {};           // indexes that have none
    // The bytes of the logo; empty: the tree has the file already. Only `logo` counts as a difference.
    struct Bytes {
        std::string bytes = {};
        bool operator==(const Bytes&) const { return true; }
    } logo_bytes = {};
    bool operator==(const FarmText&) const = default;
};

// A file to remove from the tree.
struct TreeFile {
    std::string sha256;
    std::string filename;
    auto operator<=>(const TreeFile&) const = default;
};
struct StaleProject {
    std::string index;
    std::string project;
    std::set<TreeFile> deleted;  // removed from the catalog, maybe still in the tree
    auto operator<=>(const StaleProject&) const = default;
};

inline constexpr std::string_view view_find_links = "find-links";
// HTML pages have the times of upload. Every run asks for it: older pages are written again once.
inline constexpr std::string_view view_upload_times = "upload-times";
inline constexpr std::string_view view_precompressed = "precompressed";
inline constexpr std::string_view view_pages = "pages";

// Up to which event the web UI is current, and what decides its look. Serial 0: all of it is written again.
struct PagesState {
    catalog::Serial serial = 0;
    std::string look = {};
    FarmText farm = {};  // for runs that do not know the configuration
    bool operator==(const PagesState&) const = default;
};

struct PublishedState {
    catalog::Serial serial = 0;
    std::set<std::string> stale_roots;  // names of indexes
    std::set<StaleProject> lagging = {};
    std::set<std::string> views = {};
    base::UnixMicros time = 0;  // 0: unknown
    std::string kind = {};
    catalog::Serial flat_serial =
        0;  // up to which event the pages of --find-links are current; 0: written again
    PagesState pages = {};
    // The absolute URL in its pages, as TreeViews had it; nullopt: no run was given one, nor were there
    // attestations.
    std::optional<std::string> root_url = {};
    bool is_private = false;  // holds the private indexes instead of the public ones
    // Suffixes of the compressed copies that its last writer kept up to date; a writer that did not know of
    // them left none.
    std::set<std::string> copies = {};
    // Folders of the tree ("main/simple/six") whose pages lack compressed copies, which a later run writes.
    std::set<std::string> late_copies = {};
    // By index, of its last event that the tree shows; empty in a tree of a program that kept event logs
    // instead.
    std::map<std::string, catalog::Serial> serials = {};
    bool operator==(const PublishedState&) const = default;
};

// Makes the next run read the event log from the beginning and check every file.
void forget_serial(PublishedState& state);

// Errors: "publish.state_broken", "publish.state_format".
[[nodiscard]] std::string render_published_state(const PublishedState& state);
[[nodiscard]] base::Result<PublishedState> parse_published_state(std::string_view text);

// Reads and writes published.json for one run.
class PublishedRecord {
  public:
    PublishedRecord(Disk& disk, const std::filesystem::path& tree) : disk_(disk), tree_(tree) {}

    // An empty state if the file does not exist. Also removes temporary files of killed runs.
    // Errors: those of parse_published_state and of the disk.
    [[nodiscard]] base::Result<PublishedState> read();
    // Does not write an unchanged state, so a run without events costs no fsync. Durable after the next
    // sync_directory of the tree's state folder.
    [[nodiscard]] base::Status write(const PublishedState& state);
    [[nodiscard]] bool says(const PublishedState& state) const { return state == written_; }

  private:
    Disk& disk_;
    const std::filesystem::path& tree_;
    PublishedState written_;
};

}  // namespace wheelyard::indexer
