// Zstandard (RFC 8878) in pieces; the only wrapper of libzstd's streaming interface. In builds without
// libzstd available() is false.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "lib/inspect/zip/inflate.hpp"

namespace wheelyard::inspect {

class ZstdStream {
  public:
    [[nodiscard]] static bool available();

    ZstdStream();  // requires available()
    ZstdStream(const ZstdStream&) = delete;
    ZstdStream& operator=(const ZstdStream&) = delete;
    ~ZstdStream();

    // Unpacks from `packed` into `into` until either is used up or the frame ends. A window of more than
    // 2^max_zstd_window_log bytes counts as damaged.
    [[nodiscard]] Inflater::Step step(std::string_view packed, char* into, std::size_t capacity);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace wheelyard::inspect
