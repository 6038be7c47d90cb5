// Free space on the disk of the data folder, where bytes are staged whatever store takes them, and the file
// that keeps some of it back for administrators.
//
//     DIR/reserve    min_free_bytes of allocated space without content, mode 0600
//
// Uploads end while min_free_bytes are left. Another program can fill the rest of the disk, and then no
// change can be committed, not even the yank of a bad file. An administrator's work therefore gives the
// reserve back first when it finds less than min_free_bytes; `serve` allocates it again when there is room
// for it twice: every few seconds, and before it takes an upload.
#pragma once

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "lib/base/result.hpp"

namespace wheelyard::blobs {

// What a process without privileges may still write. The highest number if the file system cannot be asked.
[[nodiscard]] std::uint64_t free_bytes_of(const std::filesystem::path& folder);

[[nodiscard]] inline bool is_disk_full(const base::Error& error) {
    return error.os_error == ENOSPC || error.os_error == EDQUOT;
}

class DiskRoom {
  public:
    // `store` must exist before the first call. 0: no limit and no reserve.
    DiskRoom(std::filesystem::path store, std::uint64_t min_free_bytes)
        : store_(std::move(store)), min_free_bytes_(min_free_bytes) {}

    // Says whether `more_bytes` can be stored so that min_free_bytes stay free: "store.min_free" (ENOSPC).
    [[nodiscard]] base::Status check(std::uint64_t more_bytes) const;
    // Allocates the reserve if it is missing and the disk has room for it and for min_free_bytes more. No
    // room is no error.
    [[nodiscard]] base::Status keep_reserve() const;
    // Removes the reserve if less than min_free_bytes are free. Returns true if it did.
    bool give_back_if_low() const;
    // Removes the reserve; false if there was none.
    bool give_back() const;
    [[nodiscard]] bool has_reserve() const;
    [[nodiscard]] std::uint64_t min_free_bytes() const { return min_free_bytes_; }

  private:
    [[nodiscard]] std::filesystem::path file() const { return store_ / "reserve"; }
    std::filesystem::path store_;
    std::uint64_t min_free_bytes_;
};

// Runs an administrator's idempotent work; gives the reserve back before it on a low disk, and once more if
// the work fails for lack of space all the same (a quota of the file system, which free_bytes_of() does not
// see).
template <typename Work>
auto with_reserve(const DiskRoom& room, Work work) -> decltype(work()) {
    room.give_back_if_low();
    auto done = work();
    if (done || !is_disk_full(done.error()) || !room.give_back()) return done;
    return work();
}

}  // namespace wheelyard::blobs
