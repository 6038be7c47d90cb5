// The unpacked bytes of one member: once sequentially with verification, or again at any offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/zip/inflate.hpp"
#include "lib/inspect/zip/zip.hpp"

namespace wheelyard::inspect {

class Landmarks {
  public:
    // Call for every piece of the member, in order.
    void pass(std::uint64_t offset, std::string_view piece);
    // Returns false if any of the bytes is not kept.
    [[nodiscard]] bool read_at(std::uint64_t offset, char* into, std::size_t length) const;

  private:
    enum class Awaited { magic, fatbin, entry };
    struct Block {
        std::uint64_t offset;
        std::size_t at;  // in kept_
        std::size_t size;
    };
    void look_for_magic(std::uint64_t offset, std::string_view piece);
    void await(Awaited what, std::uint64_t offset, std::size_t size);
    void await_magic(std::uint64_t from);
    void follow();
    void keep(std::uint64_t offset, std::string_view bytes);

    Awaited awaited_ = Awaited::magic;
    std::uint64_t awaited_at_ = 0;  // its offset; for a magic: where to search from
    std::size_t awaited_bytes_ = 0;
    std::string arrived_;  // the part received so far
    std::uint64_t fatbin_end_ = 0;
    std::string kept_;
    std::vector<Block> blocks_;  // sorted by offset, without overlap
};

// Reads a member in pieces and verifies size, CRC-32 and complete use of the packed bytes at its end. An
// Error with the code of a rule ("zip.crc_mismatch") concerns the wheel; any other is an I/O error.
class MemberStream {
  public:
    MemberStream(const base::Reader& bytes, const Member& member);
    // The next piece, at most piece_bytes, valid until the next call; empty at the verified end.
    [[nodiscard]] base::Result<std::string_view> next();
    [[nodiscard]] std::uint64_t position() const { return produced_; }

    // A position in the stream from which unpacking can continue.
    struct Place {
        std::uint64_t consumed = 0;
        std::uint64_t produced = 0;
        Inflater inflater;
        std::string window;  // the latest output, which the stream may refer to
    };
    [[nodiscard]] Place place() const;
    void seek(const Place& place);  // disables the CRC-32 check from here on

  private:
    [[nodiscard]] base::Result<std::string_view> next_stored();
    [[nodiscard]] base::Result<std::string_view> next_deflated();
    [[nodiscard]] base::Status fill();
    [[nodiscard]] base::Result<std::string_view> deliver(std::size_t produced);
    [[nodiscard]] base::Status verify_end() const;
    // The latest output, which the rest of the stream may refer to.
    [[nodiscard]] std::string_view window() const;

    const base::Reader& bytes_;
    const Member& member_;
    std::uint64_t consumed_ = 0;  // packed bytes used
    std::uint64_t produced_ = 0;
    std::uint32_t crc_ = 0;
    bool whole_ = true;  // read from the first byte on, so the CRC-32 can be checked
    bool ended_ = false;
    std::string packed_;
    std::size_t packed_at_ = 0;
    std::string piece_;  // preceded by window_room_ bytes for the window
    std::size_t window_room_ = 0;
    std::size_t behind_ = 0;      // used bytes of that room, directly before the piece
    std::size_t piece_size_ = 0;  // size of the piece after the room
    std::optional<Inflater> inflater_;
};

// Reads a whole small member; more than `limit_bytes` is an Error "zip.member_too_large".
[[nodiscard]] base::Result<std::string> read_member(const base::Reader& bytes, const Member& member,
                                                    std::uint64_t limit_bytes);

// Random access to the unpacked bytes of a verified member, for parsers of ELF files. Stored members are read
// directly, small ones from memory. Large ones are unpacked again from the nearest snapshot, except for
// landmarks. If reads are so scattered that they need more than max_passes passes, the result is an Error
// "elf.malformed". Use from one thread at a time.
class MemberReader final : public base::Reader {
  public:
    MemberReader(const base::Reader& bytes, const Member& member, std::string kept,
                 std::vector<MemberStream::Place> snapshots, Landmarks landmarks = {})
        : bytes_(bytes),
          member_(member),
          kept_(std::move(kept)),
          snapshots_(std::move(snapshots)),
          landmarks_(std::move(landmarks)),
          stream_(bytes, member) {}
    [[nodiscard]] std::uint64_t size() const override { return member_.unpacked_bytes; }
    [[nodiscard]] base::Status read_at(std::uint64_t offset, char* into, std::size_t length) const override;

    // The distance in bytes between snapshots of `member`.
    [[nodiscard]] static std::uint64_t snapshot_interval(const Member& member);

  private:
    [[nodiscard]] base::Status read_again(std::uint64_t offset, char* into, std::size_t length) const;

    const base::Reader& bytes_;
    const Member& member_;
    std::string kept_;
    std::vector<MemberStream::Place> snapshots_;
    Landmarks landmarks_;
    mutable MemberStream stream_;     // its last piece is a cache
    mutable std::string_view piece_;  // of stream_
    mutable std::uint64_t piece_offset_ = 0;
    mutable std::uint64_t unpacked_again_ = 0;
};

// Runs independent work items on a few threads.

// Calls `work(i)` once for each i in [0, count), starting in order, on up to `threads` threads (1: only the
// caller's). Stops at the first Error and returns it; rethrows exceptions of the threads.
[[nodiscard]] base::Status for_each_parallel(std::size_t count, unsigned threads,
                                             const std::function<base::Status(std::size_t)>& work);

}  // namespace wheelyard::inspect
