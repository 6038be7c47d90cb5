// supported_tags() has the order of packaging.tags.sys_tags(), verified with golden lists: exact ABI, stable
// ABI, no ABI, older stable ABIs, then the py tags; within each, platforms from the most specific to the
// oldest.
#include "lib/wheel/tags.hpp"

#include <algorithm>
#include <array>

#include "lib/base/text/text.hpp"
#include "lib/wheel/excerpt.hpp"
#include "lib/wheel/limits.hpp"

namespace wheelyard::wheel {
namespace {

struct LegacyManylinux {
    std::string_view name;
    int minor;  // of glibc 2
};
// PEP 513, 571 and 599, as PEP 600 maps them.
constexpr std::array<LegacyManylinux, 3> legacy_manylinux{
    {{"manylinux2014", 17}, {"manylinux2010", 12}, {"manylinux1", 5}}};

constexpr int oldest_x86_glibc_minor = 5;     // manylinux1
constexpr int oldest_other_glibc_minor = 17;  // manylinux2014
constexpr int last_minor_of_older_glibc =
    50;  // packaging's assumption for the last glibc 2.x, should glibc 3 exist
constexpr int oldest_stable_abi_minor = 2;  // PEP 384: Python 3.2
constexpr int newest_minor = 200;           // bounds the lists for invalid environments

std::string join_tag(std::string_view a, std::string_view b) {
    std::string text(a);
    text += '_';
    text += b;
    return text;
}

bool is_tag_text(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return base::is_ascii_alnum(c) || c == '_'; });
}

// "2_28_x86_64" → 2, 28, "x86_64".
std::optional<Platform> parse_libc_platform(PlatformKind kind, std::string_view text) {
    const auto first = text.find('_');
    if (first == std::string_view::npos) return std::nullopt;
    const auto second = text.find('_', first + 1);
    if (second == std::string_view::npos || second + 1 == text.size()) return std::nullopt;
    const auto major = base::parse_decimal(text.substr(0, first));
    const auto minor = base::parse_decimal(text.substr(first + 1, second - first - 1));
    constexpr std::uint64_t max = 9999;
    if (!major || !minor || *major > max || *minor > max) return std::nullopt;
    return Platform{kind, static_cast<int>(*major), static_cast<int>(*minor),
                    std::string(text.substr(second + 1))};
}

std::vector<std::string> machines_of(const std::string& machine) {
    if (machine == "armv8l") return {"armv8l", "armv7l"};  // a 32-bit Python on 64-bit ARM
    return {machine};
}

void add_manylinux(std::vector<std::string>& platforms, const std::vector<std::string>& machines,
                   const Environment& environment) {
    const auto is_known = [](const std::string& machine) {
        return std::find(linux_machines.begin(), linux_machines.end(), machine) != linux_machines.end();
    };
    if (std::none_of(machines.begin(), machines.end(), is_known)) return;
    const bool is_x86 = machines.front() == "x86_64" || machines.front() == "i686";
    const int oldest_minor = is_x86 ? oldest_x86_glibc_minor : oldest_other_glibc_minor;
    for (const auto& machine : machines) {
        for (int major = environment.glibc_major; major >= 2; --major) {
            const int newest =
                major == environment.glibc_major ? environment.glibc_minor : last_minor_of_older_glibc;
            const int oldest = major == 2 ? oldest_minor : 0;
            for (int minor = std::min(newest, newest_minor); minor >= oldest; --minor) {
                platforms.push_back("manylinux_" + std::to_string(major) + "_" + std::to_string(minor) + "_" +
                                    machine);
                for (const auto& legacy : legacy_manylinux) {
                    if (major == 2 && minor == legacy.minor)
                        platforms.push_back(join_tag(legacy.name, machine));
                }
            }
        }
    }
}

std::vector<std::string> supported_platforms(const Environment& environment) {
    const auto machines = machines_of(environment.machine);
    std::vector<std::string> platforms;
    for (const auto& machine : machines)
        platforms.push_back("linux_" + machine);
    if (environment.glibc_major <= last_minor_of_older_glibc) add_manylinux(platforms, machines, environment);
    if (environment.musl_major > 0) {
        for (const auto& machine : machines) {
            for (int minor = std::min(environment.musl_minor, newest_minor); minor >= 0; --minor) {
                platforms.push_back("musllinux_" + std::to_string(environment.musl_major) + "_" +
                                    std::to_string(minor) + "_" + machine);
            }
        }
    }
    return platforms;
}

std::string version_digits(int major, int minor) {
    return std::to_string(major) + std::to_string(minor);
}

void add_for_platforms(std::vector<Tag>& tags, const std::string& python, const std::string& abi,
                       const std::vector<std::string>& platforms) {
    for (const auto& platform : platforms)
        tags.push_back({python, abi, platform});
}

// ABI flags: "m" for pymalloc builds before 3.8, "u" for wide Unicode before 3.3, "t" for free-threaded
// builds (3.13 and later), "d" for debug builds.
std::string cpython_abi(const Environment& environment) {
    std::string abi = "cp" + version_digits(environment.python_major, environment.python_minor);
    const auto before = [&](int minor) {
        return environment.python_major < 3 ||
               (environment.python_major == 3 && environment.python_minor < minor);
    };
    if (environment.free_threaded) abi += 't';
    if (environment.debug) abi += 'd';
    if (before(8)) abi += 'm';
    if (before(3)) abi += 'u';
    return abi;
}

void add_cpython(std::vector<Tag>& tags, const Environment& environment,
                 const std::vector<std::string>& platforms) {
    const std::string python = "cp" + version_digits(environment.python_major, environment.python_minor);
    // PEP 803: free-threaded builds have the stable ABI abi3t and cannot load abi3.
    const std::string stable_abi = environment.free_threaded ? "abi3t" : "abi3";
    const bool has_stable_abi =
        environment.python_major > 3 ||
        (environment.python_major == 3 && environment.python_minor >= oldest_stable_abi_minor);
    add_for_platforms(tags, python, cpython_abi(environment), platforms);
    // Debug builds load the modules of release builds since 3.8.
    constexpr int loads_release_minor = 8;
    if (environment.debug &&
        (environment.python_major > 3 || environment.python_minor >= loads_release_minor)) {
        Environment release = environment;
        release.debug = false;
        add_for_platforms(tags, python, cpython_abi(release), platforms);
    }
    if (has_stable_abi) add_for_platforms(tags, python, stable_abi, platforms);
    add_for_platforms(tags, python, "none", platforms);
    if (!has_stable_abi) return;
    for (int minor = environment.python_minor - 1; minor >= oldest_stable_abi_minor; --minor) {
        add_for_platforms(tags, "cp" + version_digits(environment.python_major, minor), stable_abi,
                          platforms);
    }
}

void add_pypy(std::vector<Tag>& tags, const Environment& environment,
              const std::vector<std::string>& platforms) {
    const auto digits = version_digits(environment.python_major, environment.python_minor);
    add_for_platforms(tags, "pp" + digits, "pypy" + digits + "_" + environment.pypy_abi, platforms);
    add_for_platforms(tags, "pp" + digits, "none", platforms);
}

}  // namespace

std::string Tag::text() const {
    return python + "-" + abi + "-" + platform;
}

base::Result<std::vector<Tag>> parse_tag_set(std::string_view text) {
    const auto invalid = [&](std::string sentence) {
        return base::fail("tag.invalid", std::move(sentence), excerpt(text),
                          "e.g. py3-none-any, cp312-cp312-linux_x86_64");
    };
    const auto lower = base::ascii_lower(text);
    const auto parts = base::split(lower, '-');
    if (parts.size() != 3) return invalid("A compatibility tag must have three parts: Python, ABI, platform");
    std::array<std::vector<std::string_view>, 3> choices;
    std::size_t combinations = 1;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        choices[i] = base::split(parts[i], '.');
        combinations *= choices[i].size();
        if (choices[i].size() > max_tags || combinations > max_tags) {
            return invalid("This compressed tag set expands to too many tags");
        }
        if (!std::all_of(choices[i].begin(), choices[i].end(), is_tag_text)) {
            return invalid(
                "Each part of a compatibility tag must be letters, digits and underscores, and not empty");
        }
    }
    for (const auto python : choices[0]) {
        if (base::is_ascii_digit(python.front())) return invalid("A Python tag must not begin with a digit");
    }
    std::vector<Tag> tags;
    tags.reserve(combinations);
    for (const auto python : choices[0]) {
        for (const auto abi : choices[1]) {
            for (const auto platform : choices[2]) {
                tags.push_back({std::string(python), std::string(abi), std::string(platform)});
            }
        }
    }
    std::sort(tags.begin(), tags.end());
    tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
    return tags;
}

Platform parse_platform(std::string_view platform) {
    if (platform == "any") return {PlatformKind::any, 0, 0, {}};
    for (const auto& legacy : legacy_manylinux) {
        if (platform.starts_with(join_tag(legacy.name, "")) && platform.size() > legacy.name.size() + 1) {
            return {PlatformKind::manylinux, 2, legacy.minor,
                    std::string(platform.substr(legacy.name.size() + 1))};
        }
    }
    struct Prefix {
        std::string_view text;
        PlatformKind kind;
    };
    constexpr std::array<Prefix, 2> prefixes{
        {{"manylinux_", PlatformKind::manylinux}, {"musllinux_", PlatformKind::musllinux}}};
    for (const auto& prefix : prefixes) {
        if (!platform.starts_with(prefix.text)) continue;
        auto parsed = parse_libc_platform(prefix.kind, platform.substr(prefix.text.size()));
        return parsed ? *parsed : Platform{};
    }
    constexpr std::string_view linux = "linux_";
    if (platform.starts_with(linux) && platform.size() > linux.size()) {
        return {PlatformKind::linux, 0, 0, std::string(platform.substr(linux.size()))};
    }
    return {};
}

std::vector<Tag> supported_tags(const Environment& asked) {
    Environment environment = asked;
    environment.python_minor = std::clamp(asked.python_minor, 0, newest_minor);
    const auto platforms = supported_platforms(environment);
    std::vector<Tag> tags;
    if (environment.cpython) {
        add_cpython(tags, environment, platforms);
    } else {
        add_pypy(tags, environment, platforms);
    }
    const auto major = std::to_string(environment.python_major);
    std::vector<std::string> pure{"py" + version_digits(environment.python_major, environment.python_minor),
                                  "py" + major};
    for (int minor = environment.python_minor - 1; minor >= 0; --minor) {
        pure.push_back("py" + version_digits(environment.python_major, minor));
    }
    for (const auto& python : pure)
        add_for_platforms(tags, python, "none", platforms);
    const auto interpreter = environment.cpython
                                 ? "cp" + version_digits(environment.python_major, environment.python_minor)
                                 : "pp" + major;
    tags.push_back({interpreter, "none", "any"});
    for (const auto& python : pure)
        tags.push_back({python, "none", "any"});
    return tags;
}

std::optional<std::size_t> best_position(const std::vector<Tag>& tags, const std::vector<Tag>& supported) {
    const auto best = std::find_first_of(supported.begin(), supported.end(), tags.begin(), tags.end());
    if (best == supported.end()) return std::nullopt;
    return static_cast<std::size_t>(best - supported.begin());
}

}  // namespace wheelyard::wheel
