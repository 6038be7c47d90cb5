// A lock file that works on NFS and Lustre, where POSIX locks are unreliable. It is created with link(2) and
// records host, pid, process start time and the last refresh. A holder on this host is checked directly (pid
// and start time). A holder on another host counts as alive until `stale_after_ms` after its last refresh;
// both times come from the file system's clock (on NFS the server's), because hosts' clocks differ.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::base {

struct LockHolder {
    std::string host;
    std::int64_t pid = 0;
    std::uint64_t process_start = 0;  // field 22 of /proc/PID/stat
    UnixMicros refreshed = 0;         // on the holder's clock, for messages only
};

class LockFile {
  public:
    // Error "lock.held" if a live process holds the lock; the sentence names host, pid and time.
    [[nodiscard]] static Result<LockFile> acquire(const std::filesystem::path& path, const Clock& clock,
                                                  std::int64_t stale_after_ms);
    LockFile(LockFile&& other) noexcept;
    LockFile& operator=(LockFile&&) = delete;
    LockFile(const LockFile&) = delete;
    LockFile& operator=(const LockFile&) = delete;
    ~LockFile();  // releases

    // Renews the timestamp. Error "lock.lost" if another process has taken the lock over.
    [[nodiscard]] Status refresh(const Clock& clock);

  private:
    LockFile(std::filesystem::path path, std::string token)
        : path_(std::move(path)), token_(std::move(token)) {}
    std::filesystem::path path_;
    std::string token_;
};

// Field 22 of /proc/PID/stat (start time in clock ticks since boot); 0 if the process does not exist. The
// pair of pid and start time identifies a process until the machine reboots.
[[nodiscard]] std::uint64_t process_start_time(std::int64_t pid);
[[nodiscard]] std::string host_name();

}  // namespace wheelyard::base
