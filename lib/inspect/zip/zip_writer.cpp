// Headers by PKWARE's APPNOTE 6.3.9: 4.3.7 (local), 4.3.12 (central), 4.3.14 to 4.3.16 (end), 4.5.3 (ZIP64).
#include "lib/inspect/zip/zip_writer.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lib/inspect/zip/inflate.hpp"
#include "lib/inspect/zip/zip.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::uint64_t max_32 = 0xffffffff;  // all ones: the value is a ZIP64 one
constexpr std::uint64_t max_16 = 0xffff;
constexpr std::uint16_t utf8_name = 1u << 11;
constexpr std::uint16_t version_deflate = 20, version_zip64 = 45;
constexpr std::uint16_t made_by = 3u << 8;  // Unix
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
    Fields& u64(std::uint64_t value) { return number(value, 8); }
    Fields& text(std::string_view text) {
        text_ += text;
        return *this;
    }
    [[nodiscard]] std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

// The ZIP64 extra field with `values`; none without one.
std::string zip64_extra(const std::vector<std::uint64_t>& values) {
    constexpr std::uint16_t type = 0x0001;
    Fields extra;
    if (!values.empty()) extra.u16(type).u16(values.size() * sizeof(std::uint64_t));
    for (const std::uint64_t value : values)
        extra.u64(value);
    return extra.take();
}

std::uint16_t version_needed(std::string_view extra) {
    return extra.empty() ? version_deflate : version_zip64;
}

// From the version to the length of the extra field: the same fields in both headers.
void add_description(Fields& fields, const Member& member, std::uint64_t packed, std::uint64_t unpacked,
                     std::string_view extra) {
    fields.u16(version_needed(extra)).u16(member.flags & utf8_name);
    fields.u16(static_cast<std::uint16_t>(member.method)).u32(member.time_and_date).u32(member.crc32);
    fields.u32(std::min(packed, max_32)).u32(std::min(unpacked, max_32));
    fields.u16(member.name.size()).u16(extra.size());
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
    std::vector<std::uint64_t> wide;
    for (const std::uint64_t value : {member.unpacked_bytes, member.packed_bytes, written_}) {
        if (value >= max_32) wide.push_back(value);
    }
    std::string extra = zip64_extra(wide);
    Fields central;
    central.text({"PK\x01\x02", 4}).u16(made_by | version_needed(extra));
    add_description(central, member, member.packed_bytes, member.unpacked_bytes, extra);
    central.u16(0).u16(0).u16(0).u32(attributes_of(member)).u32(std::min(written_, max_32));
    directory_ += central.text(member.name).text(extra).take();
    ++members_;

    // In the local header both sizes are ZIP64 ones, or none.
    const bool is_large = std::max(member.packed_bytes, member.unpacked_bytes) >= max_32;
    extra = is_large ? zip64_extra({member.unpacked_bytes, member.packed_bytes}) : std::string();
    Fields local;
    local.text({"PK\x03\x04", 4});
    add_description(local, member, is_large ? max_32 : member.packed_bytes,
                    is_large ? max_32 : member.unpacked_bytes, extra);
    return write(local.text(member.name).text(extra).take());
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
    WHEELYARD_TRY(write(directory_));
    Fields end;
    if (members_ >= max_16 || std::max(start, size) >= max_32) {
        constexpr std::uint64_t rest_bytes = 44;  // of the record, after this value
        const std::uint64_t record = written_;
        end.text({"PK\x06\x06", 4}).u64(rest_bytes).u16(made_by | version_zip64).u16(version_zip64);
        end.u32(0).u32(0).u64(members_).u64(members_).u64(size).u64(start);
        end.text({"PK\x06\x07", 4}).u32(0).u64(record).u32(1);
    }
    const std::uint64_t members = std::min(members_, max_16);
    end.text({"PK\x05\x06", 4}).u16(0).u16(0).u16(members).u16(members);
    return write(end.u32(std::min(size, max_32)).u32(std::min(start, max_32)).u16(0).take());
}

}  // namespace wheelyard::inspect
