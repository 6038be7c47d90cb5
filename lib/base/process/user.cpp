#include "lib/base/process/user.hpp"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <system_error>

namespace wheelyard::base {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t name_bytes = 16 * 1024;  // of an entry of the system's list of users
constexpr int max_links = 40;                  // as the kernel follows (path_resolution(7))
constexpr uid_t no_user = static_cast<uid_t>(-1);
constexpr gid_t no_group = static_cast<gid_t>(-1);

// Set before other threads start.
std::optional<Owner>& became() {
    static std::optional<Owner> owner;
    return owner;
}

// Neither call reports a failure; each gives the user or group before.
uid_t set_file_user(uid_t user) {
    return static_cast<uid_t>(::setfsuid(user));
}
gid_t set_file_group(gid_t group) {
    return static_cast<gid_t>(::setfsgid(group));
}

// Leaving root takes its capabilities for files away, coming back returns them (capabilities(7), "Effect of
// user ID changes on capabilities").
void act_as(const Owner& owner) {
    set_file_group(owner.group);
    set_file_user(owner.user);
}

enum class Wanted { file, folder, any };

std::string fault_of(const std::string& path, Wanted wanted) {
    struct stat status {};
    const char* const what = wanted == Wanted::folder ? "Folder" : wanted == Wanted::file ? "File" : "Path";
    const bool is_readable =
        ::stat(path.c_str(), &status) == 0 && ::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) == 0;
    const int error = errno;
    if (!is_readable && (error == ENOENT || error == ENOTDIR))
        return std::string(what) + " does not exist: " + path;
    if (!is_readable)
        return std::generic_category().message(error) + " as user " + user_name(::geteuid()) + ": " + path;
    if (wanted == Wanted::file && S_ISDIR(status.st_mode)) return "File is a folder: " + path;
    if (wanted == Wanted::folder && !S_ISDIR(status.st_mode)) return "Folder is a file: " + path;
    return {};
}

}  // namespace

std::string user_name(uid_t user) {
    std::string buffer(name_bytes, '\0');
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
        return found->pw_name;
    return std::to_string(user);
}

std::optional<Owner> other_owner_of(const fs::path& folder) {
    if (::geteuid() != 0) return std::nullopt;
    std::error_code error;
    const fs::path whole = fs::absolute(folder, error);
    std::deque<fs::path> left(whole.begin(), whole.end());
    fs::path reached;
    struct stat status {};
    Owner owner;
    for (int links = 0; !left.empty(); left.pop_front()) {
        if (left.front().empty()) continue;
        const fs::path next = reached / left.front();
        if (::lstat(next.c_str(), &status) != 0) break;
        owner = {status.st_uid, status.st_gid};
        if (!S_ISLNK(status.st_mode)) {
            reached = next;
            continue;
        }
        if (owner.user != 0 || ++links > max_links) break;
        const fs::path target = fs::read_symlink(next, error);
        left.insert(left.begin() + 1, target.begin(), target.end());
    }
    return owner.user == 0 ? std::nullopt : std::optional(owner);
}

void become_owner_of(const fs::path& folder) {
    const auto owner = other_owner_of(folder);
    if (!owner) return;
    // With the groups that the user has: a key may be readable by one.
    const std::string name = user_name(owner->user);
    if (::initgroups(name.c_str(), owner->group) != 0) return;
    act_as(*owner);
    if (set_file_user(no_user) == owner->user)
        became() = owner;
    else
        set_file_group(::getegid());
}

Status stay_owner_of(const fs::path& folder) {
    const auto owner = other_owner_of(folder);
    if (!owner) return {};
    const std::string name = user_name(owner->user);
    if (::initgroups(name.c_str(), owner->group) == 0 &&
        ::setresgid(owner->group, owner->group, owner->group) == 0 &&
        ::setresuid(owner->user, owner->user, owner->user) == 0)
        return {};
    return fail("process.user", "This process cannot become the user who owns the folder", folder.string(),
                "run it as " + name);
}

std::string fault_of_file(const std::string& path) {
    return fault_of(path, Wanted::file);
}
std::string fault_of_folder(const std::string& path) {
    return fault_of(path, Wanted::folder);
}
std::string fault_of_path(const std::string& path) {
    return fault_of(path, Wanted::any);
}

ActingAs::ActingAs(FileUser user)
    : user_(became() ? set_file_user(no_user) : no_user),
      group_(became() ? set_file_group(no_group) : no_group) {
    if (!became()) return;
    act_as(user == FileUser::owner ? *became() : Owner{::geteuid(), ::getegid()});
}

ActingAs::~ActingAs() {
    if (user_ != no_user) act_as({user_, group_});
}

}  // namespace wheelyard::base
