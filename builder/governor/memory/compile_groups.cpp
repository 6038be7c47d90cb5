// Creates and removes directories of the cgroup file system. After any failure the broker samples processes.
#include "builder/governor/memory/compile_groups.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "builder/governor/memory/limits.hpp"
#include "lib/base/files/fd.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "wheelyard-governor.";

// A control file takes the whole value in one write(2).
bool write_control(const std::string& path, std::string_view value) {
    const base::Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    return fd && ::write(fd.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

std::string read_control(const std::string& path) {
    auto text = base::read_file(path, max_proc_file_bytes);
    return text ? std::string(base::trim(*text)) : std::string();
}

// Says whether a child of this process may join the group. Permissions also depend on the common ancestor
// (cgroup-v2.rst, "Delegation Containment"), so the only reliable check is to try.
bool can_join(const std::string& procs) {
    const pid_t pid = ::fork();
    if (pid < 0) return false;
    if (pid == 0) ::_exit(write_control(procs, "0") ? 0 : 1);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Removes a group and its descendants. The kernel refuses to remove a group that holds a process.
void remove_groups(const fs::path& folder) {
    std::error_code error;
    for (const auto& below : fs::directory_iterator(folder, error)) {
        if (below.is_directory(error) && !below.is_symlink(error)) remove_groups(below.path());
    }
    ::rmdir(folder.c_str());
}

}  // namespace

CompileGroups CompileGroups::make(const std::string& root, const std::vector<Cgroup>& own, pid_t build) {
    CompileGroups groups;
    if (own.empty()) return groups;
    const std::string above = root + own.front().path;
    // Without use_hierarchy, memory of child groups is not charged to the parent (cgroup-v1/memory.rst, 6),
    // so a compile would escape the limit.
    if (own.front().version == 1 && read_control(above + "/memory.use_hierarchy") == "0") return groups;
    const std::string folder = own.front().path + "/" + std::string(prefix) + std::to_string(build);
    if (::mkdir((root + folder).c_str(), 0755) != 0) return groups;
    groups.root_ = root;
    groups.own_ = own.front().path;
    groups.version_ = own.front().version;
    groups.folder_ = folder;
    const bool ready = groups.version_ == 1 || groups.delegate_memory();
    const std::string procs = ready ? groups.take(0) : "";
    if (procs.empty() || !can_join(procs)) return {};
    return groups;
}

CompileGroups::CompileGroups(CompileGroups&& other) noexcept
    : root_(std::move(other.root_)),
      own_(std::move(other.own_)),
      folder_(std::exchange(other.folder_, {})),
      version_(other.version_),
      moved_(std::exchange(other.moved_, false)),
      made_(other.made_),
      lanes_(std::move(other.lanes_)) {}

CompileGroups::~CompileGroups() {
    if (!usable()) return;
    remove_groups(root_ + folder_);
    if (!moved_) return;
    undelegate_memory();
    remove_groups(root_ + folder_);
}

// Version 2: a group can enable a controller for its children only while it holds no process. This process
// must be the only one in its group; it moves into a child group.
bool CompileGroups::delegate_memory() {
    const std::string own = root_ + own_, folder = root_ + folder_;
    const std::string controllers = read_control(own + "/cgroup.subtree_control");
    const auto enabled = base::split(controllers, ' ');
    if (std::find(enabled.begin(), enabled.end(), "memory") == enabled.end()) {
        if (read_control(own + "/cgroup.procs") != std::to_string(::getpid())) return false;
        const std::string child = folder + "/build";
        if (::mkdir(child.c_str(), 0755) != 0 || !write_control(child + "/cgroup.procs", "0")) return false;
        moved_ = true;
        if (!write_control(own + "/cgroup.subtree_control", "+memory")) return false;
    }
    return write_control(folder + "/cgroup.subtree_control", "+memory");
}

// Reverts delegate_memory(). While memory is enabled for children, the group accepts no process.
void CompileGroups::undelegate_memory() const {
    const std::string own = root_ + own_;
    write_control(root_ + folder_ + "/cgroup.subtree_control", "-memory");
    write_control(own + "/cgroup.subtree_control", "-memory");
    write_control(own + "/cgroup.procs", "0");
}

bool CompileGroups::make_lane(unsigned lane) {
    const std::string path = folder_ + "/" + std::to_string(made_);
    if (::mkdir((root_ + path).c_str(), 0755) != 0) return false;
    ++made_;
    lanes_[lane] = {version_, path};
    // The OOM killer then kills the whole compile, not one of its processes.
    if (version_ == 2) write_control(root_ + path + "/memory.oom.group", "1");
    return true;
}

bool CompileGroups::is_empty(const Cgroup& group) const {
    return read_control(root_ + group.path + "/cgroup.procs").empty();
}

std::string CompileGroups::take(unsigned lane) {
    if (!usable()) return {};
    const auto found = lanes_.find(lane);
    if (found != lanes_.end() && is_empty(found->second)) {
        // Version 2 cannot reset the peak, so the lane gets a new group.
        if (found->second.reset_peak(root_)) return root_ + found->second.path + "/cgroup.procs";
        ::rmdir((root_ + found->second.path).c_str());
    }
    // A group that still holds a left-over process stays until the destructor removes it.
    if (!make_lane(lane)) return {};
    return root_ + lanes_.at(lane).path + "/cgroup.procs";
}

GroupUse CompileGroups::use(unsigned lane) const {
    GroupUse use;
    const auto found = lanes_.find(lane);
    if (found == lanes_.end()) return use;
    const auto usage = found->second.usage(root_);
    if (!usage) return use;
    use.bytes = static_cast<double>(usage->used());
    use.peak_bytes = static_cast<double>(usage->peak_without_cache());
    return use;
}

std::uint64_t CompileGroups::kills(unsigned lane) const {
    const auto found = lanes_.find(lane);
    return found == lanes_.end() ? 0 : found->second.oom_kills(root_);
}

void CompileGroups::kill_all(unsigned lane) const {
    const auto found = lanes_.find(lane);
    if (found == lanes_.end()) return;
    const auto procs = read_control(root_ + found->second.path + "/cgroup.procs");
    for (const auto line : base::split_lines(procs)) {
        const auto pid = base::parse_decimal(line);
        if (pid && *pid > 1) ::kill(static_cast<pid_t>(*pid), SIGKILL);
    }
}

void remove_stale_groups(const std::string& root, const std::vector<Cgroup>& own) {
    for (const auto& group : own) {
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(root + group.path, error)) {
            const std::string name = entry.path().filename();
            if (!name.starts_with(prefix)) continue;
            const auto pid = base::parse_decimal(std::string_view(name).substr(prefix.size()));
            if (!pid || ::kill(static_cast<pid_t>(*pid), 0) == 0 || errno != ESRCH) continue;
            remove_groups(entry.path());
        }
    }
}

}  // namespace wheelyard::governor
