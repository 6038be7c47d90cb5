// A limited number of concurrent operations for each owner, so that no owner holds all slots. Internal to the
// server; thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace wheelyard::http {

class OwnerSlots {
  public:
    // One operation of `owner`, released at the end of its scope.
    class Held {
      public:
        Held(OwnerSlots& slots, std::string owner, std::size_t max)
            : slots_(slots), owner_(std::move(owner)), taken_(slots_.take(owner_, max)) {}
        ~Held() {
            if (taken_) slots_.give(owner_);
        }
        Held(const Held&) = delete;
        Held& operator=(const Held&) = delete;
        [[nodiscard]] bool taken() const { return taken_; }

      private:
        OwnerSlots& slots_;
        const std::string owner_;
        const bool taken_;
    };

    // The number of operations of the owner with the most.
    [[nodiscard]] std::size_t max_held() const {
        const std::lock_guard lock(mutex_);
        std::size_t most = 0;
        for (const auto& [_, held] : held_)
            most = std::max(most, held);
        return most;
    }

  private:
    bool take(const std::string& owner, std::size_t max) {
        const std::lock_guard lock(mutex_);
        std::size_t& held = held_[owner];
        if (held >= max) return false;  // an entry that was made just now is below any limit
        ++held;
        return true;
    }
    void give(const std::string& owner) {
        const std::lock_guard lock(mutex_);
        if (const auto found = held_.find(owner); --found->second == 0) held_.erase(found);
    }

    mutable std::mutex mutex_;
    std::map<std::string, std::size_t> held_;  // no entry is 0
};

}  // namespace wheelyard::http
