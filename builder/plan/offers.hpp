// The sdists that indexes and folders offer, and which one is taken for a version. Pure.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "lib/simple/page.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {

// One sdist that some place offers.
struct SdistOffer {
    wheel::Version version;
    std::string filename;
    std::string url;             // of an index's file; empty for a file in a folder
    std::filesystem::path file;  // of a folder
    std::string sha256;          // empty when the place gives none
    std::string requires_python;
    bool yanked = false;
    std::string place;  // where it was found, without secrets
};

struct SdistOffers {
    std::vector<SdistOffer> sdists;  // in the order of places
    // All that were asked, and how they are configured: "https://… (PIP_INDEX_URL)".
    std::vector<std::string> places;
};

// A name that is one path component and no option; sources are stored under it.
[[nodiscard]] bool is_file_name(std::string_view name);

// The sdists of `project` among `files`.
[[nodiscard]] std::vector<SdistOffer> sdists_on_page(const simple::ProjectPage& page,
                                                     const std::string& project, const std::string& place);
// The offer to take for exactly `version`: one with the pinned digest if there is a pin, else the first
// place's; a yanked one last; .tar.gz before .zip. nullptr: nobody has it.
[[nodiscard]] const SdistOffer* choose_sdist(const std::vector<SdistOffer>& offers,
                                             const wheel::Version& version, const std::string& pinned_sha256);

}  // namespace wheelyard::builder
