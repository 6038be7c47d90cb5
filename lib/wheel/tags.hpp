// Compatibility tags (PEP 425) and the tags that an environment accepts, in pip's order of preference:
// manylinux (PEP 600 and its legacy names), musllinux (PEP 656), generic linux_*.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::wheel {

// The machines of Linux wheels, as `uname -m` prints them: those of manylinux (PEP 600), the common ones
// first.
inline constexpr std::array<std::string_view, 9> linux_machines{
    "x86_64", "aarch64", "ppc64le", "s390x", "riscv64", "i686", "armv7l", "loongarch64", "ppc64"};

struct Tag {
    std::string python;                      // "cp312"
    std::string abi;                         // "cp312", "abi3", "none"
    std::string platform;                    // "linux_aarch64", "manylinux_2_28_x86_64", "any"
    [[nodiscard]] std::string text() const;  // "cp312-cp312-linux_aarch64"
    auto operator<=>(const Tag&) const = default;
};

// Expands "py2.py3-none-any" to a sorted set. Error "tag.invalid": an empty part, invalid characters, not
// three parts, more than 1,000 combinations.
[[nodiscard]] base::Result<std::vector<Tag>> parse_tag_set(std::string_view text);

// A parsed platform tag: "manylinux2014_x86_64" → {manylinux, 2, 17, "x86_64"}.
enum class PlatformKind { any, manylinux, musllinux, linux, other };
struct Platform {
    PlatformKind kind = PlatformKind::other;
    int libc_major = 0;  // glibc or musl; 0 for linux, any, other
    int libc_minor = 0;
    std::string machine;  // "x86_64"; empty for any and other
};
[[nodiscard]] Platform parse_platform(std::string_view platform);

// A target environment: a Python interpreter and a machine.
struct Environment {
    int python_major = 3;
    int python_minor = 11;
    bool cpython = true;         // otherwise PyPy: only py tags and the version's pp tags
    bool free_threaded = false;  // cp313t
    bool debug = false;          // cp313d, which also loads the modules of a release build
    std::string pypy_abi = "pp73";
    std::string machine = "x86_64";
    int glibc_major = 0;  // 0.0: not glibc
    int glibc_minor = 0;
    int musl_major = 0;
    int musl_minor = 0;
};

// All tags that pip accepts in the environment, best first, in the order of packaging.tags.sys_tags().
[[nodiscard]] std::vector<Tag> supported_tags(const Environment& environment);

// The lowest position of any of `tags` in `supported` (0 is best); nullopt: not installable.
[[nodiscard]] std::optional<std::size_t> best_position(const std::vector<Tag>& tags,
                                                       const std::vector<Tag>& supported);

}  // namespace wheelyard::wheel
