// A lock that works on NFS and Lustre: a file made with link(2), naming host, pid, start time and when it was
// taken. POSIX locks are not trusted there. The holder on this host is checked for life (pid and its start
// time); one on another host is believed until `stale_after` has passed since it last refreshed the file.
// Both times are the file system's (on NFS the server's): clocks of hosts differ.
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
    UnixMicros refreshed = 0;         // by its own clock: for a person
};

class LockFile {
  public:
    // Held by a living process: error "lock.held" whose sentence names host, pid and since when.
    [[nodiscard]] static Result<LockFile> acquire(const std::filesystem::path& path, const Clock& clock,
                                                  std::int64_t stale_after_ms);
    LockFile(LockFile&& other) noexcept;
    LockFile& operator=(LockFile&&) = delete;
    LockFile(const LockFile&) = delete;
    LockFile& operator=(const LockFile&) = delete;
    ~LockFile();  // releases

    // Renews the time stamp; "lock.lost" if the file is no longer ours.
    [[nodiscard]] Status refresh(const Clock& clock);

  private:
    LockFile(std::filesystem::path path, std::string token)
        : path_(std::move(path)), token_(std::move(token)) {}
    std::filesystem::path path_;
    std::string token_;
};

// Field 22 of /proc/PID/stat (start time in clock ticks since boot), 0 when the process is gone. With the pid
// it identifies a process for as long as the machine is up.
[[nodiscard]] std::uint64_t process_start_time(std::int64_t pid);
[[nodiscard]] std::string host_name();

}  // namespace wheelyard::base
