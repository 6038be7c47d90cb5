// What a tree knows about itself: TREE/.wheelyard/published.json, rewritten whole.
//
//     {"format":"wheelyard.published/2","serial":12,"time":"2026-11-20T12:00:00.000000Z","kind":"file_added",
//      "views":["find-links","precompressed"],"stale_roots":["main"]}
//
// `time` and `kind` are those of the event with that serial: they tell this catalog from another one that has
// come as far. `views` is what the tree has beside pages and files, from the run that was asked for it on.
//
// `lagging` is there when a project's files or pages could not be brought up to date though all others were:
// every run tries them again.
//
// A root page is stale from before the first page of a new name is written until the root that names it is
// out. Noting it first is what lets a killed run be finished: the next one can no longer see that the name
// was new.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::indexer {

// Files that are to leave the tree, by what names them there.
struct TreeFile {
    std::string sha256;
    std::string filename;
    auto operator<=>(const TreeFile&) const = default;
};
struct StaleProject {
    std::string index;
    std::string project;
    std::set<TreeFile> deleted;  // of the catalog, maybe not yet of the tree
    auto operator<=>(const StaleProject&) const = default;
};

inline constexpr std::string_view view_find_links = "find-links";
inline constexpr std::string_view view_precompressed = "precompressed";

struct PublishedState {
    catalog::Serial serial = 0;
    std::set<std::string> stale_roots;  // names of indexes
    std::set<StaleProject> lagging = {};
    std::set<std::string> views = {};
    base::UnixMicros time = 0;  // 0: not known
    std::string kind = {};
    bool operator==(const PublishedState&) const = default;
};

// The part that this state and a follower's (followed_state.hpp) write alike:
// {"sha256":…,"filename":…}, and a list of texts of which others than texts are passed over.
[[nodiscard]] io::Json tree_file_json(const TreeFile& file);
[[nodiscard]] base::Result<TreeFile> parse_tree_file(const io::Json& json);
[[nodiscard]] std::set<std::string> texts_of(const io::Json& document, std::string_view member);

// The next run reads the log from its begin and looks at every file.
void forget_serial(PublishedState& state);

[[nodiscard]] std::string render_published_state(const PublishedState& state);
[[nodiscard]] base::Result<PublishedState> parse_published_state(std::string_view text);

}  // namespace wheelyard::indexer
