// libzstd's single-call interface.
#include "lib/io/zstd.hpp"

#ifdef WHEELYARD_ZSTD
#include <zstd.h>
#endif

namespace wheelyard::io {

#ifdef WHEELYARD_ZSTD

namespace {

constexpr int level = 3;  // zstd's default: output smaller than gzip's, in a third of its time

}  // namespace

bool has_zstd() {
    return true;
}

base::Result<std::string> zstd(std::string_view text) {
    std::string out(ZSTD_compressBound(text.size()), '\0');
    const std::size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), level);
    if (ZSTD_isError(size) != 0)
        return base::fail("zstd.failed", "Compression failed", ZSTD_getErrorName(size));
    out.resize(size);
    return out;
}

base::Result<std::string> unzstd(std::string_view bytes, std::size_t limit_bytes) {
    const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
    const bool is_known = size != ZSTD_CONTENTSIZE_UNKNOWN && size != ZSTD_CONTENTSIZE_ERROR;
    if (is_known && size > limit_bytes)
        return base::fail("zstd.too_large", "The uncompressed text exceeds the limit");
    if (is_known && ZSTD_findFrameCompressedSize(bytes.data(), bytes.size()) == bytes.size()) {
        std::string text(static_cast<std::size_t>(size), '\0');
        if (ZSTD_decompress(text.data(), text.size(), bytes.data(), bytes.size()) == text.size()) return text;
    }
    return base::fail_malformed("zstd.damaged", "Not a complete Zstandard frame");
}

#else

bool has_zstd() {
    return false;
}

base::Result<std::string> zstd(std::string_view) {
    return base::fail("zstd.missing", "This build has no libzstd");
}

base::Result<std::string> unzstd(std::string_view, std::size_t) {
    return base::fail("zstd.missing", "This build has no libzstd");
}

#endif

}  // namespace wheelyard::io
