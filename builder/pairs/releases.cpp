// From project pages and metadata to releases.
#include "builder/pairs/releases.hpp"

#include <algorithm>
#include <tuple>

#include "builder/pairs/wheel_metadata.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/marker.hpp"
#include "lib/wheel/metadata.hpp"

namespace wheelyard::builder {
namespace {

struct Wheel {
    simple::FileLink link;
    const Listing* listing;
    wheel::WheelFilename name;
};

constexpr unsigned last_minor = 99;  // no Python 3 is newer

// "cp311", "py311" → 3.11; nullopt: of no particular Python 3.
std::optional<wheel::Version> python_of(const std::string& tag) {
    const bool is_python_3 = tag.starts_with("cp3") || tag.starts_with("py3");
    if (!is_python_3 || !base::parse_decimal(tag.substr(3))) return std::nullopt;
    const auto parsed = wheel::Version::parse("3." + tag.substr(3));
    return parsed ? std::optional(*parsed) : std::nullopt;
}

bool is_for_linux(const Wheel& wheel) {
    return std::any_of(wheel.name.platforms.begin(), wheel.name.platforms.end(), [](const std::string& one) {
        return one == "any" || one.find("linux_") != std::string::npos ||
               one.find("linux1_") != std::string::npos || one.find("linux2") != std::string::npos;
    });
}

// The wheel whose metadata is read: for Linux, of most users' machine, by name.
const Wheel* representative(const std::vector<Wheel>& wheels) {
    const auto rank = [](const Wheel& one) {
        const bool is_common = one.link.filename.find("x86_64") != std::string::npos;
        return std::tuple(!one.link.has_metadata, !is_common, one.link.filename);
    };
    const Wheel* best = nullptr;
    for (const auto& one : wheels) {
        if (!is_for_linux(one)) continue;
        if (best == nullptr || rank(one) < rank(*best)) best = &one;
    }
    return best;
}

Release release_of(const std::vector<Wheel>& wheels, const wheel::Version& version) {
    Release release{version};
    bool per_python = false;
    for (const auto& one : wheels) {
        release.has_wheel = true;
        const bool is_abi3 =
            std::find(one.name.abis.begin(), one.name.abis.end(), "abi3") != one.name.abis.end();
        const bool is_stable = is_abi3 || std::any_of(one.name.pythons.begin(), one.name.pythons.end(),
                                                      [](auto& tag) { return tag.starts_with("py3"); });
        release.is_pure = release.is_pure || one.name.platforms.front() == "any";
        per_python = per_python || !is_stable;
        for (const auto& tag : one.name.pythons) {
            const auto python = is_stable ? std::nullopt : python_of(tag);
            if (python && (!release.newest_python || *release.newest_python < *python))
                release.newest_python = python;
        }
    }
    release.one_for_all = release.has_wheel && !per_python;
    return release;
}

// Where the wheel is installed: a Linux machine, and the oldest Python that the wheel is for; of one for all Pythons the newest,
// which lacks the markers of what older ones need.
wheel::MarkerEnvironment environment_of(const Wheel& wheel, const std::string& requires_python) {
    std::string machine = wheel::parse_platform(wheel.name.platforms.front()).machine;
    if (machine.empty()) machine = "x86_64";
    const auto own = python_of(wheel.name.pythons.front());
    return wheel::linux_markers(
        own ? own->text() : oldest_python(requires_python).value_or("3." + std::to_string(last_minor)),
        machine);
}

base::Status read_metadata(io::HttpClient& http, const Wheel& wheel, Release& release) {
    WHEELYARD_ASSIGN(const auto text, metadata_of(http, wheel.link, wheel.listing->folder));
    wheel::Faults faults;
    WHEELYARD_ASSIGN(const auto metadata, wheel::parse_metadata(text, &faults));
    release.requires_python = metadata.requires_python;
    const auto environment = environment_of(wheel, metadata.requires_python);
    for (const auto& line : metadata.requires_dist) {
        const auto requirement = wheel::Requirement::parse(line);
        if (requirement && (!requirement->marker || requirement->marker->evaluate(environment)))
            release.requirements.push_back(*requirement);
    }
    return {};
}

}  // namespace

std::optional<std::string> oldest_python(const std::string& requires_python) {
    const auto set = wheel::SpecifierSet::parse(requires_python);
    const auto allows = [&](unsigned minor) {
        // The last release of a minor version: ">=3.9.2" allows some of 3.9.
        return set->contains(*wheel::Version::parse("3." + std::to_string(minor) + ".999"),
                             wheel::Prereleases::allowed);
    };
    if (!set || allows(0)) return std::nullopt;
    for (unsigned minor = 1; minor <= last_minor; ++minor) {
        if (allows(minor)) return "3." + std::to_string(minor);
    }
    return std::nullopt;
}

std::string page_for_people(const std::string& index, const std::string& project) {
    auto url = base::parse_url(index);
    if (url && url->host == "pypi.org") return "https://pypi.org/project/" + project + "/";
    if (url) url->userinfo.clear();
    const std::string place = url ? url->text() : index;
    return place + (place.ends_with('/') ? "" : "/") + project + "/";
}

base::Result<Project> read_project(Places& places, io::HttpClient& http, const std::string& name,
                                   const IsWanted& is_wanted) {
    Project project;
    std::vector<std::string> asked;
    std::optional<base::Error> unanswered;
    WHEELYARD_ASSIGN(const auto listings, places.ask(name, asked, unanswered));
    if (unanswered) project.problems.push_back(unanswered->text());
    std::map<wheel::Version, std::vector<Wheel>> by_version;
    for (const auto& listing : listings) {
        for (const auto& link : listing.page.files) {
            const auto parsed = wheel::parse_wheel_filename(link.filename);
            const auto sdist = wheel::parse_sdist_filename(link.filename, name);
            if ((!parsed && !sdist) || link.yanked) continue;
            const wheel::Version& version = parsed ? parsed->version : sdist->version;
            const std::string& of = parsed ? parsed->project : sdist->project;
            if (version.is_prerelease() || version.has_local() || of != name) continue;
            auto& wheels = by_version[version];
            if (parsed) wheels.push_back({link, &listing, *parsed});
            if (project.source.empty()) project.source = page_for_people(listing.place, name);
        }
    }
    for (const auto& [version, wheels] : by_version) {
        Release release = release_of(wheels, version);
        const Wheel* wheel = representative(wheels);
        if (wheel != nullptr && is_wanted(version)) {
            if (auto read = read_metadata(http, *wheel, release); !read) {
                if (read.error().advice.empty())
                    read.error().advice = "nothing is proposed from this release: read its METADATA";
                project.problems.push_back(wheel->link.filename + ": " + read.error().text());
            }
        }
        project.releases.push_back(std::move(release));
    }
    return project;
}

}  // namespace wheelyard::builder
