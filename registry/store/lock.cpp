#include "registry/store/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include "lib/base/process/process.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/io/log.hpp"
#include "registry/config/config.hpp"
#include "registry/config/config_place.hpp"

namespace wheelyard::registry {

namespace {

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

}  // namespace

base::Result<base::Fd> lock_store(const std::filesystem::path& store) {
    const std::string file = file_of(store);
    constexpr mode_t owner_and_group = 0640;
    base::Fd lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, owner_and_group));
    if (!lock) return base::fail_errno("open", file, errno);
    if (lock_in_time(lock)) return lock;
    if (errno == EWOULDBLOCK)
        return base::fail_as(base::ErrorKind::busy, base::Recovery::person,
                             {"serve.running", "Another server serves this store", store.string(),
                              "stop it first, or give this one another configuration"});
    // Some file systems have no locks; there, nothing keeps a second server away.
    io::log_warn("serve.no_lock", {{"file", file}, {"error", std::strerror(errno)}});
    return lock;
}

base::Result<bool> server_runs(const std::filesystem::path& store) {
    const std::string file = file_of(store);
    const base::Fd lock(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!lock && errno == ENOENT) return false;
    if (!lock) return base::fail_errno("open", file, errno);
    return ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0;
}

std::optional<base::Owner> other_owner_of_usual_store() {
    const std::filesystem::path file = find_config_file(base::current_environment());
    if (file.empty()) return std::nullopt;
    const auto config = read_config(file);
    return config ? base::other_owner_of(config->store) : std::nullopt;
}

std::string note_of_root(const std::filesystem::path& store) {
    if (::geteuid() != 0 || base::other_owner_of(store)) return "";
    std::error_code ignored;
    const bool is_there = std::filesystem::exists(store, ignored);
    return std::string("the store is ") + (is_there ? "root's" : "not there, and root's folder is above it") +
           ": a server of another user needs `" +
           (is_there ? "chown -R USER: " : "install -d -o USER -m 711 ") + base::quote_shell(store.string()) +
           "`\n";
}

}  // namespace wheelyard::registry
