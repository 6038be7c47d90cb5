// Values by key, bounded by the bytes that they take: what was not used for longest is dropped first. One
// thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace wheelyard::registry {

template <typename Value>
class RecentlyUsed {
  public:
    explicit RecentlyUsed(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}

    // nullptr: none. Valid until the next put().
    [[nodiscard]] const Value* find(std::string_view key) {
        const auto place = places_.find(key);
        if (place == places_.end()) return nullptr;
        entries_.splice(entries_.begin(), entries_, place->second);
        return &place->second->value;
    }

    // The newest value stays even if it is larger than the limit. Returns the bytes that were dropped.
    std::uint64_t put(const std::string& key, Value value, std::uint64_t bytes) {
        const std::uint64_t before = bytes_;
        if (const auto place = places_.find(key); place != places_.end()) drop(place->second);
        entries_.push_front({key, std::move(value), bytes});
        places_.emplace(entries_.front().key, entries_.begin());
        bytes_ += bytes;
        while (bytes_ > limit_bytes_ && entries_.size() > 1)
            drop(std::prev(entries_.end()));
        return before + bytes - bytes_;
    }

    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    [[nodiscard]] std::size_t size() const { return entries_.size(); }

  private:
    struct Entry {
        std::string key;
        Value value;
        std::uint64_t bytes;
    };
    using Entries = std::list<Entry>;

    void drop(typename Entries::iterator entry) {
        bytes_ -= entry->bytes;
        places_.erase(entry->key);
        entries_.erase(entry);
    }

    const std::uint64_t limit_bytes_;
    std::uint64_t bytes_ = 0;
    Entries entries_;                                                          // the newest first
    std::unordered_map<std::string_view, typename Entries::iterator> places_;  // views of `entries_`
};

}  // namespace wheelyard::registry
