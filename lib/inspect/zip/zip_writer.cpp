// Headers by PKWARE's APPNOTE 6.3.9: 4.3.7 (local), 4.3.12 (central), 4.3.16 (end).
#include "lib/inspect/zip/zip_writer.hpp"

#include <algorithm>
#include <cstddef>

#include "lib/inspect/zip/inflate.hpp"
#include "lib/inspect/zip/limits.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::uint64_t max_32 = 0xffffffff;
constexpr std::uint64_t max_16 = 0xffff;
constexpr std::uint16_t utf8_name = 1u << 11;
constexpr std::uint16_t version_needed = 20;     // DEFLATE
constexpr std::uint16_t made_by = 3u << 8 | 20;  // Unix
constexpr std::uint32_t regular_file = 0100644u << 16, program = 0100755u << 16,
                        folder = 0040755u << 16 | 0x10;

// Integers in little-endian order.
class Fields {
  public:
    Fields& number(std::uint64_t value, std::size_t bytes) {
        for (std::size_t i = 0; i < bytes; ++i)
            text_ += static_cast<char>(value >> (8 * i) & 0xff);
        return *this;
    }
    Fields& u16(std::uint64_t value) { return number(value, 2); }
    Fields& u32(std::uint64_t value) { return number(value, 4); }
    Fields& text(std::string_view text) {
        text_ += text;
        return *this;
    }
    [[nodiscard]] std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

// From method to sizes: the same in both headers.
void add_description(Fields& fields, const Member& member) {
    fields.u16(member.flags & utf8_name).u16(static_cast<std::uint16_t>(member.method));
    fields.u32(member.time_and_date).u32(member.crc32);
    fields.u32(member.packed_bytes).u32(member.unpacked_bytes).u16(member.name.size()).u16(0);
}

tl::unexpected<base::Error> too_large() {
    return base::fail("zip.too_large",
                      "A ZIP file of 4 GiB, or of 65,535 members, would need ZIP64, which is not written",
                      "");
}

std::uint32_t attributes_of(const Member& member) {
    return member.is_directory() ? folder : member.may_run ? program : regular_file;
}

}  // namespace

base::Status ZipWriter::write(std::string_view bytes) {
    written_ += bytes.size();
    return write_(bytes);
}

base::Status ZipWriter::begin(const Member& member) {
    if (std::max({member.packed_bytes, member.unpacked_bytes, written_}) >= max_32) return too_large();
    Fields central;
    central.text({"PK\x01\x02", 4}).u16(made_by).u16(version_needed);
    add_description(central, member);
    central.u16(0).u16(0).u16(0).u32(attributes_of(member)).u32(written_);
    directory_ += central.text(member.name).take();
    ++members_;

    Fields local;
    local.text({"PK\x03\x04", 4}).u16(version_needed);
    add_description(local, member);
    return write(local.text(member.name).take());
}

base::Status ZipWriter::copy(const base::Reader& bytes, const Member& member) {
    WHEELYARD_TRY(begin(member));
    std::string piece;
    for (std::uint64_t at = 0; at < member.packed_bytes; at += piece.size()) {
        piece.resize(std::min<std::uint64_t>(piece_bytes, member.packed_bytes - at));
        WHEELYARD_TRY(bytes.read_at(member.data_offset + at, piece.data(), piece.size()));
        WHEELYARD_TRY(write(piece));
    }
    return {};
}

base::Status ZipWriter::store(std::string name, std::string_view bytes, const Member& like) {
    Member member;
    member.name = std::move(name);
    member.packed_bytes = member.unpacked_bytes = bytes.size();
    member.crc32 = crc32_update(0, bytes);
    member.flags = like.flags;
    member.time_and_date = like.time_and_date;
    WHEELYARD_TRY(begin(member));
    return write(bytes);
}

base::Status ZipWriter::finish() {
    const std::uint64_t start = written_, size = directory_.size();
    if (members_ >= max_16 || start + size >= max_32) return too_large();
    WHEELYARD_TRY(write(directory_));
    Fields end;
    end.text({"PK\x05\x06", 4}).u16(0).u16(0).u16(members_).u16(members_);
    return write(end.u32(size).u32(start).u16(0).take());
}

}  // namespace wheelyard::inspect
