// Incremental, strict and bounded decoder of the chunked transfer coding (RFC 9112 §7.1). It writes into the
// caller's buffer and lets the caller read a chunk's data from the socket into place, which Beast's parser
// cannot. That parser also takes folded trailers, refuses a blank after a size, and bounds neither extensions
// nor trailers.
#pragma once

#include <cstdint>
#include <string_view>

#include "registry/http/upload.hpp"

namespace wheelyard::http {

class ChunkDecoder {
  public:
    struct Step {
        std::size_t consumed = 0;  // bytes of `in`
        std::size_t produced = 0;  // bytes written to `out`
    };
    // Decodes until `in` is consumed, `out` is full or the body has ended. Drops extensions and trailers.
    // Returns 400 "request.chunk" for invalid framing; the connection cannot be used after that.
    [[nodiscard]] Answered<Step> decode(std::string_view in, char* out, std::size_t out_size);
    [[nodiscard]] bool ended() const { return state_ == State::ended; }

    // Number of data bytes that come next without framing. The caller may read up to that many itself and
    // then calls skip_data().
    [[nodiscard]] std::uint64_t data_ahead() const { return state_ == State::data ? left_ : 0; }
    void skip_data(std::uint64_t read);

  private:
    enum class State {
        size,
        extension,
        size_lf,
        data,
        data_cr,
        data_lf,
        trailer_start,
        trailer,
        trailer_lf,
        final_lf,
        ended
    };
    [[nodiscard]] bool take_framing(char c);
    State state_ = State::size;
    std::uint64_t left_ = 0;  // data bytes left in the current chunk
    int digits_ = 0;
    std::size_t line_bytes_ = 0;
    std::size_t trailer_bytes_ = 0;
};

}  // namespace wheelyard::http
