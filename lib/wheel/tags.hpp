// Compatibility tags (PEP 425) and what an environment accepts, in pip's order of preference: manylinux (PEP
// 600 and its legacy names), musllinux (PEP 656), generic linux_*.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::wheel {

struct Tag {
    std::string python;                      // "cp312"
    std::string abi;                         // "cp312", "abi3", "none"
    std::string platform;                    // "linux_aarch64", "manylinux_2_28_x86_64", "any"
    [[nodiscard]] std::string text() const;  // "cp312-cp312-linux_aarch64"
    auto operator<=>(const Tag&) const = default;
};

// "py2.py3-none-any" → the set it stands for, sorted. Error "tag.invalid" (empty part, wrong characters, not
// three parts, more than 1,000 combinations).
[[nodiscard]] base::Result<std::vector<Tag>> parse_tag_set(std::string_view text);

// A platform tag taken apart: "manylinux2014_x86_64" → {manylinux, 2, 17, "x86_64"}.
enum class PlatformKind { any, manylinux, musllinux, linux, other };
struct Platform {
    PlatformKind kind = PlatformKind::other;
    int libc_major = 0;  // glibc or musl; 0 for linux, any, other
    int libc_minor = 0;
    std::string machine;  // "x86_64"; empty for any and other
};
[[nodiscard]] Platform parse_platform(std::string_view platform);

// A Python and a machine that wheels may be meant for.
struct Environment {
    int python_major = 3;
    int python_minor = 11;
    bool cpython = true;         // else PyPy: only py tags and `pp` tags of the version
    bool free_threaded = false;  // cp313t
    std::string machine = "x86_64";
    int glibc_major = 0;  // 0.0: no glibc
    int glibc_minor = 0;
    int musl_major = 0;
    int musl_minor = 0;
};

// Every tag that pip would accept there, best first, in the order of packaging.tags.sys_tags().
[[nodiscard]] std::vector<Tag> supported_tags(const Environment& environment);

// Position of the best of `tags` in `supported` (0 is best), or nullopt: not installable.
[[nodiscard]] std::optional<std::size_t> best_position(const std::vector<Tag>& tags,
                                                       const std::vector<Tag>& supported);

}  // namespace wheelyard::wheel
