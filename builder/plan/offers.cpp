#include "builder/plan/offers.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "builder/plan/plan.hpp"
#include "builder/plan/version_choice.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/specifier.hpp"
#include "lib/wheel/tags.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {

namespace {

int rank(const SdistOffer& offer, const std::string& pinned) {
    const bool other_bytes = !pinned.empty() && !offer.sha256.empty() && offer.sha256 != pinned;
    return (other_bytes ? 4 : 0) + (offer.yanked ? 2 : 0) + (offer.filename.ends_with(".tar.gz") ? 0 : 1);
}

struct Stub {
    std::string_view projects;  // normalised, with spaces between; with `*` at its end: each that begins so
    std::string_view why;
    std::array<StubMark, 2> marks = {};  // as far as its files are known
};
constexpr std::string_view of_nvidia =
    "its sdists are stubs that download a wheel from an index of NVIDIA: `from = \"upstream\"`, or the URL "
    "of that index, in its [[want]] takes the wheel";
constexpr std::string_view placeholder =
    "its sdists are placeholders that only fail: `from = \"upstream\"`, or the URL of an index of NVIDIA, in "
    "its [[want]] takes the wheel";
constexpr std::string_view downloads = "downloads a wheel from another index";
constexpr std::string_view only_fails = "fails, and says where the wheels are";
constexpr std::array<Stub, 7> stubs = {{
    // NVIDIA/TensorRT, python/packaging/frontend_sdist/setup.py: "pip-inside-pip hack"
    {"tensorrt tensorrt-cu1* tensorrt-lean* tensorrt-dispatch*",
     of_nvidia,
     {{{"setup.py", "NVIDIA_PIP_INDEX_URL", downloads}}}},
    // NVIDIA/cudf, issue 16804; NVIDIA/cuml, 6940; rapidsai/cugraph, 5135; wheelnext/wheel-stub, README.md:
    // "a "soft link" between a package released on a 3rd party package index"
    {"cudf-cu1* cuml-cu1* cugraph-cu1* libcugraph-cu1* nx-cugraph-cu1*",
     of_nvidia,
     {{{"", "wheel_stub.buildapi", downloads}, {"", "nvidia_stub.buildapi", downloads}}}},
    {"cudf", "the public index has a placeholder of this name: want cudf-cu12 or cudf-cu13"},
    // NVIDIA/DALI, issues 2067 and 3776: "only a defensive package that reserves the DALI package name"
    {"nvidia-dali",
     "the public index has a placeholder of this name: want nvidia-dali-cuda120 or nvidia-dali-cuda130"},
    {"nvidia-dali-cuda1* nvidia-tensorrt pytorch-quantization",
     placeholder,
     {{{"setup.py", "is only a placeholder project on PyPI.org", only_fails},
       {"ERROR.txt", "is only a placeholder project on PyPI.org", only_fails}}}},
    // pytorch 1.0.2
    {"pytorch",
     "its sdist only fails: \"The package named for PyTorch is torch\"",
     {{{"setup.py", "You tried to install \"", only_fails}}}},
    // scikit-learn/sklearn-pypi-package, README.md
    {"sklearn", "its sdists only fail, and name scikit-learn"},
}};

}  // namespace

std::string why_stub(std::string_view project) {
    for (const auto& stub : stubs) {
        for (std::string_view name : base::split(stub.projects, ' ')) {
            const bool begins = name.ends_with('*');
            if (begins) name.remove_suffix(1);
            if (begins ? project.starts_with(name) : project == name) return std::string(stub.why);
        }
    }
    return "";
}

std::vector<StubMark> stub_marks() {
    std::vector<StubMark> marks;
    for (const auto& stub : stubs)
        std::copy_if(stub.marks.begin(), stub.marks.end(), std::back_inserter(marks),
                     [](const StubMark& mark) { return !mark.text.empty(); });
    return marks;
}

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

// The queries that a plan needs: the packages, and those whose sources must be known.
using wheel::Version;

std::vector<Want> wanted_packages(const Site& site, const Recipes& recipes) {
    std::vector<Want> wants = site.wants;
    for (const auto& want : site.wants) {
        for (const auto& package : want.follow_ups) {
            Want companion{package, {}, want.pythons};
            for (const auto& [own, other] : recipes.of(package).against_versions)
                companion.versions.push_back(own);
            wants.push_back(std::move(companion));
        }
    }
    return wants;
}

bool needs_offers(const Want& want, const Recipe& recipe, const World& world) {
    if (want.uploaded || want.of_closure) return false;  // a closure names a version and a file
    if (recipe.source == SourceKind::path || recipe.source == SourceKind::tarball) return false;
    for (const auto& text : want.versions) {
        const auto exact = Version::parse(text);
        if (!exact) return true;
        if (recipe.source == SourceKind::git) continue;  // the fetch shows whether the source exists
        const auto page = world.published.find(want.package);
        const bool published =
            page != world.published.end() && page->second && *page->second &&
            std::any_of((*page->second)->files.begin(), (*page->second)->files.end(), [&](const auto& f) {
                const auto name = wheel::parse_wheel_filename(f.filename);
                return name && name->version.compare_public(*exact) == std::strong_ordering::equal;
            });
        const bool tried =
            std::any_of(world.attempts.begin(), world.attempts.end(), [&](const Attempt& attempt) {
                return attempt.asked.package == want.package &&
                       without_label(attempt.asked.version) == exact->text();
            });
        if (!published && !tried) return true;
    }
    return false;
}

}  // namespace wheelyard::builder
