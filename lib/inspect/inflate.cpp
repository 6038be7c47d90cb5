#include "lib/inspect/inflate.hpp"

#ifdef WHEELYARD_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif

#include <algorithm>
#include <limits>
#include <new>

#include "lib/base/check.hpp"

namespace wheelyard::inspect {
namespace {

// Both libraries count what they are offered in 32 bits.
constexpr std::size_t most_at_once = std::numeric_limits<std::uint32_t>::max();

}  // namespace

#ifdef WHEELYARD_ISAL

struct Inflater::State {
    inflate_state stream;  // holds no pointer into itself
};

Inflater::Inflater() : state_(new State) {  // not make_unique, which would clear 87 KiB for each small member
    isal_inflate_init(&state_->stream);
}
Inflater::Inflater(const Inflater& other) : state_(new State(*other.state_)) {}

Inflater::Step Inflater::step(std::string_view packed, char* into, std::size_t capacity) {
    inflate_state& stream = state_->stream;
    const std::size_t offered = std::min(packed.size(), most_at_once);
    const std::size_t room = std::min(capacity, most_at_once);
    stream.next_in =
        reinterpret_cast<std::uint8_t*>(const_cast<char*>(packed.data()));  // it only reads there
    stream.avail_in = static_cast<std::uint32_t>(offered);
    stream.next_out = reinterpret_cast<std::uint8_t*>(into);
    stream.avail_out = static_cast<std::uint32_t>(room);
    const int code = isal_inflate(&stream);
    Step step;
    step.consumed = offered - stream.avail_in;
    step.produced = room - stream.avail_out;
    step.finished = stream.block_state == ISAL_BLOCK_FINISH;
    step.damaged = code < 0;
    // It reads ahead up to eight bytes, which may have come with an earlier piece.
    if (step.finished) step.unused = static_cast<std::size_t>(stream.read_in_length) / 8;
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

Inflater::Step Inflater::step(std::string_view packed, char* into, std::size_t capacity) {
    z_stream& stream = state_->stream;
    const std::size_t offered = std::min(packed.size(), most_at_once);
    const std::size_t room = std::min(capacity, most_at_once);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));  // zlib only reads there
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
