// zlib's deflate and inflate, one call each.
#include "lib/io/gzip.hpp"

#include <zlib.h>

namespace wheelyard::io {

namespace {

constexpr int window_of_gzip =
    15 + 16;               // the maximum window; 16 selects the gzip format (zlib manual, deflateInit2)
constexpr int level = 5;   // a third of level 9's time; pages grow by at most 3 %
constexpr int memory = 8;  // zlib's default

}  // namespace

base::Result<std::string> gzip(std::string_view text) {
    z_stream stream{};
    if (deflateInit2(&stream, level, Z_DEFLATED, window_of_gzip, memory, Z_DEFAULT_STRATEGY) != Z_OK)
        return base::fail("gzip.failed", "zlib initialisation failed", {}, "check the available memory");
    std::string out(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int ended = deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    if (ended != Z_STREAM_END) return base::fail("gzip.failed", "Compression failed");
    return out;
}

base::Result<std::string> gunzip(std::string_view bytes, std::size_t limit_bytes) {
    constexpr std::size_t chunk_bytes = 256 * 1024;
    z_stream stream{};
    if (inflateInit2(&stream, window_of_gzip) != Z_OK)
        return base::fail("gzip.failed", "zlib initialisation failed", {}, "check the available memory");
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    std::string text;
    int ended = Z_OK;
    while (ended == Z_OK && text.size() <= limit_bytes) {
        const std::size_t had = text.size();
        text.resize(had + chunk_bytes);
        stream.next_out = reinterpret_cast<Bytef*>(text.data() + had);
        stream.avail_out = static_cast<uInt>(chunk_bytes);
        ended = inflate(&stream, Z_NO_FLUSH);
        text.resize(had + chunk_bytes - stream.avail_out);
    }
    const bool whole = ended == Z_STREAM_END && stream.avail_in == 0;
    inflateEnd(&stream);
    if (text.size() > limit_bytes)
        return base::fail("gzip.too_large", "The uncompressed text exceeds the limit");
    if (!whole) return base::fail_malformed("gzip.damaged", "Not a complete gzip file");
    return text;
}

}  // namespace wheelyard::io
