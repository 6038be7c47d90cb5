// The packages of a lock file (PEP 751: pylock.toml), with what is needed to find their wheels on the pages of an index.
//
//     [[packages]]
//     name = "torch"
//     version = "2.6.0"
//     marker = "platform_machine == 'aarch64'"
//     wheels = [{ url = "https://…", hashes = { sha256 = "4f3a…" } }]
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/wheel/marker.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::registry {

struct LockedPackage {
    std::string project;  // normalised
    wheel::Version version;
    std::optional<wheel::Marker> marker = {};
    std::set<std::string> sha256s = {};  // of its wheels; empty: the lock has none
};

[[nodiscard]] bool is_pylock(const std::filesystem::path& file);  // by its name

// Pure; `file` is for messages. Errors "config.*", "prefetch.lock": a package without a version (a folder, a
// repository), an invalid marker or hash.
[[nodiscard]] base::Result<std::vector<LockedPackage>> parse_pylock(std::string_view text,
                                                                    const std::filesystem::path& file);

}  // namespace wheelyard::registry
