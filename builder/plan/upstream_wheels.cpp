// Compares the tags of an upstream's wheels with those that a Python accepts.
#include "builder/plan/upstream_wheels.hpp"

#include <algorithm>
#include <iterator>

#include "builder/plan/version_choice.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/specifier.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::builder {
namespace {

using wheel::Version;

constexpr std::size_t max_named_tags = 4;

std::optional<std::size_t> position(const SdistOffer& offer, const Python& python) {
    const auto name = wheel::parse_wheel_filename(offer.filename);
    if (!name || name->variant || !accepts_python(offer.requires_python, python)) return std::nullopt;
    return wheel::best_position(name->tags, python.tags);
}

// "cp312-cp312-manylinux_2_28_x86_64" of a file's name.
std::string tags_of(const SdistOffer& offer) {
    const auto parts =
        base::split(std::string_view(offer.filename).substr(0, offer.filename.rfind('.')), '-');
    if (parts.size() < 3) return offer.filename;
    const auto last = parts.end();
    return base::join(std::vector<std::string>(last - 3, last), "-");
}

bool is_of(const SdistOffer& offer, const Version& version) {
    return version.has_local() ? offer.version == version
                               : offer.version.compare_public(version) == std::strong_ordering::equal;
}

// The newest final release that fits; nullptr: none does.
const SdistOffer* newest_that_fits(const SdistOffers& offers, const Python& python) {
    const SdistOffer* newest = nullptr;
    for (const auto& one : offers.wheels) {
        if (one.yanked || one.version.is_prerelease() || !fits_python(one, python)) continue;
        if (newest == nullptr || newest->version < one.version) newest = &one;
    }
    return newest;
}

}  // namespace

bool fits_python(const SdistOffer& wheel, const Python& python) {
    return position(wheel, python).has_value();
}

const SdistOffer* choose_wheel(const SdistOffers& offers, const Version& version, const Python& python) {
    const SdistOffer* best = nullptr;
    for (const auto& one : offers.wheels) {
        const auto at = position(one, python);
        if (!at || !is_of(one, version)) continue;
        const bool is_newer = best != nullptr && best->version < one.version;
        const bool is_better =
            best == nullptr || is_newer || (best->version == one.version && *at < *position(*best, python));
        if (is_better) best = &one;
    }
    return best;
}

std::string why_no_wheel(const std::string& project, const SdistOffers& offers, const std::string& wanted,
                         const Python& python) {
    const std::string places = offers.places.empty() ? "" : " in " + base::join(offers.places, ", ");
    const auto version = Version::parse(wanted);
    std::vector<std::string> tags;
    for (const auto& one : offers.wheels) {
        if (!version || !is_of(one, *version)) continue;
        std::string tag = tags_of(one);
        if (!one.requires_python.empty() && !accepts_python(one.requires_python, python))
            tag += " for Python " + one.requires_python;
        if (std::find(tags.begin(), tags.end(), tag) == tags.end()) tags.push_back(std::move(tag));
    }
    const auto tag = std::find_if(python.tags.begin(), python.tags.end(), [](const wheel::Tag& one) {
        return one.platform.starts_with("manylinux_");
    });
    const SdistOffer* newest = newest_that_fits(offers, python);
    const std::string instead = newest == nullptr ? "; none of another version does"
                                                  : "; the newest that fits is " + newest->filename;
    if (!tags.empty()) {
        const std::size_t more = tags.size() > max_named_tags ? tags.size() - max_named_tags : 0;
        tags.resize(std::min(tags.size(), max_named_tags));
        return "no wheel of " + project + " " + wanted + places + " fits Python " + python.full_version +
               (tag == python.tags.end() ? "" : " (" + tag->text() + ")") + ": they are for " +
               base::join(tags, ", ") + (more > 0 ? " and " + std::to_string(more) + " more" : "") + instead;
    }
    if (offers.wheels.empty())
        return "no " + std::string(offers.has_project ? "wheel of" : "project of the name") + " `" + project +
               "`" + places;
    return "no wheel of `" + project + "` is `" + wanted + "` and fits Python " + python.full_version +
           places + instead;
}

std::string wheel_instead(const SdistOffers& offers, const std::string& wanted, const Python& python) {
    const auto version = Version::parse(wanted);
    const auto set = wheel::SpecifierSet::parse(version || wanted == "latest" ? "" : wanted);
    SdistOffers meant;
    std::copy_if(offers.wheels.begin(), offers.wheels.end(), std::back_inserter(meant.wheels),
                 [&](const SdistOffer& one) {
                     return version ? is_of(one, *version)
                                    : set && set->contains(one.version, wheel::Prereleases::allowed);
                 });
    if (meant.wheels.empty()) return "";
    const SdistOffer* wheel =
        version ? choose_wheel(meant, *version, python) : newest_that_fits(meant, python);
    return wheel != nullptr ? "; with `from = \"upstream\"` in its [[want]] it is " + wheel->filename +
                                  ", which fits Python " + python.full_version
                            : "; none of these wheels fits Python " + python.full_version;
}

}  // namespace wheelyard::builder
