// The facts of the wheels in a folder, which no wheel list has: read from the wheels themselves, and cached
// by path, size and time below the user's cache folder, so that each wheel is read once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "indexer/avail_wheels/query/candidate.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::avail_wheels {

// What a wheel says of itself.
struct ReadWheel {
    std::string requires_python;
    std::string facts;  // JSON
};
using ReadWheelFile = std::function<base::Result<ReadWheel>(const std::filesystem::path& wheel)>;

class WheelReading {
  public:
    // `cache`: the cached facts of one source; empty: nothing is cached.
    WheelReading(ReadWheelFile read, std::filesystem::path cache);

    // Sets the facts and Requires-Python of a wheel in a folder, or why they stay unknown. Reads at most
    // max_wheels_read_bytes of wheels that are not cached; the next call goes on from there.
    void add_facts(Candidate& candidate);
    // Writes the cache, if something was read.
    void keep();

  private:
    struct Kept {
        std::uint64_t size = 0;
        std::int64_t time_ns = 0;
        ReadWheel wheel;
    };
    ReadWheelFile read_;
    std::filesystem::path cache_;
    std::map<std::string, Kept> kept_;
    std::uint64_t read_bytes_ = 0;
    bool is_changed_ = false;
};

}  // namespace wheelyard::avail_wheels
