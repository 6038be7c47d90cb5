// The unpacked bytes of one member: once from begin to end, proven, or again at any offset.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/inflate.hpp"
#include "lib/inspect/landmarks.hpp"
#include "lib/inspect/zip.hpp"

namespace wheelyard::inspect {

// Reads a member in pieces and proves, by its end, its size, its CRC-32 and that no packed byte is left over.
// An Error whose code is a rule's ("zip.crc_mismatch") is about the wheel; any other is about reading it.
class MemberStream {
  public:
    MemberStream(const base::Reader& bytes, const Member& member);
    // The next piece, at most piece_bytes; valid until the next call; empty at the proven end.
    [[nodiscard]] base::Result<std::string_view> next();
    [[nodiscard]] std::uint64_t position() const { return produced_; }

    // Where unpacking stands, to go on from there later.
    struct Place {
        std::uint64_t consumed = 0;
        std::uint64_t produced = 0;
        Inflater inflater;
        std::string window;  // what was unpacked last: the stream refers to it
    };
    [[nodiscard]] Place place() const;
    void go_to(const Place& place);  // from here on the CRC-32 is not judged

  private:
    [[nodiscard]] base::Result<std::string_view> next_stored();
    [[nodiscard]] base::Result<std::string_view> next_deflated();
    [[nodiscard]] base::Status fill();
    [[nodiscard]] base::Result<std::string_view> deliver(std::size_t produced);
    [[nodiscard]] base::Status prove_end() const;
    // The unpacked bytes that the rest of the stream may refer to.
    [[nodiscard]] std::string_view window() const;

    const base::Reader& bytes_;
    const Member& member_;
    std::uint64_t consumed_ = 0;  // packed bytes used
    std::uint64_t produced_ = 0;
    std::uint32_t crc_ = 0;
    bool whole_ = true;  // from the first byte on, so the CRC-32 can be judged
    bool ended_ = false;
    std::string packed_;
    std::size_t packed_at_ = 0;
    std::string piece_;  // in front of it, window_room_ bytes for what was unpacked before
    std::size_t window_room_ = 0;
    std::size_t behind_ = 0;      // of them in use, up to the beginning of the piece
    std::size_t piece_size_ = 0;  // behind the room
    std::optional<Inflater> inflater_;
};

// The whole of a small member; more than `limit_bytes` is an Error "zip.member_too_large".
[[nodiscard]] base::Result<std::string> read_member(const base::Reader& bytes, const Member& member,
                                                    std::uint64_t limit_bytes);

// Random access to the unpacked bytes of a member that has been proven, for parsers of ELF files. A stored
// member is read where it lies; a small one was kept in memory; a large one is unpacked again from the
// nearest of its snapshots, except for its landmarks, and not without end: a file whose parts are scattered
// so that reading it takes more than max_passes passes is an Error "elf.malformed". One thread at a time.
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

    // How far apart snapshots of `member` are taken.
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

}  // namespace wheelyard::inspect
