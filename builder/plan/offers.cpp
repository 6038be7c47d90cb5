#include "builder/plan/offers.hpp"

#include "lib/wheel/filename.hpp"

namespace wheelyard::builder {
namespace {

int rank(const SdistOffer& offer, const std::string& pinned) {
    const bool other_bytes = !pinned.empty() && !offer.sha256.empty() && offer.sha256 != pinned;
    return (other_bytes ? 4 : 0) + (offer.yanked ? 2 : 0) + (offer.filename.ends_with(".tar.gz") ? 0 : 1);
}

}  // namespace

bool is_file_name(std::string_view name) {
    return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
           name.find('\0') == std::string_view::npos && !name.starts_with("-");
}

std::vector<SdistOffer> sdists_on_page(const simple::ProjectPage& page, const std::string& project,
                                       const std::string& place) {
    std::vector<SdistOffer> offers;
    for (const auto& file : page.files) {
        const auto parsed = wheel::parse_sdist_filename(file.filename, project);
        if (!parsed || parsed->project != project || !is_file_name(file.filename)) continue;
        offers.push_back({parsed->version,
                          file.filename,
                          file.url,
                          {},
                          file.sha256,
                          file.requires_python,
                          file.yanked,
                          place});
    }
    return offers;
}

const SdistOffer* choose_sdist(const std::vector<SdistOffer>& offers, const wheel::Version& version,
                               const std::string& pinned_sha256) {
    const SdistOffer* best = nullptr;
    for (const auto& offer : offers) {
        if (offer.version != version) continue;
        if (best == nullptr || rank(offer, pinned_sha256) < rank(*best, pinned_sha256)) best = &offer;
    }
    return best;
}

}  // namespace wheelyard::builder
