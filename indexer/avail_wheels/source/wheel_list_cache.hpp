// Caches the wheel list of an index below the user's cache folder. It is revalidated by ETag after
// wheel_list_fresh_s, and used as it is if the index is not reachable.
//
//     ~/.cache/wheelyard/index/https___wheels.example.org_main_simple_/{catalogue.txt,catalogue-delta.txt,state.json}
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "lib/base/clock.hpp"
#include "lib/simple/client.hpp"
#include "lib/simple/wheel_list.hpp"

namespace wheelyard::avail_wheels {

struct WheelListAnswer {
    std::optional<simple::WheelList> wheel_list;  // absent: the index has none; read its pages
    std::string warning;                          // "… is not reachable; showing its answer from 3 h ago"
};

enum class Freshness { recent, now, cached };  // cached: never ask the index (completion)

// Fails if the index is not reachable and nothing is cached.
[[nodiscard]] base::Result<WheelListAnswer> fetch_wheel_list(const simple::GetPage& get,
                                                             const std::string& simple_url,
                                                             const std::filesystem::path& cache,
                                                             const base::Clock& clock, Freshness freshness);

// Removes what is cached of an index whose wheel list turned out to be damaged inside.
void forget_wheel_list(const std::filesystem::path& cache, const std::string& simple_url);

// The folder of one index below `cache`.
[[nodiscard]] std::filesystem::path index_folder(const std::filesystem::path& cache,
                                                 const std::string& simple_url);

}  // namespace wheelyard::avail_wheels
