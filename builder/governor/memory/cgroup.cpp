// Reads control groups. No function fails: a missing file means no limit.
#include "builder/governor/memory/cgroup.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "builder/governor/memory/limits.hpp"
#include "lib/base/files/fd.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace {

// Version 1 reports "no limit" as the largest page-aligned number.
constexpr std::uint64_t v1_unlimited = std::uint64_t{1} << 60;

std::optional<std::string> read(const std::string& path) {
    auto text = base::read_file(path, max_proc_file_bytes);
    if (!text) return std::nullopt;
    return std::move(*text);
}

std::optional<std::uint64_t> read_number(const std::string& path) {
    const auto text = read(path);
    return text ? base::parse_decimal(base::trim(*text)) : std::nullopt;
}

// mountinfo escapes space, tab, newline and backslash as \ooo.
std::string unescape_octal(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto octal = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '7'; };
        if (text[i] == '\\' && i + 3 < text.size() && octal(i + 1) && octal(i + 2) && octal(i + 3)) {
            plain +=
                static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
            i += 3;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

// The group of `controller` and its ancestors that have the file `probe`, as paths below the mount point.
std::vector<std::string> levels_of(const std::string& root, std::string_view controller, const char* probe) {
    const auto groups = read(root + "/proc/self/cgroup");
    const auto mounts = read(root + "/proc/self/mountinfo");
    if (!groups || !mounts) return {};
    const auto group = group_of(*groups, controller);
    const auto mount = mount_of(*mounts, controller);
    if (!group || !mount) return {};
    std::string below = *group;
    // A mount may show only a part of the hierarchy (containers); in a cgroup namespace "/" is our own group.
    const auto& top = mount->mount_root;
    if (top != "/" && below.starts_with(top) && (below.size() == top.size() || below[top.size()] == '/')) {
        below = below.substr(top.size());
    } else if (top != "/") {
        below.clear();
    }
    if (below.find("..") != std::string::npos) below.clear();  // outside our cgroup namespace
    std::vector<std::string> levels;
    while (true) {
        while (!below.empty() && below.back() == '/')
            below.pop_back();
        std::string path = mount->mount_point + below;
        if (base::file_size(root + path + "/" + probe)) levels.push_back(std::move(path));
        if (below.empty()) return levels;
        below.resize(below.rfind('/') == std::string::npos ? 0 : below.rfind('/'));
    }
}

}  // namespace

std::optional<std::string> group_of(std::string_view proc_self_cgroup, std::string_view controller) {
    for (const auto line : base::split_lines(proc_self_cgroup)) {  // "4:memory:/a/b", "0::/a/b"
        const auto first = line.find(':');
        const auto second = first == std::string_view::npos ? first : line.find(':', first + 1);
        if (second == std::string_view::npos) continue;
        const auto controllers = line.substr(first + 1, second - first - 1);
        const auto names = base::split(controllers, ',');
        if (std::find(names.begin(), names.end(), controller) == names.end()) continue;
        if (controller.empty() && line.substr(0, first) != "0") continue;
        return std::string(line.substr(second + 1));
    }
    return std::nullopt;
}

std::optional<CgroupMount> mount_of(std::string_view mountinfo, std::string_view controller) {
    for (const auto line : base::split_lines(mountinfo)) {
        const auto dash = line.find(" - ");
        if (dash == std::string_view::npos) continue;
        const auto front = base::split(line.substr(0, dash), ' ');
        const auto back = base::split(line.substr(dash + 3), ' ');
        if (front.size() < 5 || back.size() < 3) continue;
        const auto options = base::split(back[2], ',');
        const bool wanted = controller.empty()
                                ? back[0] == "cgroup2"
                                : back[0] == "cgroup" &&
                                      std::find(options.begin(), options.end(), controller) != options.end();
        if (wanted) return CgroupMount{unescape_octal(front[4]), unescape_octal(front[3])};
    }
    return std::nullopt;
}

std::optional<std::uint64_t> field_of(std::string_view text, std::string_view name) {
    for (const auto line : base::split_lines(text)) {
        if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ' ') {
            return base::parse_decimal(base::trim(line.substr(name.size() + 1)));
        }
    }
    return std::nullopt;
}

std::vector<Cgroup> find_memory_cgroups(const std::string& root) {
    std::vector<Cgroup> found;
    // A hybrid machine mounts both versions; the memory controller belongs to one of them.
    for (auto& path : levels_of(root, "memory", "memory.limit_in_bytes"))
        found.push_back({1, std::move(path)});
    if (found.empty()) {
        for (auto& path : levels_of(root, "", "memory.max"))
            found.push_back({2, std::move(path)});
    }
    return found;
}

std::optional<std::uint64_t> Cgroup::limit(const std::string& root) const {
    const auto value = read_number(root + path + (version == 1 ? "/memory.limit_in_bytes" : "/memory.max"));
    if (!value || (version == 1 && *value >= v1_unlimited)) return std::nullopt;  // v2 writes "max"
    return value;
}

std::optional<std::uint64_t> Cgroup::throttle_limit(const std::string& root) const {
    return version == 1 ? std::nullopt : read_number(root + path + "/memory.high");  // "max": no limit
}

std::optional<CgroupUsage> Cgroup::usage(const std::string& root) const {
    const auto now = read_number(root + path + (version == 1 ? "/memory.usage_in_bytes" : "/memory.current"));
    if (!now) return std::nullopt;
    CgroupUsage usage;
    usage.now = *now;
    usage.peak = read_number(root + path + (version == 1 ? "/memory.max_usage_in_bytes" : "/memory.peak"))
                     .value_or(*now);
    if (const auto stat = read(root + path + "/memory.stat")) {
        const std::string prefix = version == 1 ? "total_" : "";
        for (const char* name : {"inactive_file", "active_file"})
            usage.cache += field_of(*stat, prefix + name).value_or(0);
    }
    return usage;
}

std::optional<std::uint64_t> Cgroup::used(const std::string& root) const {
    const auto all = usage(root);
    return all ? std::optional(all->used()) : std::nullopt;
}

bool Cgroup::reset_peak(const std::string& root) const {
    // Version 2 resets memory.peak only for readers of the written descriptor, which would have to stay open.
    if (version != 1) return false;
    const base::Fd fd(::open((root + path + "/memory.max_usage_in_bytes").c_str(), O_WRONLY | O_CLOEXEC));
    return fd && ::write(fd.get(), "0", 1) == 1;
}

std::uint64_t Cgroup::oom_kills(const std::string& root) const {
    const auto text = read(root + path + (version == 1 ? "/memory.oom_control" : "/memory.events"));
    return text ? field_of(*text, "oom_kill").value_or(0) : 0;
}

std::optional<std::uint64_t> free_pids(const std::string& root) {
    std::optional<std::uint64_t> least;
    auto levels = levels_of(root, "pids", "pids.max");
    if (levels.empty()) levels = levels_of(root, "", "pids.max");
    for (const auto& level : levels) {
        const auto most = read_number(root + level + "/pids.max");
        if (!most) continue;
        const auto now = read_number(root + level + "/pids.current").value_or(0);
        const std::uint64_t left = *most > now ? *most - now : 0;
        if (!least || left < *least) least = left;
    }
    return least;
}

std::optional<double> cpu_quota(const std::string& root) {
    std::optional<double> least;
    const auto consider = [&](std::optional<std::uint64_t> quota, std::optional<std::uint64_t> period) {
        if (!quota || !period || *quota == 0 || *period == 0) return;
        const double cores = static_cast<double>(*quota) / static_cast<double>(*period);
        if (!least || cores < *least) least = cores;
    };
    for (const auto& level : levels_of(root, "cpu", "cpu.cfs_quota_us")) {  // "-1", no limit, does not parse
        consider(read_number(root + level + "/cpu.cfs_quota_us"),
                 read_number(root + level + "/cpu.cfs_period_us"));
    }
    for (const auto& level : levels_of(root, "", "cpu.max")) {  // "200000 100000" or "max 100000"
        const auto text = read(root + level + "/cpu.max");
        if (!text) continue;
        const auto parts = base::split(base::trim(*text), ' ');
        if (parts.size() == 2) consider(base::parse_decimal(parts[0]), base::parse_decimal(parts[1]));
    }
    return least;
}

}  // namespace wheelyard::governor
