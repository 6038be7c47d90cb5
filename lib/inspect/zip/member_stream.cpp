#include "lib/inspect/zip/member_stream.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "lib/base/check.hpp"
#include "lib/inspect/zip/zip.hpp"

namespace wheelyard::inspect {

namespace {

constexpr std::uint64_t max_snapshots = 96;
constexpr std::uint64_t max_passes = 8;

}  // namespace

MemberStream::MemberStream(const base::Reader& bytes, const Member& member) : bytes_(bytes), member_(member) {
    WHEELYARD_CHECK(member.readable);
    if (member.method != Method::deflate) return;
    inflater_.emplace();
    window_room_ = std::min<std::uint64_t>(member.unpacked_bytes, Inflater::window_bytes);
}

base::Result<std::string_view> MemberStream::next() {
    if (ended_) return std::string_view();
    return member_.method == Method::stored ? next_stored() : next_deflated();
}

base::Status MemberStream::verify_end() const {
    if (produced_ != member_.unpacked_bytes) {
        return base::fail_malformed("zip.size_mismatch", "The member unpacks to another size than declared.",
                                    std::to_string(produced_));
    }
    if (whole_ && crc_ != member_.crc32) {
        return base::fail_malformed("zip.crc_mismatch", "The member's CRC-32 differs.", std::to_string(crc_));
    }
    return {};
}

base::Result<std::string_view> MemberStream::deliver(std::size_t produced) {
    produced_ += produced;
    piece_size_ = produced;
    const std::string_view piece(piece_.data() + window_room_, produced);
    if (whole_) crc_ = crc32_update(crc_, piece);
    return piece;
}

base::Result<std::string_view> MemberStream::next_stored() {
    const std::uint64_t left = member_.packed_bytes - produced_;
    if (left == 0) {
        ended_ = true;
        WHEELYARD_TRY(verify_end());
        return std::string_view();
    }
    piece_.resize(std::min<std::uint64_t>(left, piece_bytes));
    WHEELYARD_TRY(bytes_.read_at(member_.data_offset + produced_, piece_.data(), piece_.size()));
    return deliver(piece_.size());
}

// Keeps at least Inflater::lookahead_bytes in packed_, except at the end.
base::Status MemberStream::fill() {
    const std::size_t left = packed_.size() - packed_at_;
    const std::uint64_t unread = member_.packed_bytes - consumed_ - left;
    if (left >= Inflater::lookahead_bytes || unread == 0) return {};
    packed_.erase(0, packed_at_);
    packed_at_ = 0;
    packed_.resize(std::min<std::uint64_t>(left + unread, piece_bytes));
    return bytes_.read_at(member_.data_offset + consumed_ + left, packed_.data() + left,
                          packed_.size() - left);
}

std::string_view MemberStream::window() const {
    const std::string_view unpacked(piece_.data() + window_room_ - behind_, behind_ + piece_size_);
    return unpacked.substr(unpacked.size() - std::min(unpacked.size(), window_room_));
}

base::Result<std::string_view> MemberStream::next_deflated() {
    // Request one byte more than declared, so that a longer stream is detected without unpacking all of it.
    const std::uint64_t left = member_.unpacked_bytes - produced_;
    const std::size_t room = std::min<std::uint64_t>(left + 1, piece_bytes);
    piece_.resize(std::max(piece_.size(), window_room_ + room));
    const std::string_view before = window();
    behind_ = before.size();
    std::memmove(piece_.data() + window_room_ - behind_, before.data(), before.size());
    char* into = piece_.data() + window_room_;
    std::size_t produced = 0;
    bool finished = false;
    while (produced < room && !finished) {
        WHEELYARD_TRY(fill());
        const auto input = std::string_view(packed_).substr(packed_at_);
        const auto step = inflater_->step(input, into + produced, room - produced, behind_ + produced);
        packed_at_ += step.consumed;
        consumed_ += step.consumed;
        consumed_ -= step.unused;
        produced += step.produced;
        finished = step.finished;
        const bool stuck = step.consumed == 0 && step.produced == 0 && !finished;
        if (step.damaged || stuck) {
            return base::fail_malformed("zip.deflate_invalid",
                                        step.too_many_blocks
                                            ? "The DEFLATE stream has more blocks than any compressor makes."
                                            : "The member's data is not a complete DEFLATE stream.",
                                        "after " + std::to_string(produced_ + produced) + " bytes");
        }
    }
    if (produced > left) {
        return base::fail_malformed("zip.size_mismatch", "The member unpacks to more than declared.",
                                    "more than " + std::to_string(member_.unpacked_bytes));
    }
    auto piece = deliver(produced);
    if (!finished) return piece;
    ended_ = true;
    if (consumed_ != member_.packed_bytes) {
        return base::fail_malformed("zip.size_mismatch",
                                    "There are packed bytes after the end of the DEFLATE stream.",
                                    std::to_string(member_.packed_bytes - consumed_) + " extra packed bytes");
    }
    WHEELYARD_TRY(verify_end());
    return piece;
}

MemberStream::Place MemberStream::place() const {
    if (!inflater_) return {consumed_, produced_, Inflater(), {}};
    return {consumed_, produced_, Inflater(*inflater_), std::string(window())};
}

void MemberStream::seek(const Place& place) {
    consumed_ = place.consumed;
    produced_ = place.produced;
    if (inflater_) {
        inflater_.emplace(place.inflater);
        behind_ = 0;
        piece_size_ = place.window.size();
        piece_.resize(std::max(piece_.size(), window_room_));
        piece_.replace(window_room_, piece_size_, place.window);
    }
    packed_.clear();
    packed_at_ = 0;
    whole_ = false;
    ended_ = false;
}

base::Result<std::string> read_member(const base::Reader& bytes, const Member& member,
                                      std::uint64_t limit_bytes) {
    if (member.unpacked_bytes > limit_bytes) {
        return base::fail_malformed(
            "zip.member_too_large", "The member is larger than its limit.",
            std::to_string(member.unpacked_bytes) + " bytes, limit " + std::to_string(limit_bytes));
    }
    std::string whole;
    MemberStream stream(bytes, member);
    while (true) {
        WHEELYARD_ASSIGN(const std::string_view piece, stream.next());
        if (piece.empty()) return whole;
        whole += piece;
    }
}

std::uint64_t MemberReader::snapshot_interval(const Member& member) {
    return std::max<std::uint64_t>(kept_member_bytes / 4, member.unpacked_bytes / max_snapshots + 1);
}

base::Status MemberReader::read_at(std::uint64_t offset, char* into, std::size_t length) const {
    if (offset > size() || length > size() - offset) {
        return base::fail_for_now("file.truncated", "The requested bytes are beyond the end of the member.",
                                  std::to_string(offset) + "+" + std::to_string(length));
    }
    if (member_.method == Method::stored) return bytes_.read_at(member_.data_offset + offset, into, length);
    if (!kept_.empty()) {
        std::memcpy(into, kept_.data() + offset, length);
        return {};
    }
    if (landmarks_.read_at(offset, into, length)) return {};
    return read_again(offset, into, length);
}

base::Status MemberReader::read_again(std::uint64_t offset, char* into, std::size_t length) const {
    while (length > 0) {
        const bool in_piece = offset >= piece_offset_ && offset - piece_offset_ < piece_.size();
        if (!in_piece) {
            const MemberStream::Place* nearest = nullptr;
            for (const auto& snapshot : snapshots_) {
                if (snapshot.produced <= offset) nearest = &snapshot;
            }
            // Continue from the stream's position unless it is past the offset or a snapshot is closer.
            const bool behind = stream_.position() > offset;
            if (behind || (nearest != nullptr && nearest->produced > stream_.position())) {
                static const MemberStream::Place beginning;
                stream_.seek(nearest != nullptr ? *nearest : beginning);
            }
            if (unpacked_again_ / max_passes > size()) {
                return base::fail_malformed("elf.malformed",
                                            "The file's parts are in an order that no linker produces.",
                                            std::to_string(offset));
            }
            piece_offset_ = stream_.position();
            WHEELYARD_ASSIGN(piece_, stream_.next());
            unpacked_again_ += piece_.size();
            if (piece_.empty())
                return base::fail_for_now("file.truncated", "The member ends early.", std::to_string(offset));
            continue;
        }
        const std::string_view have = piece_.substr(offset - piece_offset_, length);
        std::memcpy(into, have.data(), have.size());
        into += have.size();
        offset += have.size();
        length -= have.size();
    }
    return {};
}

base::Status for_each_parallel(std::size_t count, unsigned threads,
                               const std::function<base::Status(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> stop = false;
    std::mutex mutex;
    std::optional<base::Error> error;
    std::exception_ptr thrown;
    const auto run = [&] {
        try {
            for (std::size_t i = next++; i < count && !stop; i = next++) {
                auto done = work(i);
                if (done) continue;
                stop = true;
                const std::scoped_lock lock(mutex);
                if (!error) error = std::move(done.error());
            }
        } catch (...) {
            stop = true;
            const std::scoped_lock lock(mutex);
            if (!thrown) thrown = std::current_exception();
        }
    };
    const std::size_t helpers = std::min<std::size_t>({threads, max_threads, count});
    {
        std::vector<std::jthread> team;  // joined at the end of this scope, even if starting a thread throws
        for (std::size_t i = 1; i < helpers; ++i)
            team.emplace_back(run);
        run();
    }
    if (thrown) std::rethrow_exception(thrown);
    if (error) return base::fail(std::move(*error));
    return {};
}

}  // namespace wheelyard::inspect
