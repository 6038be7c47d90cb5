// The wheels of a source that a query lists: from the wheel list of an index, from its pages, or from
// folders.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "indexer/avail_wheels/run.hpp"
#include "lib/simple/wheel_list.hpp"

namespace wheelyard::avail_wheels {

struct Found {
    std::vector<Candidate> listed;
    std::optional<simple::WheelList> wheel_list;
};

// What a list needs where its wheels are judged; each may be called several times.
struct Judging {
    std::function<void(const simple::WheelList&)> opened;  // the source has this wheel list
    // False: the list is right as it is; otherwise more is known of the node, and it is made again.
    std::function<bool(const std::vector<Candidate>& listed)> again;
};

// `warning` is for the reader also where the result is an error. With `judging`, wheels of a folder are read.
[[nodiscard]] base::Result<Found> find_wheels(const SourceOptions& source, const Query& query,
                                              const World& world, bool with_facts, std::string& warning,
                                              const Judging* judging = nullptr);

// The wheels of any version of the wanted projects of `query`, newest first. The wheel list of an index has
// what it keeps itself; what its upstreams offer is on the projects' pages, which installers ask. `unread`:
// why one could not be read, by project; after some, the others are not tried.
[[nodiscard]] base::Result<std::vector<Candidate>> all_versions(SourceOptions source, const Query& query,
                                                                const World& world,
                                                                std::map<std::string, std::string>& unread);

// All wheels of the folders of a source.
[[nodiscard]] base::Result<std::vector<Candidate>> read_folders(const SourceOptions& source,
                                                                const std::vector<Wanted>& wanted);

// Where the facts of a folder's wheels are cached; empty: nowhere.
[[nodiscard]] std::filesystem::path cache_of_wheels(const SourceOptions& source, const World& world);
// The folder itself or its simple/ if that holds a wheel list; empty: neither does.
[[nodiscard]] std::filesystem::path folder_with_wheel_list(const std::filesystem::path& wheelhouse);
[[nodiscard]] std::string url_of(const std::filesystem::path& folder);  // "file:///wheels"

}  // namespace wheelyard::avail_wheels
