// The end of a ZIP file: end record, and ZIP64 end record with its locator (APPNOTE 4.3.14 to 4.3.16).
#include "lib/inspect/zip/zip.hpp"

#include <algorithm>
#include <string>

#include "lib/base/text/byte_cursor.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::string_view end_signature{"PK\x05\x06", 4};
constexpr std::string_view zip64_end_signature{"PK\x06\x06", 4};
constexpr std::string_view zip64_locator_signature{"PK\x06\x07", 4};
constexpr std::uint64_t end_bytes = 22;
constexpr std::uint64_t zip64_locator_bytes = 20;
constexpr std::uint64_t zip64_end_bytes = 56;  // without the extensible data, which no writer uses
constexpr std::uint64_t max_comment = 0xffff;

base::Result<std::string> read(const base::Reader& bytes, std::uint64_t offset, std::uint64_t length) {
    std::string text(length, '\0');
    WHEELYARD_TRY(bytes.read_at(offset, text.data(), text.size()));
    return text;
}

// The offset where a lenient reader finds the end record if it is not in the last 22 bytes.
base::Result<std::optional<std::uint64_t>> search_end(const base::Reader& bytes) {
    const std::uint64_t length = std::min(bytes.size(), end_bytes + max_comment);
    WHEELYARD_ASSIGN(const std::string tail, read(bytes, bytes.size() - length, length));
    const auto at = tail.rfind(end_signature);
    if (at == std::string::npos || length - at < end_bytes) return std::nullopt;
    return bytes.size() - length + at;
}

struct EndRecord {
    std::uint64_t offset = 0;
    std::uint32_t disk_fields = 0;  // this disk | disk of the directory << 16
    std::uint64_t members_here = 0, members = 0, directory_bytes = 0, directory_offset = 0;
};

base::Result<std::optional<EndRecord>> find_end(const base::Reader& bytes, Findings& findings) {
    if (bytes.size() < end_bytes) {
        findings.add_final("zip.no_end_record", {}, "at least 22 bytes",
                           std::to_string(bytes.size()) + " bytes");
        return std::nullopt;
    }
    EndRecord end;
    end.offset = bytes.size() - end_bytes;
    WHEELYARD_ASSIGN(std::string text, read(bytes, end.offset, end_bytes));
    if (!text.starts_with(end_signature) || text.substr(20) != std::string_view("\0\0", 2)) {
        WHEELYARD_ASSIGN(const auto elsewhere, search_end(bytes));
        if (!elsewhere) {
            findings.add_final("zip.no_end_record", {}, "an end record in the last 22 bytes");
            return std::nullopt;
        }
        end.offset = *elsewhere;
        WHEELYARD_ASSIGN(text, read(bytes, end.offset, end_bytes));
        const std::uint64_t after = bytes.size() - end.offset - end_bytes;
        const std::uint64_t comment = base::ByteCursor(std::string_view(text).substr(20)).u16();
        const std::string found =
            std::to_string(after) + " bytes after the end record at " + std::to_string(end.offset);
        findings.add(comment == after ? "zip.comment" : "zip.trailing_bytes", {}, "nothing", found);
    }
    base::ByteCursor cursor(std::string_view(text).substr(4));
    end.disk_fields = cursor.u32();
    end.members_here = cursor.u16();
    end.members = cursor.u16();
    end.directory_bytes = cursor.u32();
    end.directory_offset = cursor.u32();
    return end;
}

// Says whether a field of the end record agrees with its ZIP64 counterpart: equal, or all ones (APPNOTE
// 4.4.1.4).
bool agrees(std::uint64_t narrow, std::uint64_t wide, std::uint64_t all_ones) {
    return narrow == all_ones || narrow == wide;
}

base::Result<std::optional<ZipEnd>> read_zip64(const base::Reader& bytes, const EndRecord& end,
                                               std::uint64_t locator_offset, std::string_view locator,
                                               Findings& findings) {
    base::ByteCursor at(locator.substr(4));
    const std::uint32_t disk = at.u32();
    const std::uint64_t offset = at.u64();
    const std::uint32_t disks = at.u32();
    constexpr std::string_view expected = "the ZIP64 end record in the 56 bytes before its locator";
    const std::string found = "offset " + std::to_string(offset);
    std::string text;
    if (disk == 0 && disks <= 1 && locator_offset >= zip64_end_bytes) {
        WHEELYARD_ASSIGN(text, read(bytes, locator_offset - zip64_end_bytes, zip64_end_bytes));
    }
    if (!text.starts_with(zip64_end_signature)) {
        findings.add_final("zip.zip64_invalid", {}, expected, found);
        return std::nullopt;
    }
    if (offset != locator_offset - zip64_end_bytes) findings.add("zip.zip64_invalid", {}, expected, found);
    base::ByteCursor record(text);
    record.skip(4);  // signature
    const std::uint64_t rest_bytes = record.u64();
    record.skip(4);  // versions
    const std::uint64_t disk_fields = record.u64();
    const std::uint64_t members_here = record.u64();
    ZipEnd wide;
    wide.members = record.u64();
    wide.directory_bytes = record.u64();
    wide.directory_offset = record.u64();
    if (rest_bytes != zip64_end_bytes - 12 || disk_fields != 0 || members_here != wide.members ||
        !agrees(end.members, wide.members, 0xffff) || !agrees(end.members_here, wide.members, 0xffff) ||
        !agrees(end.directory_bytes, wide.directory_bytes, 0xffffffff) ||
        !agrees(end.directory_offset, wide.directory_offset, 0xffffffff)) {
        findings.add("zip.zip64_invalid", {}, "a ZIP64 end record that agrees with the end record", found);
    }
    return wide;
}

}  // namespace

base::Result<std::optional<ZipEnd>> read_zip_end(const base::Reader& bytes, Findings& findings) {
    WHEELYARD_ASSIGN(const auto end, find_end(bytes, findings));
    if (!end) return std::nullopt;
    if (end->disk_fields != 0 || end->members_here != end->members)
        findings.add("zip.several_disks", {}, "one disk", "");
    ZipEnd result{end->members, end->directory_offset, end->directory_bytes};
    std::uint64_t records_offset = end->offset;
    bool zip64 = false;
    if (end->offset >= zip64_locator_bytes) {
        const std::uint64_t locator_offset = end->offset - zip64_locator_bytes;
        WHEELYARD_ASSIGN(const std::string locator, read(bytes, locator_offset, zip64_locator_bytes));
        if (locator.starts_with(zip64_locator_signature)) {
            WHEELYARD_ASSIGN(const auto wide, read_zip64(bytes, *end, locator_offset, locator, findings));
            if (!wide) return std::nullopt;
            result = *wide;
            records_offset = locator_offset - zip64_end_bytes;
            zip64 = true;
        }
    }
    // 65,535 members fit the end record: Python's zipfile writes ZIP64 records only above that number.
    if (!zip64 && (end->directory_bytes == 0xffffffff || end->directory_offset == 0xffffffff)) {
        findings.add_final("zip.zip64_invalid", {}, "a ZIP64 locator, which the end record requires", "none");
        return std::nullopt;
    }
    if (result.directory_bytes > records_offset ||
        result.directory_offset != records_offset - result.directory_bytes) {
        const bool shifted = result.directory_bytes <= records_offset &&
                             result.directory_offset < records_offset - result.directory_bytes;
        const std::string found = "offset " + std::to_string(result.directory_offset) + ", " +
                                  std::to_string(result.directory_bytes) + " bytes";
        const std::string expected = "a central directory that ends at " + std::to_string(records_offset);
        if (!shifted) {
            findings.add_final("zip.truncated", {}, expected, found);
            return std::nullopt;
        }
        findings.add("zip.prefix", {}, expected, found);
        result.prefix_bytes = records_offset - result.directory_bytes - result.directory_offset;
        result.directory_offset += result.prefix_bytes;
    }
    return result;
}

}  // namespace wheelyard::inspect
