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

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/files/file.hpp"
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

}  // namespace wheelyard::inspect
