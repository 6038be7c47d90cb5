#include "registry/upstream/prefetch/target.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>
#include <utility>

#include "lib/wheel/filename.hpp"
#include "lib/wheel/marker.hpp"

namespace wheelyard::registry {
namespace {

std::optional<int> python_minor(std::string_view text) {
    if (!text.starts_with("3.")) return std::nullopt;
    int minor = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + 2, end, minor);
    if (error != std::errc{} || rest != end || minor < 0) return std::nullopt;
    return minor;
}

}  // namespace

base::Result<Target> make_target(const std::string& python, const std::string& platform) {
    const auto minor = python_minor(python);
    if (!minor)
        return base::fail("prefetch.python", "This is not a version of Python", python,
                          "write it as 3.12; each --python is one version");
    const wheel::Platform parsed = wheel::parse_platform(platform);
    if (parsed.kind != wheel::PlatformKind::manylinux)
        return base::fail("prefetch.platform", "This is not a platform of nodes", platform,
                          "write it as in wheels' names: manylinux_2_28_aarch64 is glibc 2.28 on aarch64");
    Target target{.python = python, .platform = platform, .tags = {}, .markers = {}};
    target.tags = wheel::supported_tags({.python_minor = *minor,
                                         .machine = parsed.machine,
                                         .glibc_major = parsed.libc_major,
                                         .glibc_minor = parsed.libc_minor});
    target.markers = wheel::linux_markers(python, parsed.machine);
    return target;
}

base::Result<std::vector<const simple::LockedPackage*>> packages_for(const simple::Lock& lock,
                                                                     const std::filesystem::path& file,
                                                                     const Target& target) {
    auto environment = target.markers;
    environment["dependency_groups"] = lock.chosen_groups;
    std::vector<const simple::LockedPackage*> packages;
    for (const simple::LockedPackage& package : lock.packages) {
        if (!package.version || !package.has_all_hashes)
            return base::fail("prefetch.lock",
                              file.native() + ": The package has no version, or a wheel without an SHA-256",
                              package.name,
                              "a lock for `prefetch` has packages of indexes only, with hashes");
        if (!package.marker || package.marker->evaluate(environment)) packages.push_back(&package);
    }
    return packages;
}

const simple::FileLink* choose_wheel(const simple::ProjectPage& page, const wheel::Version& version,
                                     const Target& target, const std::optional<std::string>& label) {
    const simple::FileLink* best = nullptr;
    std::size_t best_position = 0;
    std::optional<wheel::BuildTag> best_build;
    for (const simple::FileLink& link : page.files) {
        auto name = wheel::parse_wheel_filename(link.filename);
        if (!name || name->variant != label || !(name->version == version)) continue;
        const auto position = wheel::best_position(name->tags, target.tags);
        if (!position) continue;
        // As pip: the better tag, then the higher build number.
        const bool is_better = best == nullptr || *position < best_position ||
                               (*position == best_position && best_build < name->build);
        if (!is_better) continue;
        best = &link;
        best_position = *position;
        best_build = std::move(name->build);
    }
    return best;
}

std::vector<const simple::FileLink*> choose_variants(const simple::ProjectPage& page,
                                                     const wheel::Version& version, const Target& target,
                                                     const std::set<std::string>* locked) {
    std::set<std::string> labels;
    for (const simple::FileLink& link : page.files) {
        const auto name = wheel::parse_wheel_filename(link.filename);
        if (name && name->variant && name->version == version) labels.insert(*name->variant);
    }
    std::vector<const simple::FileLink*> variants;
    for (const std::string& label : labels) {
        const simple::FileLink* const link = choose_wheel(page, version, target, label);
        if (link != nullptr && (locked == nullptr || locked->contains(link->sha256)))
            variants.push_back(link);
    }
    return variants;
}

}  // namespace wheelyard::registry
