// Why two byte strings differ: compares their texts (lines, or printable strings in binary bytes), once without the
// folders of the two builds and once without times. Pure. The bytes are untrusted; limits.hpp bounds the work.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "builder/compare/causes.hpp"

namespace wheelyard::builder {

// What the bytes of each build may contain of its own place: the names of the attempt's folder and of its build tree.
struct BuildNames {
    std::vector<std::string> recorded;
    std::vector<std::string> again;
};

// A difference and its evidence.
struct Evidence {
    Cause cause = Cause::bytes;
    std::string where;  // "line 12", a section's name; may be empty
    std::string recorded;
    std::string again;
};

// One entry for each cause that was found; Cause::bytes alone if none was. `recorded` != `again`.
[[nodiscard]] std::vector<Evidence> explain_bytes(std::string_view recorded, std::string_view again,
                                                  const BuildNames& names);

// `text` with every name replaced by the same mark.
[[nodiscard]] std::string without_names(std::string_view text, const std::vector<std::string>& names);
// `text` with every date, time of day and number of seconds since 1970 replaced by that mark.
[[nodiscard]] std::string without_times(std::string_view text);

}  // namespace wheelyard::builder
