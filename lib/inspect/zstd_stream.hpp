// Zstandard (RFC 8878) in pieces; the one wrapper of libzstd. A build without libzstd has the class, but none
// is available.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "lib/inspect/inflate.hpp"

namespace wheelyard::inspect {

class ZstdStream {
  public:
    [[nodiscard]] static bool available();

    ZstdStream();  // must be available
    ZstdStream(const ZstdStream&) = delete;
    ZstdStream& operator=(const ZstdStream&) = delete;
    ~ZstdStream();

    // Unpacks from `packed` into `into` until either is used up or the frame ends. A frame with a window of
    // over 2^max_zstd_window_log bytes counts as damaged.
    [[nodiscard]] Inflater::Step step(std::string_view packed, char* into, std::size_t capacity);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace wheelyard::inspect
