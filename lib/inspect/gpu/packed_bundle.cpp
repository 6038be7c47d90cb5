// Unpacks a compressed offload bundle lazily, up to the highest offset that is read.
#include "lib/inspect/gpu/gpu_code.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "lib/base/limits.hpp"
#include "lib/base/text/byte_cursor.hpp"
#include "lib/inspect/elf/section_walk.hpp"
#include "lib/inspect/zip/zstd_stream.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::uint64_t max_bundle_table_bytes =
    base::mib;  // of one compressed bundle; real tables have about 1 KiB
constexpr std::uint16_t method_zlib = 0, method_zstd = 1;  // llvm::compression::Format
constexpr std::size_t packed_piece_bytes = 4096;
constexpr std::size_t unpacked_piece_bytes = 4096;
constexpr std::uint64_t zlib_header_bytes = 2;

// RFC 1950 §2.2: DEFLATE, a check that is a multiple of 31, no preset dictionary.
bool is_zlib_header(std::string_view text) {
    base::ByteCursor cursor(text, true);
    const std::uint16_t header = cursor.u16();
    return cursor.ok() && (header >> 8 & 0x0f) == 8 && header % 31 == 0 && (header & 0x20) == 0;
}

}  // namespace

struct PackedBundle::Stream {
    std::optional<Inflater> inflater;
    std::optional<ZstdStream> zstd;
    std::uint64_t consumed = 0;
    std::string packed;  // read but not consumed yet
    std::string unpacked;
    bool ended = false;
};

PackedBundle::PackedBundle(const base::Reader& bytes, std::uint64_t offset, std::uint64_t packed_bytes,
                           std::uint16_t method, std::uint64_t unpacked_bytes)
    : bytes_(bytes),
      begin_(offset),
      packed_bytes_(packed_bytes),
      method_(method),
      unpacked_bytes_(unpacked_bytes) {
    if (!why_unreadable().empty()) return;
    stream_ = std::make_unique<Stream>();
    if (method_ == method_zlib) {
        stream_->inflater.emplace();
    } else {
        stream_->zstd.emplace();
    }
}

PackedBundle::~PackedBundle() = default;

std::string PackedBundle::why_unreadable() const {
    if (method_ == method_zlib || (method_ == method_zstd && ZstdStream::available())) return {};
    if (method_ == method_zstd) return "compressed with zstd, which this build does not support";
    return "compressed with the unknown method " + std::to_string(method_);
}

std::uint64_t PackedBundle::unpacked_so_far() const {
    return stream_ == nullptr ? 0 : stream_->unpacked.size();
}

base::Status PackedBundle::unpack_more() const {
    Stream& stream = *stream_;
    if (stream.inflater && stream.consumed == 0) {
        std::string header(std::min(packed_bytes_, zlib_header_bytes), '\0');
        WHEELYARD_TRY(bytes_.read_at(begin_, header.data(), header.size()));
        if (!is_zlib_header(header))
            return malformed_gpu_code("A compressed offload bundle is not a zlib stream.", begin_);
        stream.consumed = header.size();
    }
    if (const std::size_t held = stream.packed.size(); held < Inflater::lookahead_bytes) {
        stream.packed.resize(std::min<std::uint64_t>(packed_piece_bytes, packed_bytes_ - stream.consumed));
        WHEELYARD_TRY(bytes_.read_at(begin_ + stream.consumed + held, stream.packed.data() + held,
                                     stream.packed.size() - held));
    }
    const std::size_t before = stream.unpacked.size();
    stream.unpacked.resize(before + unpacked_piece_bytes);
    char* const into = stream.unpacked.data() + before;
    const Inflater::Step step = stream.inflater
                                    ? stream.inflater->step(stream.packed, into, unpacked_piece_bytes, before)
                                    : stream.zstd->step(stream.packed, into, unpacked_piece_bytes);
    stream.unpacked.resize(before + step.produced);
    stream.packed.erase(0, step.consumed);
    stream.consumed += step.consumed;
    stream.ended = step.finished;
    if (step.damaged)
        return malformed_gpu_code("A compressed offload bundle cannot be unpacked.",
                                  begin_ + stream.consumed);
    if (!step.finished && step.produced == 0 && step.consumed == 0)
        return malformed_gpu_code("A compressed offload bundle is truncated.", begin_ + stream.consumed);
    return {};
}

base::Status PackedBundle::read_at(std::uint64_t offset, char* into, std::size_t length) const {
    if (offset > max_bundle_table_bytes || length > max_bundle_table_bytes - offset)
        return malformed_gpu_code("An offload bundle's table is larger than that of any real bundle.",
                                  begin_);
    while (stream_->unpacked.size() < offset + length) {
        if (stream_->ended)
            return malformed_gpu_code("A compressed offload bundle is shorter than its declared size.",
                                      begin_);
        WHEELYARD_TRY(unpack_more());
    }
    std::memcpy(into, stream_->unpacked.data() + offset, length);
    return {};
}

}  // namespace wheelyard::inspect
