// The ZIP structure of a wheel. ZIP readers disagree if a file contains redundant values: streaming readers
// use local headers, seeking readers the central directory; some search for the end record, some skip unknown
// data. A wheel that two readers could interpret differently is rejected, so this pass allows exactly one
// layout:
//
//     offset 0   local header, data, local header, data, …  each equal to its central entry, no gaps; a deflated member's
//                CRC-32 and sizes may follow its data
//     then       central directory
//     then       ZIP64 end record and ZIP64 locator, if needed
//     end        end record without comment
//
// Rules with reasons: docs/reference/wheel-zip.md. Format: PKWARE APPNOTE 6.3.9.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/verdict/findings.hpp"

namespace wheelyard::inspect {

enum class Method : std::uint16_t { stored = 0, deflate = 8 };

struct Member {
    std::string name;
    std::uint64_t header_offset = 0;  // of the local header
    std::uint64_t data_offset = 0;    // of the packed bytes; 0 if the local header could not be read
    std::uint64_t packed_bytes = 0;
    std::uint64_t unpacked_bytes = 0;    // as declared; verified when unpacking
    std::uint64_t descriptor_bytes = 0;  // behind the packed bytes, where a right data descriptor is
    std::uint32_t crc32 = 0;
    Method method = Method::stored;
    std::uint16_t flags = 0;
    std::uint32_t time_and_date = 0;
    bool may_run = false;  // an executable bit in its Unix mode
    bool readable = true;  // false: encrypted, unknown method, or outside the file
    [[nodiscard]] bool is_directory() const { return name.ends_with('/'); }
};

struct Frame {
    std::vector<Member> members;  // in the order of the central directory
    std::uint64_t unpacked_bytes = 0;
};

// nullopt: the members cannot be determined, or they are a bomb; a final finding says why. Error: I/O errors
// only.
[[nodiscard]] base::Result<std::optional<Frame>> read_frame(const base::Reader& bytes, Findings& findings,
                                                            const SizeLimits& sizes = {});

// Checks one name. `utf8_flag`: general purpose bit 11. Returns false if the name is longer
// than any path.
[[nodiscard]] bool check_member_name(std::string_view name, bool utf8_flag, Findings& findings);
// Reports names that are there twice. What else two names may not share depends on where they are installed
// (check_installed_tree).
void check_names_together(const std::vector<Member>& members, Findings& findings);

struct CodePoints {
    char32_t first, last;
};

// The code point that begins at text[at], which is moved behind it. `text` is UTF-8.
inline char32_t take_code_point(std::string_view text, std::size_t& at) {
    const auto byte = [&] { return static_cast<unsigned char>(text[at++]); };
    const char32_t first = byte();
    if (first < 0x80) return first;
    const int more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    char32_t point = first & (0x3fu >> more);
    for (int i = 0; i < more; ++i)
        point = point << 6 | (byte() & 0x3fu);
    return point;
}

inline constexpr std::size_t max_member_name_bytes = 4096;  // PATH_MAX
inline constexpr std::size_t max_component_bytes = 255;     // NAME_MAX: a longer one cannot be installed
inline constexpr std::uint64_t max_directory_bytes = 32 * base::mib;  // torch: 1.2 MiB

// ISA-L needs a microsecond or more per DEFLATE block, even for empty ones. zlib's default settings put
// 16,383 symbols into a block, its minimum memory setting 128. The limit is per member; every min_block_bytes
// allow one more block.
inline constexpr std::uint64_t max_short_blocks = 4096;

// Working memory per thread (inspect.hpp has the total). ELF members up to kept_member_bytes stay in memory.
// For a larger one, up to max_snapshots snapshots of up to 119 KiB each allow unpacking parts again, at most
// max_passes times its size in total, and member_stream.hpp keeps the headers of its device code. More than
// max_threads threads would only wait for the largest member; this bounds memory to 200 MiB.
inline constexpr std::size_t piece_bytes = 256 * base::kib;  // bytes read or unpacked per step
inline constexpr std::uint64_t kept_member_bytes = 16 * base::mib;
inline constexpr std::size_t max_landmark_bytes = 4 * base::mib;  // torch 2.6: 1 MiB
inline constexpr unsigned max_threads = 8;

struct ZipEnd {
    std::uint64_t members = 0;
    std::uint64_t directory_offset = 0;
    std::uint64_t directory_bytes = 0;
    std::uint64_t prefix_bytes = 0;  // before the archive: added to every offset that it stores
};

// Verifies that the central directory ends where the end records begin and that all records agree. nullopt:
// it cannot be found; a final finding says why.
[[nodiscard]] base::Result<std::optional<ZipEnd>> read_zip_end(const base::Reader& bytes, Findings& findings);

}  // namespace wheelyard::inspect
