// Keeps parts of a large member while it streams by, so that finding its device code needs no second
// unpacking: the headers of CUDA fatbins and of their entries, and the pages where HIP bundles begin. Purely
// a cache: results are the same without it, only slower. Layouts: gpu_code.hpp, gpu_code.hpp.
#include "lib/inspect/zip/member_stream.hpp"

#include <algorithm>
#include <cstring>

#include "lib/base/text/byte_cursor.hpp"
#include "lib/inspect/verdict/policy.hpp"
#include "lib/inspect/zip/zip.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::string_view fatbin_magic{"\x50\xed\x55\xba", 4};
constexpr std::string_view bundle_magics[] = {"__CLANG_OFFLOAD_BUNDLE__", "CCOB"};
constexpr std::uint64_t fatbin_alignment = 8, bundle_page = 4096;
constexpr std::size_t fatbin_header_bytes = 16, entry_bytes = 48;  // the part that gpu_code.cpp reads

std::uint64_t round_up(std::uint64_t offset, std::uint64_t alignment) {
    return (offset + alignment - 1) / alignment * alignment;
}

}  // namespace

void Landmarks::pass(std::uint64_t offset, std::string_view piece) {
    const std::uint64_t end = offset + piece.size();
    while (kept_.size() < max_landmark_bytes) {
        if (awaited_ == Awaited::magic) look_for_magic(offset, piece);
        const std::uint64_t from = awaited_at_ + arrived_.size();
        if (awaited_ == Awaited::magic || from >= end) return;
        arrived_ += piece.substr(from - offset, awaited_bytes_ - arrived_.size());
        if (arrived_.size() < awaited_bytes_) return;
        follow();
    }
}

// Ends with a fatbin awaited or with the piece searched. Linkers align fatbins to 8 bytes and bundles to
// pages.
void Landmarks::look_for_magic(std::uint64_t offset, std::string_view piece) {
    const std::uint64_t end = offset + piece.size();
    std::uint64_t at = round_up(std::max(awaited_at_, offset), fatbin_alignment);
    for (; at + fatbin_magic.size() <= end; at += fatbin_alignment) {
        const char* here = piece.data() + (at - offset);
        if (std::memcmp(here, fatbin_magic.data(), fatbin_magic.size()) == 0)
            return await(Awaited::fatbin, at, fatbin_header_bytes);
        if (at % bundle_page != 0) continue;
        const std::string_view page = piece.substr(at - offset, bundle_page);
        if (std::any_of(std::begin(bundle_magics), std::end(bundle_magics),
                        [&](std::string_view magic) { return page.starts_with(magic); })) {
            // Also keep the page before it, where the previous bundle ends and zeros follow.
            const std::uint64_t before = std::min(bundle_page, at - offset);
            keep(at - before, piece.substr(at - before - offset, before + bundle_page));
        }
    }
    awaited_at_ = at;
}

void Landmarks::await(Awaited what, std::uint64_t offset, std::size_t size) {
    awaited_ = what;
    awaited_at_ = offset;
    awaited_bytes_ = size;
    arrived_.clear();
}

void Landmarks::await_magic(std::uint64_t from) {
    await(Awaited::magic, from, 0);
}

// Handles the awaited bytes, which determine the next position. A magic found by chance is usually followed
// by invalid sizes; otherwise this skips or keeps too much, with no other effect.
void Landmarks::follow() {
    keep(awaited_at_, arrived_);
    base::ByteCursor cursor(arrived_);
    if (awaited_ == Awaited::fatbin) {
        cursor.skip(6);
        const std::uint64_t header_bytes = cursor.u16();
        const std::uint64_t body_bytes = cursor.u64();
        if (header_bytes < fatbin_header_bytes || body_bytes < entry_bytes || body_bytes > max_unpacked_bytes)
            return await_magic(awaited_at_ + fatbin_alignment);
        fatbin_end_ = awaited_at_ + header_bytes + body_bytes;
        return await(Awaited::entry, awaited_at_ + header_bytes, entry_bytes);
    }
    cursor.skip(4);
    const std::uint64_t header_bytes = cursor.u32();
    const std::uint64_t payload_bytes = cursor.u64();
    const std::uint64_t left = fatbin_end_ - awaited_at_;
    if (header_bytes < entry_bytes || header_bytes > left || payload_bytes > left - header_bytes)
        return await_magic(awaited_at_ + fatbin_alignment);
    const std::uint64_t next = awaited_at_ + header_bytes + payload_bytes;
    if (fatbin_end_ - next < entry_bytes) return await_magic(fatbin_end_);
    await(Awaited::entry, next, entry_bytes);
}

void Landmarks::keep(std::uint64_t offset, std::string_view bytes) {
    if (!blocks_.empty()) {
        const std::uint64_t kept_to = blocks_.back().offset + blocks_.back().size;
        const std::uint64_t known = std::min<std::uint64_t>(bytes.size(), std::max(kept_to, offset) - offset);
        bytes.remove_prefix(known);
        offset += known;
    }
    if (bytes.empty()) return;
    if (!blocks_.empty() && blocks_.back().offset + blocks_.back().size == offset) {
        blocks_.back().size += bytes.size();  // its bytes are the last of kept_
    } else {
        blocks_.push_back({offset, kept_.size(), bytes.size()});
    }
    kept_ += bytes;
}

bool Landmarks::read_at(std::uint64_t offset, char* into, std::size_t length) const {
    const auto after =
        std::upper_bound(blocks_.begin(), blocks_.end(), offset,
                         [](std::uint64_t wanted, const Block& block) { return wanted < block.offset; });
    if (after == blocks_.begin()) return false;
    const Block& block = *std::prev(after);
    const std::uint64_t inside = offset - block.offset;
    if (inside > block.size || length > block.size - inside) return false;
    std::memcpy(into, kept_.data() + block.at + inside, length);
    return true;
}

}  // namespace wheelyard::inspect
