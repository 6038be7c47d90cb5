// Reads the central directory and then every local header, and compares all redundant values.
#include "lib/inspect/zip/zip.hpp"

#include <algorithm>
#include <cstdint>

#include "lib/base/text/byte_cursor.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::uint64_t max_members = 200'000;  // torch has 13,187

constexpr std::string_view central_signature{"PK\x01\x02", 4};
constexpr std::string_view local_signature{"PK\x03\x04", 4};
constexpr std::string_view descriptor_signature{"PK\x07\x08", 4};
constexpr std::uint64_t local_bytes = 30;
constexpr std::uint64_t descriptor_bytes = 16, wide_descriptor_bytes = 24;  // with the signature
constexpr std::uint64_t all_ones_32 = 0xffffffff;

// General purpose flag bits (APPNOTE 4.4.4).
constexpr std::uint16_t flag_encrypted = 1u << 0 | 1u << 6;
constexpr std::uint16_t flag_patched = 1u << 5;
constexpr std::uint16_t flag_descriptor = 1u << 3;
constexpr std::uint16_t flag_utf8 = 1u << 11;
constexpr std::uint16_t flag_deflate_level = 1u << 1 | 1u << 2;

// Extra fields (APPNOTE 4.5, and Info-ZIP's list).
constexpr std::uint16_t extra_zip64 = 0x0001;
constexpr std::uint16_t extra_unicode_path = 0x7075;  // a second name that some readers prefer
constexpr std::uint16_t extra_unicode_comment = 0x6375;

enum class ExtraFault { none, odd, cut };  // cut: data beyond the end, which pip and uv refuse

// Parses the extra field strictly to its end; `zip64` gets the data of the only ZIP64 field.
ExtraFault parse_extra(std::string_view extra, std::optional<std::string_view>& zip64) {
    base::ByteCursor cursor(extra);
    while (cursor.left() > 0) {
        if (cursor.left() < 4) return ExtraFault::odd;
        const std::uint16_t type = cursor.u16();
        const std::uint16_t length = cursor.u16();
        const std::string_view data = cursor.text(length);
        if (!cursor.ok()) return ExtraFault::cut;
        if (type == extra_unicode_path || type == extra_unicode_comment) return ExtraFault::odd;
        if (type != extra_zip64) continue;
        if (zip64) return ExtraFault::odd;
        zip64 = data;
    }
    return ExtraFault::none;
}

// pip (Python's zipfile) reads the lower byte of the central one and refuses more than 6.3, uv both headers'
// ones.
void check_version_needed(std::string_view member, std::uint16_t needed, bool is_central,
                          Findings& findings) {
    constexpr unsigned newest = 63;
    if (needed <= newest) return;
    const std::string found = std::to_string(needed / 10) + "." + std::to_string(needed % 10);
    is_central && (needed & 0xff) > newest
        ? findings.add_final("zip.version_needed", member, "6.3 at most", found)
        : findings.add("zip.version_needed", member, "6.3 at most", found);
}

// Parses central entries one by one; nullopt if the directory cannot be parsed further.
class CentralReader {
  public:
    CentralReader(std::string_view directory, Findings& findings) : cursor_(directory), findings_(findings) {}

    std::optional<Member> next() {
        if (cursor_.text(4) != central_signature) return std::nullopt;
        const std::uint16_t made_by = cursor_.u16();
        const std::uint16_t needed = cursor_.u16();
        Member member;
        member.flags = cursor_.u16();
        const std::uint16_t method = cursor_.u16();
        member.time_and_date = cursor_.u32();
        member.crc32 = cursor_.u32();
        member.packed_bytes = cursor_.u32();
        member.unpacked_bytes = cursor_.u32();
        const std::uint16_t name_bytes = cursor_.u16();
        const std::uint16_t extra_bytes = cursor_.u16();
        const std::uint16_t comment_bytes = cursor_.u16();
        const std::uint16_t disk = cursor_.u16();
        cursor_.skip(2);  // internal attributes: "text" or not
        const std::uint32_t attributes = cursor_.u32();
        member.header_offset = cursor_.u32();
        member.name = cursor_.text(name_bytes);
        const std::string_view extra = cursor_.text(extra_bytes);
        cursor_.skip(comment_bytes);
        if (!cursor_.ok()) return std::nullopt;

        if (!check_member_name(member.name, (member.flags & flag_utf8) != 0, findings_)) {
            given_up_ = true;
            return std::nullopt;
        }
        check_version_needed(member.name, needed, true, findings_);
        if (disk != 0) findings_.add("zip.several_disks", member.name, "disk 0", std::to_string(disk));
        if (comment_bytes != 0)
            findings_.add("zip.comment", member.name, "nothing", std::to_string(comment_bytes) + " bytes");
        check_method(member, method);
        constexpr std::uint32_t executable = 0111u << 16;
        member.may_run = (attributes & executable) != 0;
        check_kind(member, made_by, attributes);
        apply_extra(member, extra);
        return member;
    }
    [[nodiscard]] std::size_t left() const { return cursor_.left(); }
    // Says whether a finding that ends the check was already added.
    [[nodiscard]] bool given_up() const { return given_up_; }

  private:
    void check_method(Member& member, std::uint16_t method) {
        member.method = static_cast<Method>(method);
        if (member.method != Method::stored && member.method != Method::deflate) {
            findings_.add_final("zip.method", member.name, "0 (stored) or 8 (deflate)",
                                std::to_string(method));
            member.readable = false;
        }
        if ((member.flags & flag_encrypted) != 0) {
            findings_.add_final("zip.encrypted", member.name);
            member.readable = false;
        }
        const unsigned known = flag_encrypted | flag_descriptor | flag_utf8 | flag_deflate_level;
        if ((member.flags & flag_patched) != 0)  // pip and uv refuse it
            findings_.add_final("zip.flags", member.name, {}, std::to_string(member.flags));
        else if ((member.flags & ~known) != 0)
            findings_.add("zip.flags", member.name, {}, std::to_string(member.flags));
        if (member.method == Method::stored && member.packed_bytes != member.unpacked_bytes) {
            findings_.add("zip.size_mismatch", member.name,
                          std::to_string(member.packed_bytes) + " bytes, for a stored member",
                          std::to_string(member.unpacked_bytes));
        }
    }

    // The upper half of the external attributes has the Unix mode; installers handle regular files and
    // folders only.
    void check_kind(const Member& member, std::uint16_t made_by, std::uint32_t attributes) {
        constexpr std::uint32_t type_mask = 0170000, regular = 0100000, folder = 0040000, link = 0120000;
        const std::uint32_t type = attributes >> 16 & type_mask;
        if (type == link) {
            findings_.add("zip.symlink", member.name);
        } else if (type != 0 && type != regular && type != folder) {
            findings_.add("zip.special_file", member.name, "a regular file",
                          "host " + std::to_string(made_by >> 8) + ", type " + std::to_string(type >> 12));
        } else if ((type == folder) != member.is_directory() && type != 0) {
            findings_.add("zip.special_file", member.name,
                          member.is_directory() ? "a folder" : "a regular file", "mode and name differ");
        }
        if (member.is_directory() && (member.unpacked_bytes != 0 || member.packed_bytes > 2)) {
            // An empty DEFLATE stream has two bytes.
            findings_.add("zip.directory_data", member.name, "no data",
                          std::to_string(member.unpacked_bytes) + " bytes");
        }
    }

    // ZIP64: the field contains exactly the values that are all ones in the entry, in this order (APPNOTE
    // 4.5.3).
    void apply_extra(Member& member, std::string_view extra) {
        std::optional<std::string_view> zip64;
        const ExtraFault fault = parse_extra(extra, zip64);
        constexpr std::string_view expected = "fields of type, length and data; no second name";
        if (fault == ExtraFault::cut)
            findings_.add_final("zip.extra_invalid", member.name, expected, "");
        else if (fault == ExtraFault::odd)
            findings_.add("zip.extra_invalid", member.name, expected, "");
        base::ByteCursor wide(zip64.value_or(std::string_view{}));
        for (std::uint64_t* value : {&member.unpacked_bytes, &member.packed_bytes, &member.header_offset}) {
            if (*value == all_ones_32) *value = wide.u64();
        }
        if (!wide.ok() || wide.left() != 0 || (zip64 && zip64->empty())) {
            findings_.add("zip.zip64_invalid", member.name, "as many ZIP64 values as the entry refers to",
                          "");
            member.readable = member.readable && wide.ok();
        }
    }

    base::ByteCursor cursor_;
    Findings& findings_;
    bool given_up_ = false;
};

// Compares one local header with its central entry and sets data_offset.
class LocalReader {
  public:
    LocalReader(const base::Reader& bytes, std::uint64_t data_end, Findings& findings)
        : bytes_(bytes), data_end_(data_end), findings_(findings) {}

    base::Status read(Member& member) {
        if (member.header_offset > data_end_ ||
            data_end_ - member.header_offset < local_bytes + member.name.size()) {
            return unreadable(member, "a local header before the central directory");
        }
        std::string text(local_bytes + member.name.size(), '\0');
        WHEELYARD_TRY(bytes_.read_at(member.header_offset, text.data(), text.size()));
        if (!text.starts_with(local_signature)) return unreadable(member, "a local header");
        base::ByteCursor cursor(std::string_view(text).substr(4));
        check_version_needed(member.name, cursor.u16(), false, findings_);
        const std::uint16_t flags = cursor.u16();
        const std::uint16_t method = cursor.u16();
        const std::uint32_t time_and_date = cursor.u32();
        const std::uint32_t crc = cursor.u32();
        std::uint64_t packed = cursor.u32();
        std::uint64_t unpacked = cursor.u32();
        const std::uint16_t name_bytes = cursor.u16();
        const std::uint16_t extra_bytes = cursor.u16();
        const std::uint64_t data = member.header_offset + local_bytes + name_bytes + extra_bytes;
        if (data > data_end_ || data_end_ - data < member.packed_bytes) {
            return unreadable(member, "data before the central directory");
        }
        member.data_offset = data;
        WHEELYARD_ASSIGN(const bool is_wide, apply_extra(member, name_bytes, extra_bytes, packed, unpacked));

        const std::string_view name = std::string_view(text).substr(local_bytes, name_bytes);
        if (name_bytes != member.name.size() || name != member.name)  // pip and uv refuse the wheel
            findings_.add_final("zip.local_differs", member.name, text_of_central("name", member.name),
                                text_of_local(name));
        if (flags != member.flags)
            differs(member, "flags", std::to_string(member.flags), std::to_string(flags));
        if (method != static_cast<std::uint16_t>(member.method)) {
            differs(member, "method", std::to_string(static_cast<std::uint16_t>(member.method)),
                    std::to_string(method));
        }
        if (time_and_date != member.time_and_date)
            differs(member, "time", std::to_string(member.time_and_date), std::to_string(time_and_date));
        if ((member.flags & flag_descriptor) != 0) {
            const bool agrees = (crc == 0 || crc == member.crc32) &&
                                (packed == 0 || packed == member.packed_bytes) &&
                                (unpacked == 0 || unpacked == member.unpacked_bytes);
            return check_descriptor(member, agrees, is_wide);
        }
        if (crc != member.crc32) differs(member, "CRC-32", std::to_string(member.crc32), std::to_string(crc));
        if (packed != member.packed_bytes)
            differs(member, "packed size", std::to_string(member.packed_bytes), std::to_string(packed));
        if (unpacked != member.unpacked_bytes)
            differs(member, "size", std::to_string(member.unpacked_bytes), std::to_string(unpacked));
        return {};
    }

    // Says whether the limit on extra fields was exceeded.
    [[nodiscard]] bool given_up() const { return given_up_; }

  private:
    base::Status unreadable(Member& member, std::string_view expected) {
        findings_.add_final("zip.truncated", member.name, expected,
                            "offset " + std::to_string(member.header_offset));
        member.readable = false;
        return {};
    }

    void differs(const Member& member, std::string_view what, std::string_view central,
                 std::string_view local) {
        findings_.add("zip.local_differs", member.name, text_of_central(what, central), text_of_local(local));
    }
    static std::string text_of_central(std::string_view what, std::string_view value) {
        return std::string(what) + " " + std::string(value) + " (central directory)";
    }
    static std::string text_of_local(std::string_view value) {
        return std::string(value) + " (local header)";
    }

    // A member that was written to a pipe. Streaming readers go by what follows its data, seeking ones by the
    // central directory (APPNOTE 4.3.9). uv streams no stored member, whose end only this would tell. A
    // signature is optional, but all write it.
    base::Status check_descriptor(Member& member, bool agrees, bool is_wide) {
        std::string text(is_wide ? wide_descriptor_bytes : descriptor_bytes, '\0');
        const std::uint64_t at = member.data_offset + member.packed_bytes;
        if (data_end_ - at >= text.size()) WHEELYARD_TRY(bytes_.read_at(at, text.data(), text.size()));
        base::ByteCursor cursor(text);
        agrees = agrees && cursor.text(descriptor_signature.size()) == descriptor_signature &&
                 cursor.u32() == member.crc32 &&
                 (is_wide ? cursor.u64() : cursor.u32()) == member.packed_bytes &&
                 (is_wide ? cursor.u64() : cursor.u32()) == member.unpacked_bytes;
        if (agrees && member.method == Method::deflate)
            member.descriptor_bytes = text.size();
        else
            findings_.add("zip.data_descriptor", member.name,
                          "a deflated member, with the central directory's values",
                          agrees ? "stored" : "other values");
        return {};
    }

    // Says whether there is a ZIP64 field. A local one always has both sizes (APPNOTE 4.5.3). Writers that do
    // not know the size in advance reserve the field, so it may be redundant; then its values must agree.
    base::Result<bool> apply_extra(Member& member, std::uint64_t name_bytes, std::uint64_t extra_bytes,
                                   std::uint64_t& packed, std::uint64_t& unpacked) {
        const bool needed = packed == all_ones_32 || unpacked == all_ones_32;
        std::optional<std::string_view> zip64;
        // Any number of entries may refer to one local header, and each of them reads it.
        extra_bytes_ += extra_bytes;
        if (extra_bytes_ > max_directory_bytes) {
            findings_.add_final("zip.extra_invalid", member.name,
                                std::to_string(max_directory_bytes) + " bytes at most in all local headers",
                                "more");
            given_up_ = true;
            return false;
        }
        std::string extra(extra_bytes, '\0');
        if (extra_bytes != 0) {
            WHEELYARD_TRY(
                bytes_.read_at(member.header_offset + local_bytes + name_bytes, extra.data(), extra.size()));
        }
        if (parse_extra(extra, zip64) != ExtraFault::none) {
            findings_.add("zip.extra_invalid", member.name, "fields of type, length and data; no second name",
                          "local header");
        }
        if (!zip64 && !needed) return false;
        base::ByteCursor wide(zip64.value_or(std::string_view{}));
        const std::uint64_t wide_unpacked = wide.u64();
        const std::uint64_t wide_packed = wide.u64();
        const bool agree = (unpacked == all_ones_32 || unpacked == wide_unpacked) &&
                           (packed == all_ones_32 || packed == wide_packed);
        if (!wide.ok() || wide.left() != 0 || !agree) {
            findings_.add("zip.zip64_invalid", member.name, "both sizes in the local ZIP64 field", "");
            return zip64.has_value();
        }
        unpacked = wide_unpacked;
        packed = wide_packed;
        return true;
    }

    const base::Reader& bytes_;
    std::uint64_t data_end_;
    Findings& findings_;
    std::uint64_t extra_bytes_ = 0;
    bool given_up_ = false;
};

// Members must fill the file from its start to the central directory without gaps (hidden bytes) and
// overlaps. If there is a known prefix, the rest must be filled.
void check_contiguous(const std::vector<Member>& members, const ZipEnd& end, Findings& findings) {
    std::vector<const Member*> in_file;
    for (const Member& member : members) {
        if (member.data_offset != 0) in_file.push_back(&member);
    }
    if (in_file.size() != members.size()) return;  // zip.truncated reports this; gaps cannot be determined
    std::sort(in_file.begin(), in_file.end(),
              [](const Member* a, const Member* b) { return a->header_offset < b->header_offset; });
    std::uint64_t at = end.prefix_bytes;
    bool after_descriptor = false;
    for (const Member* member : in_file) {
        const std::string found = "offset " + std::to_string(member->header_offset);
        if (after_descriptor && member->header_offset > at &&
            member->header_offset - at <= wide_descriptor_bytes) {
            // zip.data_descriptor reports this.
        } else if (member->header_offset > at) {
            findings.add(at == end.prefix_bytes ? "zip.prefix" : "zip.gap", member->name,
                         "offset " + std::to_string(at), found);
        } else if (member->header_offset < at) {
            findings.add_final("zip.overlap", member->name, "offset " + std::to_string(at), found);
        }
        at = std::max(at, member->data_offset + member->packed_bytes + member->descriptor_bytes);
        after_descriptor = (member->flags & flag_descriptor) != 0 && member->descriptor_bytes == 0;
    }
    if (at < end.directory_offset &&
        !(after_descriptor && end.directory_offset - at <= wide_descriptor_bytes)) {
        findings.add("zip.gap", {}, "the central directory at " + std::to_string(at),
                     "offset " + std::to_string(end.directory_offset));
    }
}

// Returns false for a decompression bomb, which must not be unpacked.
bool check_sizes(Frame& frame, std::uint64_t file_bytes, const SizeLimits& sizes, Findings& findings) {
    bool sane = true;
    for (const Member& member : frame.members) {
        if (member.unpacked_bytes > sizes.ratio_from_bytes &&
            member.unpacked_bytes / sizes.ratio > member.packed_bytes) {
            findings.add_final("zip.bomb", member.name,
                               "at most " + std::to_string(sizes.ratio) + " times the packed size",
                               std::to_string(member.packed_bytes) + " bytes that unpack to " +
                                   std::to_string(member.unpacked_bytes));
            sane = false;
        }
        if (member.unpacked_bytes > sizes.unpacked_bytes - frame.unpacked_bytes) {
            findings.add_final("zip.bomb", member.name,
                               "at most " + std::to_string(sizes.unpacked_bytes) + " bytes in total", "more");
            return false;
        }
        frame.unpacked_bytes += member.unpacked_bytes;
    }
    if (frame.unpacked_bytes > sizes.ratio_from_bytes && frame.unpacked_bytes / sizes.ratio > file_bytes) {
        findings.add_final(
            "zip.bomb", {}, "at most " + std::to_string(sizes.ratio) + " times the wheel's size",
            std::to_string(file_bytes) + " bytes that unpack to " + std::to_string(frame.unpacked_bytes));
        sane = false;
    }
    return sane;
}

}  // namespace

base::Result<std::optional<Frame>> read_frame(const base::Reader& bytes, Findings& findings,
                                              const SizeLimits& sizes) {
    WHEELYARD_ASSIGN(const auto end, read_zip_end(bytes, findings));
    if (!end) return std::nullopt;
    if (end->members > max_members || end->directory_bytes > max_directory_bytes) {
        findings.add_final("zip.too_many_members", {}, "at most " + std::to_string(max_members),
                           std::to_string(end->members));
        return std::nullopt;
    }
    std::string directory(end->directory_bytes, '\0');
    WHEELYARD_TRY(bytes.read_at(end->directory_offset, directory.data(), directory.size()));

    Frame frame;
    CentralReader central(directory, findings);
    const std::string expected = std::to_string(end->members) + " entries, as in the end record";
    while (central.left() > 0) {
        auto member = central.next();
        if (central.given_up()) return std::nullopt;
        if (!member || frame.members.size() == max_members) {
            findings.add_final("zip.directory_invalid", {}, expected,
                               "something else after " + std::to_string(frame.members.size()) + " entries");
            return std::nullopt;
        }
        member->header_offset += end->prefix_bytes;
        frame.members.push_back(std::move(*member));
    }
    // Installers read the whole directory and ignore the count.
    if (frame.members.size() != end->members)
        findings.add("zip.directory_invalid", {}, expected, std::to_string(frame.members.size()));
    LocalReader local(bytes, end->directory_offset, findings);
    for (Member& member : frame.members) {
        WHEELYARD_TRY(local.read(member));
        if (local.given_up()) return std::nullopt;
    }
    check_contiguous(frame.members, *end, findings);
    check_names_together(frame.members, findings);
    if (!check_sizes(frame, bytes.size(), sizes, findings)) return std::nullopt;
    return frame;
}

}  // namespace wheelyard::inspect
