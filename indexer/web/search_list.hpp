// What the search of an index knows of each project: TREE/<index>/project/search.json, compact because a reader loads
// all of it.
//
//     {"format":"wheelyard.search/1","projects":[
//      ["torch","2.4.0","Tensors and neural networks","gpu",["3.12"],["aarch64"],["sm_90"],["CUDA","MPI"],1795176000],…]}
//
// In order: name, newest version, summary, keywords, Pythons, machines, GPU architectures, uses, time of the newest
// upload (seconds). The lists are those of all versions that are not yanked. Sorted by name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/web/project_page.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

inline constexpr std::string_view search_page_file = "search.json";

struct SearchEntry {
    std::string version;
    std::string summary;
    std::string keywords;
    std::vector<std::string> pythons;
    std::vector<std::string> machines;
    std::vector<std::string> gpus;
    std::vector<std::string> uses;
    std::int64_t uploaded_s = 0;
    bool operator==(const SearchEntry&) const = default;
};
using SearchList = std::map<std::string, SearchEntry>;

// Of the project's wheels, at most the newest max_read_wheels.
[[nodiscard]] SearchEntry make_search_entry(const ProjectView& view, const ProjectText& text);
[[nodiscard]] std::string render_search_list(const SearchList& list);
// Error "search.format": not such a file; it is made again from the catalog.
[[nodiscard]] base::Result<SearchList> parse_search_list(std::string_view json);

}  // namespace wheelyard::indexer
