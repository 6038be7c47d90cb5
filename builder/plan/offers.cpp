#include "builder/plan/offers.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"
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

std::string why_no_sdist(const std::string& project, const SdistOffers& offers, const std::string& wanted) {
    const std::string places = offers.places.empty() ? "" : " in " + base::join(offers.places, ", ");
    const std::string other_source = "name another source in a recipe, such as its repository";
    const auto version = wheel::Version::parse(wanted);
    const bool has_wheel =
        version && std::any_of(offers.wheels.begin(), offers.wheels.end(),
                               [&](const SdistOffer& wheel) { return wheel.version == *version; });
    if (!offers.sdists.empty()) {
        const auto newest =
            std::max_element(offers.sdists.begin(), offers.sdists.end(),
                             [](const SdistOffer& a, const SdistOffer& b) { return a.version < b.version; });
        return "no sdist of " + (version ? "this version" : "`" + wanted + "`") + places +
               (has_wheel
                    ? ", only wheels of it: " + other_source + ", or another version: the newest sdist is "
                    : ": the newest is ") +
               newest->version.text();
    }
    if (!offers.wheels.empty())
        return "only wheels of `" + project + "`, and no sdist," + places + ": " + other_source;
    if (offers.has_project) return "no file of `" + project + "`" + places + ": " + other_source;
    return "no project of the name `" + project + "`" + places + ": correct `package` in [[want]], or " +
           other_source;
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
