// A kind of node that wheels are fetched for: a Python and a platform, "3.12" and "manylinux_2_28_aarch64".
// Pure.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/simple/lock.hpp"
#include "lib/simple/page.hpp"
#include "lib/wheel/marker.hpp"
#include "lib/wheel/tags.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::registry {

struct Target {
    std::string python;                // "3.12"
    std::string platform;              // a tag's: "manylinux_2_28_aarch64"
    std::vector<wheel::Tag> tags;      // that pip accepts there, best first
    wheel::MarkerEnvironment markers;  // of a Linux node with CPython
    [[nodiscard]] std::string text() const { return "Python " + python + " on " + platform; }
};

// Errors "prefetch.python", "prefetch.platform".
[[nodiscard]] base::Result<Target> make_target(const std::string& python, const std::string& platform);

// The packages of the lock for such a node, with the lock's default groups; `file` is for messages. Error
// "prefetch.lock": any package has no version (a folder, a repository), or a wheel without an SHA-256.
[[nodiscard]] base::Result<std::vector<const simple::LockedPackage*>> packages_for(
    const simple::Lock& lock, const std::filesystem::path& file, const Target& target);

// The wheel that pip prefers there of those of this version; nullptr: none runs there. Yanked wheels count:
// the version is exact. With a label: likewise of the variant wheels (PEP 825) with it.
[[nodiscard]] const simple::FileLink* choose_wheel(const simple::ProjectPage& page,
                                                   const wheel::Version& version, const Target& target,
                                                   const std::optional<std::string>& label = std::nullopt);
// The wheel of each label that choose_wheel() prefers there. `locked`: the hashes of a lock, which leaves
// others out; nullptr: there is none.
[[nodiscard]] std::vector<const simple::FileLink*> choose_variants(const simple::ProjectPage& page,
                                                                   const wheel::Version& version,
                                                                   const Target& target,
                                                                   const std::set<std::string>* locked);

}  // namespace wheelyard::registry
