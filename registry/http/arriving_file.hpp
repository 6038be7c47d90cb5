// A file of known size that is sent while it is still written: one writer, any number of readers, each at its
// own speed.
//
//     0 ─────── readable ─────────── written ──────── size - held_back_bytes ──── size
//
// Readers read the file itself, so memory does not grow with them, and none of them holds the writer back.
// The last bytes are readable only after end(true): what turns out to be wrong was never sent completely.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/base/files/fd.hpp"

namespace wheelyard::http {

class ArrivingFile {
  public:
    enum class State { arriving, complete, broken };
    struct Progress {
        std::uint64_t readable_bytes = 0;
        State state = State::arriving;
    };
    // `file` is open for reading; readers share it and give their offsets.
    ArrivingFile(base::Fd file, std::uint64_t size_bytes);
    ArrivingFile(const ArrivingFile&) = delete;
    ArrivingFile& operator=(const ArrivingFile&) = delete;

    // The writer: `bytes` are there by now. Readers see that in steps, which bounds how often they wake up.
    void note_written(std::uint64_t bytes);
    // The writer: good files become readable to the end. Later calls change nothing.
    void end(bool is_good);

    // Readers, on any thread.
    [[nodiscard]] Progress progress() const;
    // Calls `wake` once, as soon as more than `offset` bytes are readable or the file has ended: at once, or
    // on the writer's thread.
    void call_when_past(std::uint64_t offset, std::function<void()> wake);
    [[nodiscard]] int file() const { return file_.get(); }
    [[nodiscard]] std::uint64_t size_bytes() const { return size_bytes_; }

  private:
    const base::Fd file_;
    const std::uint64_t size_bytes_;
    mutable std::mutex mutex_;
    Progress progress_;
    std::chrono::steady_clock::time_point shown_{};  // when `progress_` changed last
    std::vector<std::function<void()>> wakes_;
};

using SharedArrivingFile = std::shared_ptr<ArrivingFile>;

}  // namespace wheelyard::http
