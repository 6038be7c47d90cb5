// A lock (PEP 751: pylock.toml): packages of exact versions, and what decides whether each is for a machine.
//
//     lock-version = "1.0"
//     requires-python = ">=3.9"
//     [[packages]]
//     name = "torch"
//     version = "2.6.0"
//     marker = "platform_machine == 'aarch64'"
//     wheels = [{ url = "https://…", hashes = { sha256 = "4f3a…" } }]
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/limits.hpp"
#include "lib/base/result.hpp"
#include "lib/wheel/marker.hpp"
#include "lib/wheel/specifier.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::simple {

inline constexpr std::uint64_t max_lock_bytes =
    64 * base::mib;  // a package has a line for each of its wheels
inline constexpr std::size_t max_locked_packages = 20'000;

enum class LockSource { wheels, sdist, archive, directory, vcs, none };

struct LockedPackage {
    std::string name;                       // as the lock spells it
    std::string project;                    // normalised (PEP 503)
    std::optional<wheel::Version> version;  // its key, else that of a file's name; a source tree has none
    wheel::SpecifierSet exact = {};         // "==2.6.0"; of a package without a version: any
    std::optional<wheel::Marker> marker = {};
    LockSource source = LockSource::none;  // sdist: nothing but an sdist
    // Its wheels: the SHA-256 (empty: the lock has none) by the file name, in wheel::spelling_key().
    std::map<std::string, std::string> wheels = {};
    std::set<std::string> sha256s = {};  // of its wheels
    bool has_all_hashes = true;          // each of its wheels has an SHA-256
    wheel::SpecifierSet requires_python = {};
};

struct Lock {
    std::string created_by;
    wheel::SpecifierSet requires_python;
    std::vector<wheel::Marker> environments;  // empty: any
    std::vector<std::string> extras;          // normalised, as the groups
    std::vector<std::string> groups;          // dependency groups, with the default ones
    // What its markers hold for, separated by spaces as they have it: at first no extra and the default
    // groups.
    std::string chosen_extras;
    std::string chosen_groups;
    std::vector<LockedPackage> packages;
    std::string warning;  // empty: none
};

// By its name: pylock.toml or pylock.NAME.toml.
[[nodiscard]] bool is_lock(const std::filesystem::path& file);

// Pure; `file` is for messages. Keys that are not known are ignored; a newer minor version gives a warning
// that names them. Errors: "config.*" with line and column, "lock.version", "lock.too_many".
[[nodiscard]] base::Result<Lock> parse_lock(std::string_view text, const std::filesystem::path& file);
// Chooses extras, and groups in place of the default ones; none: those. Error "lock.undeclared".
[[nodiscard]] base::Status choose_of_lock(Lock& lock, const std::vector<std::string>& extras,
                                          const std::vector<std::string>& groups);
[[nodiscard]] base::Result<Lock> read_lock(const std::filesystem::path& file);

}  // namespace wheelyard::simple
