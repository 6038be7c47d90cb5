#include "registry/store/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>

#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/log.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::uint64_t max_lock_bytes = 64;  // a process id and a line end
constexpr std::int64_t store_lock_wait_ms = 300;
constexpr std::int64_t store_lock_poll_ms = 10;

std::string file_of(const std::filesystem::path& store) {
    return (store / "serve.lock").string();
}

// A command that looks for a server has the lock for some microseconds.
bool lock_in_time(const base::Fd& file) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(store_lock_wait_ms);
    while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK || std::chrono::steady_clock::now() >= deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(store_lock_poll_ms));
    }
    return true;
}

// nullopt: nobody has the lock.
base::Result<std::optional<base::Fd>> open_held(const std::string& file) {
    base::Fd lock(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!lock && errno == ENOENT) return std::nullopt;
    if (!lock) return base::fail_errno("open", file, errno);
    if (::flock(lock.get(), LOCK_SH | LOCK_NB) == 0) return std::nullopt;
    return lock;
}

// Whether the process has `file` open. A number from another PID namespace, such as a container's, means nothing here.
// True if this user may not look: then it may not send a signal to another user's process either.
bool may_have_open(pid_t process, const base::Fd& file) {
    struct stat wanted {};
    if (::fstat(file.get(), &wanted) != 0) return true;
    std::error_code error;
    std::filesystem::directory_iterator entry("/proc/" + std::to_string(process) + "/fd", error), end;
    for (; !error && entry != end; entry.increment(error)) {
        struct stat found {};
        if (::stat(entry->path().c_str(), &found) == 0 && found.st_dev == wanted.st_dev &&
            found.st_ino == wanted.st_ino)
            return true;
    }
    return error == std::errc::permission_denied;
}

// A lock that root's command creates must not keep the server of another user from starting.
base::Status give_to_owner_of(const std::filesystem::path& store, const base::Fd& file) {
    struct stat of_store {};
    if (::geteuid() != 0) return {};
    if (::stat(store.c_str(), &of_store) != 0 || ::fchown(file.get(), of_store.st_uid, of_store.st_gid) != 0)
        return base::fail_errno("chown", file_of(store), errno);
    return {};
}

}  // namespace

base::Result<base::Fd> lock_store(const std::filesystem::path& store, StoreUser user) {
    const std::string file = file_of(store);
    constexpr mode_t owner_and_group = 0640;
    base::Fd lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, owner_and_group));
    if (!lock) return base::fail_errno("open", file, errno);
    if (lock_in_time(lock)) {
        if (::ftruncate(lock.get(), 0) != 0) return base::fail_errno("truncate", file, errno);
        WHEELYARD_TRY(give_to_owner_of(store, lock));
        if (user == StoreUser::server)
            WHEELYARD_TRY(base::write_all(lock.get(), std::to_string(::getpid()) + "\n"));
        return lock;
    }
    if (errno == EWOULDBLOCK)
        return base::fail_as(base::ErrorKind::busy, base::Recovery::person,
                             {"serve.running", "Another server serves this store", store.string(),
                              "stop it first, or give this one another configuration"});
    // Some file systems have no locks; there, nothing keeps a second server away.
    io::log_warn("serve.no_lock", {{"file", file}, {"error", std::strerror(errno)}});
    return lock;
}

base::Result<std::optional<pid_t>> find_server(const std::filesystem::path& store) {
    const std::string file = file_of(store);
    WHEELYARD_ASSIGN(const auto lock, open_held(file));
    if (!lock) return std::nullopt;
    WHEELYARD_ASSIGN(const std::string text, base::read_file(*lock, file, max_lock_bytes));
    const auto number = base::parse_decimal(base::trim(text));
    constexpr std::uint64_t max_pid = 1 << 22;  // Linux's PID_MAX_LIMIT
    if (number && *number > 0 && *number <= max_pid) {
        const auto server = static_cast<pid_t>(*number);
        if (may_have_open(server, *lock)) return server;
        return base::fail_as(base::ErrorKind::busy, base::Recovery::person,
                             {"index.elsewhere", "The server of this store cannot be reached from here", file,
                              "run this command where the server runs (its container, its machine), as its "
                              "user or as root"});
    }
    return base::fail_as(base::ErrorKind::busy, base::Recovery::retry,
                         {"index.busy", "A command changes the indexes, or a server starts", file,
                          "repeat this command in a moment"});
}

base::Result<bool> server_runs(const std::filesystem::path& store) {
    WHEELYARD_ASSIGN(const auto lock, open_held(file_of(store)));
    return lock.has_value();
}

}  // namespace wheelyard::registry
