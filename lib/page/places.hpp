// The folders of the web UI below an index. The publisher writes and removes them, the server knows their
// addresses by this table, and a test compares it with what else has to name them (nginx, the test of private
// indexes).
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace wheelyard::page {

struct Place {
    std::string_view folder;
    std::span<const std::string_view> files;
    std::span<const std::string_view>
        project_files;  // of a folder for each project below it; empty: there is none
    std::span<const std::string_view> site_files = {};  // likewise, for each site
    [[nodiscard]] constexpr bool has_projects() const { return !project_files.empty(); }
};

namespace place_files {
inline constexpr std::array<std::string_view, 3> project{"index.html", "search.json", "feed.xml"};
inline constexpr std::array<std::string_view, 2> of_project{"index.html", "feed.xml"};
inline constexpr std::array<std::string_view, 4> builds{"index.html", "build.html", "request.html",
                                                        "feed.xml"};
inline constexpr std::array<std::string_view, 1> sites{"index.html"};
inline constexpr std::array<std::string_view, 2> of_site{"index.html", "feed.xml"};
}  // namespace place_files

inline constexpr std::array<Place, 3> places{{{"project", place_files::project, place_files::of_project},
                                              {"builds", place_files::builds, {}},
                                              {"site", place_files::sites, {}, place_files::of_site}}};

// Files of the search, in the folder "project": any number of them (indexer/web/search_shards.hpp). No name
// of a project has their "=".
inline constexpr std::string_view shard_begin = "search.";
inline constexpr std::string_view shard_end = ".json";
[[nodiscard]] constexpr bool is_shard(std::string_view name) {
    return name.starts_with(shard_begin) && name.ends_with(shard_end) && name.find('=') != name.npos;
}

// nullptr: the web UI has no such page.
[[nodiscard]] constexpr const Place* find_place(std::string_view folder) {
    const auto* found =
        std::find_if(places.begin(), places.end(), [&](const Place& one) { return one.folder == folder; });
    return found == places.end() ? nullptr : found;
}
[[nodiscard]] constexpr bool has_file(std::span<const std::string_view> files, std::string_view name) {
    return std::find(files.begin(), files.end(), name) != files.end();
}

}  // namespace wheelyard::page
