// Reads /proc/PID/task/PID/children and /proc/PID/statm: two short reads per process, no scan of /proc.
#include "builder/governor/memory/process_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "builder/governor/memory/limits.hpp"
#include "lib/base/files/fd.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace {

constexpr std::size_t max_read_processes = 512;  // for the largest outside of compiles
constexpr std::size_t max_tree_processes = 512;  // per compile

struct Memory {
    double private_bytes = 0, shared_bytes = 0;
};

// The first 4095 bytes of a /proc file.
std::string_view read_head(const char* path, std::array<char, 4096>& buffer) {
    const base::Fd fd(::open(path, O_RDONLY | O_CLOEXEC));
    if (!fd) return {};
    const auto got = ::read(fd.get(), buffer.data(), buffer.size() - 1);
    if (got <= 0) return {};
    buffer[static_cast<std::size_t>(got)] = '\0';
    return {buffer.data(), static_cast<std::size_t>(got)};
}

Memory memory_of(pid_t pid) {
    static const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
    std::array<char, 64> path;
    std::array<char, 4096> buffer;
    std::snprintf(path.data(), path.size(), "/proc/%d/statm", pid);
    unsigned long long size = 0, resident = 0, shared = 0;  // proc(5): in pages
    const auto text = read_head(path.data(), buffer);
    if (text.empty() || std::sscanf(text.data(), "%llu %llu %llu", &size, &resident, &shared) != 3) return {};
    const auto held = static_cast<double>(resident) * page, common = static_cast<double>(shared) * page;
    return {std::max(0.0, held - common), common};
}

void add_children(pid_t pid, std::vector<pid_t>& into) {
    std::array<char, 64> path;
    std::array<char, 4096> buffer;
    // Only the main thread's children: compiler drivers fork from no other thread.
    std::snprintf(path.data(), path.size(), "/proc/%d/task/%d/children", pid, pid);
    for (const auto word : base::split(read_head(path.data(), buffer), ' ')) {
        if (const auto child = base::parse_decimal(base::trim(word)))
            into.push_back(static_cast<pid_t>(*child));
    }
}

// The children that any of its threads started: cargo and Python start processes from threads.
void add_children_of_threads(pid_t pid, std::vector<pid_t>& into) {
    std::array<char, 64> path;
    std::array<char, 4096> buffer;
    std::snprintf(path.data(), path.size(), "/proc/%d/task", pid);
    DIR* threads = ::opendir(path.data());
    if (threads == nullptr) return;
    while (const auto* entry = ::readdir(threads)) {
        const auto thread = base::parse_decimal(entry->d_name);
        if (!thread) continue;
        std::snprintf(path.data(), path.size(), "/proc/%d/task/%d/children", pid, static_cast<int>(*thread));
        for (const auto word : base::split(read_head(path.data(), buffer), ' ')) {
            if (const auto child = base::parse_decimal(base::trim(word)))
                into.push_back(static_cast<pid_t>(*child));
        }
    }
    ::closedir(threads);
}

// From "Name:\trustc\n…VmHWM:\t  123456 kB\n".
ProcessPeak peak_of(pid_t pid) {
    std::array<char, 64> path;
    std::array<char, 4096> buffer;
    std::snprintf(path.data(), path.size(), "/proc/%d/status", pid);
    ProcessPeak peak;
    for (const auto line : base::split_lines(read_head(path.data(), buffer))) {
        if (line.starts_with("Name:")) peak.name = base::trim(line.substr(5));
        if (!line.starts_with("VmHWM:")) continue;
        const auto size = base::trim(line.substr(6));
        peak.bytes =
            static_cast<double>(base::parse_decimal(size.substr(0, size.find(' '))).value_or(0)) * kib;
    }
    return peak;
}

}  // namespace

ProcessPeak largest_process(pid_t root, const std::set<pid_t>& without) {
    ProcessPeak largest;
    std::vector<pid_t> tree;
    add_children_of_threads(root, tree);
    for (std::size_t i = 0; i < tree.size() && i < max_read_processes; ++i) {
        if (without.contains(tree[i])) continue;
        if (auto peak = peak_of(tree[i]); peak.bytes > largest.bytes) largest = std::move(peak);
        add_children_of_threads(tree[i], tree);
    }
    return largest;
}

double tree_bytes(pid_t pid) {
    std::vector<pid_t> tree{pid};
    double total = 0, shared = 0;
    for (std::size_t i = 0; i < tree.size() && i < max_tree_processes; ++i) {
        const auto memory = memory_of(tree[i]);
        total += memory.private_bytes;
        shared = std::max(shared, memory.shared_bytes);
        add_children(tree[i], tree);
    }
    return total + shared;
}

std::vector<pid_t> members_of(pid_t group, pid_t session) {
    std::vector<pid_t> members;
    DIR* proc = ::opendir("/proc");
    if (proc == nullptr) return members;
    while (const auto* entry = ::readdir(proc)) {
        const auto pid = base::parse_decimal(entry->d_name);
        if (!pid) continue;
        std::array<char, 64> path;
        std::array<char, 4096> buffer;
        std::snprintf(path.data(), path.size(), "/proc/%llu/stat", static_cast<unsigned long long>(*pid));
        struct stat status {};
        const auto text = read_head(path.data(), buffer);
        const auto name_end = text.rfind(')');  // "pid (name) state ppid pgrp session …"
        if (name_end == std::string_view::npos) continue;
        char state = 0;
        int parent = 0, its_group = 0, its_session = 0;
        if (std::sscanf(text.data() + name_end + 1, " %c %d %d %d", &state, &parent, &its_group,
                        &its_session) == 4 &&
            its_group == group && its_session == session && ::stat(path.data(), &status) == 0 &&
            status.st_uid == ::getuid()) {
            members.push_back(static_cast<pid_t>(*pid));
        }
    }
    ::closedir(proc);
    return members;
}

}  // namespace wheelyard::governor
