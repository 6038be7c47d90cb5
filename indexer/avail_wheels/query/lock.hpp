// A lock (PEP 751: pylock.toml): packages of exact versions, and what decides whether each is for a node.
//
//     lock-version = "1.0"
//     requires-python = ">=3.9"
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

#include "indexer/avail_wheels/query/query.hpp"

namespace wheelyard::avail_wheels {

enum class LockSource { wheels, sdist, archive, directory, vcs, none };

struct LockedPackage {
    Wanted wanted;                          // "torch==2.6.0", with its marker and the lock's default groups
    std::optional<wheel::Version> version;  // a source tree has none
    LockSource source = LockSource::none;   // sdist: nothing but an sdist
    std::set<std::string> sha256s = {};     // of its wheels
    bool has_all_hashes = true;             // each of its wheels has an SHA-256
    wheel::SpecifierSet requires_python = {};
};

struct Lock {
    std::string created_by;
    wheel::SpecifierSet requires_python;
    std::vector<wheel::Marker> environments;  // empty: any
    std::vector<LockedPackage> packages;
    std::string warning;  // empty: none
};

// Pure; `file` is for messages. Markers are evaluated with no extra and the default groups. Keys that are not known are
// ignored; a newer minor version gives a warning that names them. Errors: "config.*" with line and column,
// "lock.version", "lock.too_many".
[[nodiscard]] base::Result<Lock> parse_lock(std::string_view text, const std::filesystem::path& file);
[[nodiscard]] base::Result<Lock> read_lock(const std::filesystem::path& file);

}  // namespace wheelyard::avail_wheels
