#include "lib/inspect/zip/inflate.hpp"

#ifdef WHEELYARD_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>

#include "lib/base/check.hpp"
#include "lib/inspect/zip/deflate_block.hpp"
#include "lib/inspect/zip/zip.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::uint64_t min_block_bytes = 32;  // compressed

// Both libraries take 32-bit sizes.
constexpr std::size_t max_at_once = std::numeric_limits<std::uint32_t>::max();
static_assert(max_block_header_bytes + sizeof(std::uint64_t) <= Inflater::lookahead_bytes);

}  // namespace

#ifdef WHEELYARD_ISAL

struct Inflater::State {
    inflate_state stream;   // contains no pointer into itself
    bool in_block = false;  // ISA-L is inside a block
    bool last = false;      // the current block is marked as the last one
    std::uint64_t blocks = 0;
    std::uint64_t consumed = 0;  // in earlier steps
};

Inflater::Inflater() : state_(new State) {  // not make_unique, which would clear 87 KiB for each small member
    isal_inflate_init(&state_->stream);
}
Inflater::Inflater(const Inflater& other) : state_(new State(*other.state_)) {}

namespace {

// Validates the header of the next block and prepares ISA-L for it: passes the bits that it had read ahead
// and the window, and sets the last-block bit. Returns the number of bytes of `next` consumed: one if no bits
// were left over; nullopt if zlib would reject the block.
std::optional<std::size_t> begin_block(inflate_state& stream, std::string_view next,
                                       std::string_view unpacked_before, bool& last) {
    const auto held_bits = static_cast<unsigned>(stream.read_in_length);
    const std::uint64_t held =
        held_bits == 64 ? stream.read_in : stream.read_in & ((std::uint64_t{1} << held_bits) - 1);
    const auto header = read_block_header(BitCursor(held, held_bits, next));
    if (!header) return std::nullopt;
    last = header->last;
    isal_inflate_reset(&stream);
    stream.read_in = held_bits != 0 ? held : static_cast<unsigned char>(next.front());
    stream.read_in_length = held_bits != 0 ? static_cast<std::int32_t>(held_bits) : 8;
    stream.read_in |= 1;
    const std::string_view window = unpacked_before.substr(
        unpacked_before.size() - std::min(unpacked_before.size(), Inflater::window_bytes));
    const int code = isal_inflate_set_dict(
        &stream, reinterpret_cast<std::uint8_t*>(const_cast<char*>(window.data())),  // read-only use
        static_cast<std::uint32_t>(window.size()));
    WHEELYARD_CHECK(code == ISAL_DECOMP_OK);
    return held_bits != 0 ? 0 : 1;
}

}  // namespace

Inflater::Step Inflater::step(std::string_view packed, char* into, std::size_t capacity, std::size_t behind) {
    const Step step = unpack_blocks(packed, into, capacity, behind);
    state_->consumed += step.consumed;
    return step;
}

Inflater::Step Inflater::unpack_blocks(std::string_view packed, char* into, std::size_t capacity,
                                       std::size_t behind) {
    inflate_state& stream = state_->stream;
    packed = packed.substr(0, max_at_once);
    capacity = std::min(capacity, max_at_once);
    Step step;
    while (true) {
        if (!state_->in_block) {
            // The next header may be incomplete here: the caller passes more input, or the stream ends.
            if (step.consumed != 0 && packed.size() - step.consumed < lookahead_bytes) return step;
            const std::string_view before(into - behind, behind + step.produced);
            const auto taken = begin_block(stream, packed.substr(step.consumed), before, state_->last);
            step.too_many_blocks =
                ++state_->blocks > max_short_blocks + (state_->consumed + step.consumed) / min_block_bytes;
            step.damaged = !taken || step.too_many_blocks;
            if (step.damaged) return step;
            step.consumed += *taken;
            state_->in_block = true;
        }
        const std::string_view input = packed.substr(step.consumed);
        stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(input.data()));  // read-only use
        stream.avail_in = static_cast<std::uint32_t>(input.size());
        stream.next_out = reinterpret_cast<std::uint8_t*>(into + step.produced);
        stream.avail_out = static_cast<std::uint32_t>(capacity - step.produced);
        const int code = isal_inflate(&stream);
        step.consumed = packed.size() - stream.avail_in;
        step.produced = capacity - stream.avail_out;
        step.damaged = code < 0;
        if (step.damaged || stream.block_state != ISAL_BLOCK_FINISH) return step;
        state_->in_block = false;
        if (state_->last) break;
    }
    step.finished = true;
    // ISA-L reads up to eight bytes ahead, possibly from an earlier piece.
    step.unused = static_cast<std::size_t>(stream.read_in_length) / 8;
    return step;
}

std::uint32_t crc32_update(std::uint32_t crc, std::string_view bytes) {
    return crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

#else

struct Inflater::State {
    z_stream stream{};
    ~State() { inflateEnd(&stream); }
};

Inflater::Inflater() : state_(std::make_unique<State>()) {
    constexpr int raw_deflate = -MAX_WBITS;
    const int code = inflateInit2(&state_->stream, raw_deflate);
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    WHEELYARD_CHECK(code == Z_OK);
}
Inflater::Inflater(const Inflater& other) : state_(std::make_unique<State>()) {
    const int code = inflateCopy(&state_->stream, &other.state_->stream);
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    WHEELYARD_CHECK(code == Z_OK);
}

Inflater::Step Inflater::step(std::string_view packed, char* into, std::size_t capacity,
                              std::size_t /*behind: zlib keeps a window of its own*/) {
    z_stream& stream = state_->stream;
    const std::size_t offered = std::min(packed.size(), max_at_once);
    const std::size_t room = std::min(capacity, max_at_once);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));  // read-only use
    stream.avail_in = static_cast<uInt>(offered);
    stream.next_out = reinterpret_cast<Bytef*>(into);
    stream.avail_out = static_cast<uInt>(room);
    const int code = inflate(&stream, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    Step step;
    step.consumed = offered - stream.avail_in;
    step.produced = room - stream.avail_out;
    step.finished = code == Z_STREAM_END;
    step.damaged = code == Z_DATA_ERROR || code == Z_NEED_DICT || code == Z_STREAM_ERROR;
    return step;
}

std::uint32_t crc32_update(std::uint32_t crc, std::string_view bytes) {
    return static_cast<std::uint32_t>(
        crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

#endif

Inflater::Inflater(Inflater&&) noexcept = default;
Inflater& Inflater::operator=(Inflater&&) noexcept = default;
Inflater::~Inflater() = default;

}  // namespace wheelyard::inspect
