// A state machine that reads the framing character by character and copies data in runs.
#include "registry/http/chunked.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <system_error>

#include "lib/base/check.hpp"
#include "registry/http/limits.hpp"

namespace wheelyard::http {

namespace {

// Sixteen hex digits fill 64 bits; fifteen cannot overflow and exceed any real body.
constexpr int max_size_digits = 15;

bool is_text(char c) {
    return c == '\t' || (c >= ' ' && c != '\x7f') || static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

// Returns false if `c` violates the grammar.
bool ChunkDecoder::take_framing(char c) {
    switch (state_) {
        case State::size:
            if (unsigned value = 0; std::from_chars(&c, &c + 1, value, 16).ec == std::errc()) {
                if (++digits_ > max_size_digits) return false;
                left_ = left_ * 16 + value;
                return true;
            }
            if (digits_ == 0) return false;
            state_ = c == '\r' ? State::size_lf : State::extension;
            return c == '\r' || c == ';' || c == ' ' || c == '\t';
        case State::extension:
            if (c == '\r') state_ = State::size_lf;
            return c == '\r' || (is_text(c) && ++line_bytes_ <= max_chunk_line_bytes);
        case State::size_lf:
            state_ = left_ == 0 ? State::trailer_start : State::data;
            digits_ = 0;
            line_bytes_ = 0;
            return c == '\n';
        case State::data_cr:
            state_ = State::data_lf;
            return c == '\r';
        case State::data_lf:
            state_ = State::size;
            return c == '\n';
        case State::trailer_start:
            state_ = c == '\r' ? State::final_lf : State::trailer;
            // A trailer line begins with its name; a leading blank would continue the previous line.
            return c == '\r' ||
                   (is_text(c) && c != ' ' && c != '\t' && ++trailer_bytes_ <= max_trailer_bytes);
        case State::trailer:
            if (c == '\r') state_ = State::trailer_lf;
            return c == '\r' || (is_text(c) && ++trailer_bytes_ <= max_trailer_bytes);
        case State::trailer_lf:
            state_ = State::trailer_start;
            return c == '\n';
        case State::final_lf:
            state_ = State::ended;
            return c == '\n';
        case State::data:
        case State::ended:
            break;
    }
    return false;
}

Answered<ChunkDecoder::Step> ChunkDecoder::decode(std::string_view in, char* out, std::size_t out_size) {
    Step step;
    while (step.consumed < in.size() && state_ != State::ended) {
        if (state_ != State::data) {
            if (take_framing(in[step.consumed++])) continue;
            return wire::refuse("request.chunk", "Bad request",
                                "The framing of the chunked body is invalid (RFC 9112 section 7.1).", {},
                                "check the client, or a proxy in between");
        }
        const std::size_t room = std::min(in.size() - step.consumed, out_size - step.produced);
        if (room == 0) break;
        const std::size_t run = left_ < room ? static_cast<std::size_t>(left_) : room;
        std::memcpy(out + step.produced, in.data() + step.consumed, run);
        step.consumed += run;
        step.produced += run;
        skip_data(run);
    }
    return step;
}

void ChunkDecoder::skip_data(std::uint64_t read) {
    WHEELYARD_CHECK(state_ == State::data && read <= left_);
    left_ -= read;
    if (left_ == 0) state_ = State::data_cr;
}

}  // namespace wheelyard::http
