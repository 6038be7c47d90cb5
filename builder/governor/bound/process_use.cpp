// Reads /proc/PID/stat of every process, and of those below the root what the question needs.
#include "builder/governor/bound/bound.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "lib/base/files/fd.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace {

constexpr std::uint64_t block_bytes = 512;  // of st_blocks, stat(2)

struct CloseFolder {
    void operator()(DIR* folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

// The beginning of a /proc file; empty: it cannot be read.
std::string head_of(const std::string& path) {
    std::array<char, 4096> buffer;
    const base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return {};
    const auto got = ::read(fd.get(), buffer.data(), buffer.size());
    return got <= 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(got));
}

std::string path_of(pid_t pid, const char* file) {
    return "/proc/" + std::to_string(pid) + "/" + file;
}

template <class Visit>
void each_process(Visit visit) {
    const Folder proc(::opendir("/proc"));
    if (!proc) return;
    while (const auto* entry = ::readdir(proc.get())) {
        if (const auto pid = base::parse_decimal(entry->d_name)) visit(static_cast<pid_t>(*pid));
    }
}

// The name in parentheses may contain anything, so the fields are counted from the last ')' (proc(5)).
std::optional<ProcessSeen> see(pid_t pid) {
    static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::string text = head_of(path_of(pid, "stat"));
    const auto name_end = text.rfind(')');
    if (name_end == std::string::npos || name_end + 2 > text.size()) return std::nullopt;
    const auto fields = base::split(std::string_view(text).substr(name_end + 2), ' ');
    constexpr std::size_t parent = 1, first_time = 11, last_time = 14, threads = 17, resident = 21;
    if (fields.size() <= resident) return std::nullopt;
    static const auto ticks = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
    std::uint64_t used = 0;
    for (std::size_t at = first_time; at <= last_time; ++at)
        used += base::parse_decimal(fields[at]).value_or(0);
    return ProcessSeen{pid, static_cast<pid_t>(base::parse_decimal(fields[parent]).value_or(0)),
                       base::parse_decimal(fields[threads]).value_or(0),
                       base::parse_decimal(fields[resident]).value_or(0) * page, used * 1000 / ticks};
}

// The line "NAME   123 kB"; nullopt: the kernel or the process does not show it.
std::optional<std::uint64_t> bytes_in(const std::string& path, std::string_view name) {
    const std::string text = head_of(path);
    for (const auto line : base::split_lines(text)) {
        if (!line.starts_with(name)) continue;
        const auto size = base::trim(line.substr(name.size()));
        const auto kilobytes = base::parse_decimal(size.substr(0, size.find(' ')));
        if (kilobytes) return *kilobytes * base::kib;
    }
    return std::nullopt;
}

// Its number in the innermost PID namespace ("NSpid:", proc(5)); 0: it is in no namespace below ours, or
// gone.
std::uint64_t number_in_namespace(pid_t pid) {
    const std::string text = head_of(path_of(pid, "status"));
    for (const auto line : base::split_lines(text)) {
        if (!line.starts_with("NSpid:")) continue;
        const auto numbers = base::trim(line.substr(6));
        const auto last = numbers.find_last_of(" \t");
        if (last == std::string_view::npos) return 0;
        return base::parse_decimal(numbers.substr(last + 1)).value_or(0);
    }
    return 0;
}

template <class Visit>  // of the path of each descriptor in /proc
void each_descriptor(pid_t pid, Visit visit) {
    const std::string path = path_of(pid, "fd");
    const Folder folder(::opendir(path.c_str()));
    if (!folder) return;
    while (const auto* entry = ::readdir(folder.get())) {
        if (entry->d_name[0] != '.') visit(path + "/" + entry->d_name);
    }
}

// The pipes of a process, and whether it can write them.
std::map<ino_t, bool> pipes_of(pid_t pid) {
    std::map<ino_t, bool> pipes;
    each_descriptor(pid, [&](const std::string& path) {
        struct stat status {};
        struct stat link {};  // the permissions of the link are those of the descriptor (proc(5))
        if (::stat(path.c_str(), &status) != 0 || !S_ISFIFO(status.st_mode)) return;
        if (::lstat(path.c_str(), &link) == 0) pipes[status.st_ino] |= (link.st_mode & S_IWUSR) != 0;
    });
    return pipes;
}

// The processes that lost their parent, and their descendants.
std::set<pid_t> orphans_among(const std::vector<ProcessSeen>& processes, pid_t root, pid_t command) {
    std::map<pid_t, pid_t> parents;
    for (const auto& process : processes)
        parents.emplace(process.pid, process.parent);
    std::set<pid_t> orphans;
    std::set<pid_t> adopters{root};
    for (const auto& process : processes) {
        if (number_in_namespace(process.pid) == 1) adopters.insert(process.pid);
    }
    for (const auto& process : processes) {
        // Up to the one whose parent is an adopter. The first process of a namespace starts the second one
        // itself.
        pid_t top = process.pid;
        for (std::size_t steps = 0; steps < processes.size(); ++steps) {
            const auto parent = parents.find(top);
            if (parent == parents.end() || adopters.contains(parent->second)) break;
            top = parent->second;
        }
        const bool is_started = top == command || adopters.contains(top) || number_in_namespace(top) == 2;
        if (!is_started && parents.contains(top)) orphans.insert(process.pid);
    }
    return orphans;
}

}  // namespace

std::vector<ProcessSeen> descendants_of(pid_t root) {
    std::multimap<pid_t, ProcessSeen> by_parent;
    each_process([&](pid_t pid) {
        if (const auto seen = see(pid)) by_parent.emplace(seen->parent, *seen);
    });
    std::vector<ProcessSeen> found;
    std::vector<pid_t> open{root};
    while (!open.empty()) {
        const auto [begin, end] = by_parent.equal_range(open.back());
        open.pop_back();
        for (auto at = begin; at != end; ++at) {
            found.push_back(at->second);
            open.push_back(at->first == at->second.pid ? 0 : at->second.pid);
        }
        by_parent.erase(begin, end);  // read one after the other, two may name each other
    }
    return found;
}

std::uint64_t threads_of(const std::vector<ProcessSeen>& processes) {
    std::uint64_t threads = 0;
    for (const auto& process : processes)
        threads += std::max<std::uint64_t>(process.threads, 1);
    return threads;
}

std::uint64_t memory_of(const std::vector<ProcessSeen>& processes, std::uint64_t limit) {
    std::uint64_t total = 0;
    for (const auto& process : processes)
        total += process.resident_bytes;
    if (total <= limit) return total;
    total = 0;
    for (const auto& process : processes)
        total += bytes_in(path_of(process.pid, "smaps_rollup"), "Pss:").value_or(process.resident_bytes);
    return total;
}

DeletedFiles deleted_files_of(const std::vector<ProcessSeen>& processes) {
    DeletedFiles deleted;
    std::set<std::pair<dev_t, ino_t>> known;
    for (const auto& process : processes) {
        each_descriptor(process.pid, [&](const std::string& path) {
            struct stat status {};
            if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 0)
                return;
            if (!known.emplace(status.st_dev, status.st_ino).second) return;
            struct statfs system {};
            const bool in_memory = ::statfs(path.c_str(), &system) == 0 && system.f_type == TMPFS_MAGIC;
            (in_memory ? deleted.memory_bytes : deleted.disk_bytes) +=
                static_cast<std::uint64_t>(status.st_blocks) * block_bytes;
        });
    }
    return deleted;
}

std::vector<HeldPipe> held_pipes(const std::vector<ProcessSeen>& processes, pid_t root, pid_t command) {
    const auto orphans = orphans_among(processes, root, command);
    if (orphans.empty()) return {};
    std::map<ino_t, HeldPipe> pipes;
    std::set<ino_t> written;  // by processes that have a parent
    for (const auto& process : processes) {
        const bool is_orphan = orphans.contains(process.pid);
        for (const auto& [pipe, writes] : pipes_of(process.pid)) {
            HeldPipe& held = pipes[pipe];
            held.pipe = pipe;
            if (is_orphan && writes) held.holders.push_back(process.pid);
            if (!is_orphan && writes) written.insert(pipe);
            if (!is_orphan && !writes) held.reader = process.pid;
        }
    }
    std::vector<HeldPipe> held;
    for (const auto& [pipe, one] : pipes) {
        if (one.reader != 0 && !one.holders.empty() && !written.contains(pipe)) held.push_back(one);
    }
    return held;
}

std::uint64_t available_memory() {
    return bytes_in("/proc/meminfo", "MemAvailable:").value_or(UINT64_MAX);
}

std::uint64_t threads_of_user() {
    std::uint64_t threads = 0;
    each_process([&](pid_t pid) {
        struct stat status {};
        if (::stat(path_of(pid, "stat").c_str(), &status) != 0 || status.st_uid != ::getuid()) return;
        if (const auto seen = see(pid)) threads += std::max<std::uint64_t>(seen->threads, 1);
    });
    return threads;
}

std::string name_of(pid_t pid) {
    return std::string(base::trim(head_of(path_of(pid, "comm"))));
}

}  // namespace wheelyard::governor
