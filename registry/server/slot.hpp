// One of a limited number of concurrent operations, released at the end of its scope. Internal to the server.
// Thread-safe: threads share `now`, which outlives the slot.
#pragma once

#include <atomic>
#include <cstddef>

namespace wheelyard::http {

class Slot {
  public:
    Slot(std::atomic<std::size_t>& now, std::size_t max) : now_(now), taken_(now.fetch_add(1) < max) {
        if (!taken_) now_.fetch_sub(1);
    }
    ~Slot() {
        if (taken_) now_.fetch_sub(1);
    }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    [[nodiscard]] bool taken() const { return taken_; }

  private:
    std::atomic<std::size_t>& now_;
    const bool taken_;
};

}  // namespace wheelyard::http
