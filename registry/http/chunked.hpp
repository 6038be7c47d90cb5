// The chunked transfer coding (RFC 9112 §7.1), decoded piece by piece, strictly and with bounds. Ours rather
// than Beast's: it puts the data where the caller wants it, lets the caller read a chunk's data straight from
// the socket, and bounds extensions and trailers.
#pragma once

#include <cstdint>
#include <string_view>

#include "registry/http/upload.hpp"

namespace wheelyard::http {

class ChunkDecoder {
  public:
    struct Step {
        std::size_t consumed = 0;  // of `in`
        std::size_t produced = 0;  // into `out`
    };
    // Decodes until `in` is used up, `out` is full or the body has ended. Extensions and trailers are
    // dropped. 400 "request.chunk" on anything that is not the grammar; nothing can be read from the
    // connection after that.
    [[nodiscard]] Answered<Step> decode(std::string_view in, char* out, std::size_t out_size);
    [[nodiscard]] bool ended() const { return state_ == State::ended; }

    // Bytes of data that come next without framing between them; the caller may read them itself and then
    // says how many.
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
    std::uint64_t left_ = 0;  // of the chunk
    int digits_ = 0;
    std::size_t line_bytes_ = 0;
    std::size_t trailer_bytes_ = 0;
};

}  // namespace wheelyard::http
