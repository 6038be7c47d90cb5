// The catalogue of an index, kept below the user's cache folder: fetched when it is older than a few minutes
// and has another ETag, used as it is where the index does not answer.
//
//     ~/.cache/wheelyard/index/https___wheels.example.org_main_simple_/{catalogue.txt,catalogue-delta.txt,state.json}
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "lib/base/clock.hpp"
#include "lib/simple/catalogue.hpp"
#include "lib/simple/client.hpp"

namespace wheelyard::avail_wheels {

struct CatalogueAnswer {
    std::optional<simple::Catalogue> catalogue;  // absent: the index has none, so ask its pages
    std::string warning;                         // "… does not answer; this is what it said 3 h ago"
};

enum class Freshness { recent, now, whatever };  // whatever: never ask the index (completion)

// Errors: the index does not answer and nothing is kept.
[[nodiscard]] base::Result<CatalogueAnswer> fetch_catalogue(const simple::GetPage& get,
                                                            const std::string& simple_url,
                                                            const std::filesystem::path& cache,
                                                            const base::Clock& clock, Freshness freshness);

// The folder of one index below `cache`.
[[nodiscard]] std::filesystem::path index_folder(const std::filesystem::path& cache,
                                                 const std::string& simple_url);

}  // namespace wheelyard::avail_wheels
