#include "registry/http/arriving_file.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "registry/http/limits.hpp"

namespace wheelyard::http {

namespace {

constexpr std::int64_t arriving_step_ms = 100;

}  // namespace

ArrivingFile::ArrivingFile(base::Fd file, std::uint64_t size_bytes)
    : file_(std::move(file)), size_bytes_(size_bytes) {}

void ArrivingFile::note_written(std::uint64_t bytes) {
    const std::uint64_t last = size_bytes_ - std::min(size_bytes_, held_back_bytes);
    const std::uint64_t readable = std::min(bytes, last);
    const auto now = std::chrono::steady_clock::now();
    std::vector<std::function<void()>> wakes;
    {
        const std::lock_guard lock(mutex_);
        if (progress_.state != State::arriving || readable <= progress_.readable_bytes) return;
        const bool is_due = readable == last || readable - progress_.readable_bytes >= arriving_step_bytes ||
                            now - shown_ >= std::chrono::milliseconds(arriving_step_ms);
        if (!is_due) return;
        progress_.readable_bytes = readable;
        shown_ = now;
        wakes.swap(wakes_);
    }
    for (const auto& wake : wakes)
        wake();
}

void ArrivingFile::end(bool is_good) {
    std::vector<std::function<void()>> wakes;
    {
        const std::lock_guard lock(mutex_);
        if (progress_.state != State::arriving) return;
        progress_.state = is_good ? State::complete : State::broken;
        if (is_good) progress_.readable_bytes = size_bytes_;
        wakes.swap(wakes_);
    }
    for (const auto& wake : wakes)
        wake();
}

ArrivingFile::Progress ArrivingFile::progress() const {
    const std::lock_guard lock(mutex_);
    return progress_;
}

void ArrivingFile::call_when_past(std::uint64_t offset, std::function<void()> wake) {
    {
        const std::lock_guard lock(mutex_);
        if (progress_.state == State::arriving && progress_.readable_bytes <= offset) {
            wakes_.push_back(std::move(wake));
            return;
        }
    }
    wake();
}

}  // namespace wheelyard::http
