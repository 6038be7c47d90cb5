// The frame of a wheel, byte by byte. ZIP readers disagree wherever a file says a thing twice: streaming
// readers believe local headers, seeking ones the central directory; some search for the end, some skip what
// they do not know. A wheel that two readers could take for two different things is refused, so this pass
// allows exactly one shape:
//
//     offset 0: local header, data, local header, data, …   each as its central entry says, nothing in
//     between then:     central directory, (ZIP64 end record, ZIP64 locator,) end record without comment, end
//     of file
//
// Every rule with its reason: docs/reference/wheel-zip.md. Format: PKWARE APPNOTE 6.3.9.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/findings.hpp"

namespace wheelyard::inspect {

enum class Method : std::uint16_t { stored = 0, deflate = 8 };

struct Member {
    std::string name;
    std::uint64_t header_offset = 0;  // of the local header
    std::uint64_t data_offset = 0;    // of the packed bytes; 0 when the local header could not be read
    std::uint64_t packed_bytes = 0;
    std::uint64_t unpacked_bytes = 0;  // as declared; the unpacking pass proves it
    std::uint32_t crc32 = 0;
    Method method = Method::stored;
    std::uint16_t flags = 0;
    std::uint32_t time_and_date = 0;
    bool readable = true;  // false: encrypted, an unknown method, or outside the file
    [[nodiscard]] bool is_directory() const { return name.ends_with('/'); }
};

struct Frame {
    std::vector<Member> members;  // in the order of the central directory
    std::uint64_t unpacked_bytes = 0;
};

// nullopt: no members can be told, or they are a bomb (the findings say why, and are final). Error: the bytes
// could not be read (I/O).
[[nodiscard]] base::Result<std::optional<Frame>> read_frame(const base::Reader& bytes, Findings& findings,
                                                            const SizeLimits& sizes = {});

}  // namespace wheelyard::inspect
