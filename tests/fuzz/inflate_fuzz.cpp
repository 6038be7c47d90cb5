// Unpacks members with our inflater and with zlib: both must accept the same streams, with the same bytes.
// The only exception is a stream with very many very short blocks, which only zlib accepts.
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "lib/inspect/verdict/policy.hpp"
#include "lib/inspect/zip/member_stream.hpp"
#include "lib/inspect/zip/zip.hpp"

namespace {

constexpr std::size_t max_unpacked_bytes = std::size_t{4}
                                           << 20;  // unpacking more of a bomb tests nothing new

struct ByZlib {
    bool whole = false;  // the final block has ended
    bool too_much = false;
    std::size_t used = 0;  // packed bytes
    std::string bytes;
};

ByZlib unpack_by_zlib(std::string_view packed) {
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) std::abort();
    ByZlib result;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));  // read-only use
    stream.avail_in = static_cast<uInt>(packed.size());
    int code = Z_OK;
    while (code == Z_OK && !result.too_much) {
        char piece[16384];
        stream.next_out = reinterpret_cast<Bytef*>(piece);
        stream.avail_out = sizeof piece;
        code = inflate(&stream, Z_NO_FLUSH);
        result.bytes.append(piece, sizeof piece - stream.avail_out);
        result.too_much = result.bytes.size() > max_unpacked_bytes;
    }
    result.whole = code == Z_STREAM_END;
    result.used = packed.size() - stream.avail_in;
    inflateEnd(&stream);
    return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard;
    const std::string_view packed(reinterpret_cast<const char*>(data), size);
    const ByZlib expected = unpack_by_zlib(packed);
    if (expected.too_much) return 0;
    inspect::Member member;
    member.method = inspect::Method::deflate;
    member.packed_bytes = size;
    member.unpacked_bytes = expected.bytes.size();
    member.crc32 = inspect::crc32_update(0, expected.bytes);
    const base::MemoryReader reader(packed);
    inspect::MemberStream stream(reader, member);
    std::string bytes;
    while (true) {
        const auto piece = stream.next();
        if (!piece) {
            const bool too_many_blocks = piece.error().sentence.find("blocks") != std::string::npos;
            if (too_many_blocks && size > inspect::max_short_blocks) return 0;
            if (expected.whole && expected.used == size) std::abort();  // zlib accepts it
            return 0;
        }
        if (piece->empty()) break;
        bytes += *piece;
    }
    if (!expected.whole || expected.used != size || bytes != expected.bytes) std::abort();
    return 0;
}
