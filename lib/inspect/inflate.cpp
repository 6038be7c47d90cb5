#include "lib/inspect/inflate.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include "lib/base/check.hpp"

namespace wheelyard::inspect {

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
Inflater::Inflater(Inflater&&) noexcept = default;
Inflater& Inflater::operator=(Inflater&&) noexcept = default;
Inflater::~Inflater() = default;

Inflater::Step Inflater::step(std::string_view packed, char* into, std::size_t capacity) {
    constexpr std::size_t most = std::numeric_limits<uInt>::max();
    z_stream& stream = state_->stream;
    const std::size_t offered = std::min(packed.size(), most);
    const std::size_t room = std::min(capacity, most);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));  // zlib reads it only
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

}  // namespace wheelyard::inspect
