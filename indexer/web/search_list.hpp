// What the search of an index knows of each project, and how that lies in shards (search_shards.hpp), so that
// neither a reader nor an upload has to do with all of it. TREE/<index>/project/search.json is loaded first:
//
//     {"format":"wheelyard.search/2","count":845,"values":{"python":["3.12"],"machine":["aarch64"],"gpu":[],"uses":["MPI"]},
//      "newest":[["torch","2.4.0","Tensors","gpu",["3.12"],["aarch64"],[],["MPI"],1795176000],…]}
//
// A row of "newest" is, in order: name, newest version, summary, keywords, Pythons, machines, GPU
// architectures, uses, time of the newest upload (seconds). The lists are those of all versions that are not
// yanked. In shards the name is the key, and rows of words and facets have no version and the time 0: so a
// new version changes one row, unless it brings a new value. The row of a name has a ninth member,
// {"2.4.0":["sm_90"]}, where versions differ in their GPU architectures; it is missing in rows of an older
// program. A tenth, {"3.11 aarch64":"2.3.1"}, has the newest version for a Python and a machine where it is
// another one, or "" where there is no wheel. What projects need lies in two more roots: "needs=" has the
// names of each project, "needed=" each of those with the project.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "indexer/web/project_page.hpp"
#include "indexer/web/search_shards.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

inline constexpr std::string_view search_page_file = "search.json";
// WebRun writes it before all other files of the search, and removes it after them: a run that finds it
// follows one that was killed, and makes all of the search again.
inline constexpr std::string_view search_begun_file = "search.begun.json";
inline constexpr std::string_view search_format = "wheelyard.search/2";

struct SearchEntry {
    std::string version;
    std::string summary;
    std::string keywords;
    std::vector<std::string> pythons;
    std::vector<std::string> machines;
    std::vector<std::string> gpus;
    std::vector<std::string> uses;
    std::int64_t uploaded_s = 0;
    // Names of the newest wheel's Requires-Dist, and those of its extras alone: in rows of their own.
    std::vector<std::string> needs = {};
    std::vector<std::string> extra_needs = {};
    // GPU architectures of versions that have others than `gpus`; a version with a wheel that has none has
    // none. In rows of names alone.
    std::map<std::string, std::vector<std::string>> version_gpus = {};
    // "3.11 aarch64": its newest version, where that is another one than `version`; empty: it has no wheel.
    // In rows of names alone.
    std::map<std::string, std::string> fits = {};
    bool operator==(const SearchEntry&) const = default;
};
// By name, sorted.
using SearchList = std::map<std::string, SearchEntry>;

// Reads at most the newest max_read_wheels wheels of the project. nullopt: it offers no file, as where all
// are in quarantine; the search does not find it, and no page counts it.
[[nodiscard]] std::optional<SearchEntry> make_search_entry(const ProjectView& view, const ProjectText& text);

// search.json
struct SearchTop {
    std::size_t count = 0;                                     // projects
    std::map<std::string, std::set<std::string>> values = {};  // of each facet
    // The newest uploads, newest first: all of them up to the last one, at most max_known_newest.
    std::vector<std::pair<std::string, SearchEntry>> newest = {};
    bool operator==(const SearchTop&) const = default;
};
[[nodiscard]] std::string render_search_top(const SearchTop& top);
// Error "search.format": not such a file; all of the search is made again from the catalog.
[[nodiscard]] base::Result<SearchTop> parse_search_top(std::string_view json);

// The new entries of projects; nullopt: the index no longer shows it.
using SearchChanges = std::map<std::string, std::optional<SearchEntry>>;
// Writes the files of the search that differ, and returns the new search.json. `is_new`: `changes` are all
// projects, and no file that is there counts.
[[nodiscard]] base::Result<SearchTop> update_search(ShardFiles& files, const SearchTop& before,
                                                    const SearchChanges& changes, bool is_new);
// The first projects by name.
[[nodiscard]] base::Result<SearchList> first_projects(ShardFiles& files, std::size_t count);

}  // namespace wheelyard::indexer
