// Core metadata (METADATA) and the WHEEL file: strictly parsed e-mail headers; all fields are kept in order.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/wheel/limits.hpp"
#include "lib/wheel/specifier.hpp"
#include "lib/wheel/tags.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::wheel {

// What a lenient reader tolerates. The parsers of a wheel's .dist-info files are strict; a caller that passes
// a list of faults gets everything that can still be read, as installers do, and judges the faults itself.
using Faults = std::vector<base::Error>;  // at most max_faults: the first ones

// Adds the error of `status` to `faults`; returns it unchanged if `faults` is null.
[[nodiscard]] inline base::Status tolerate(base::Status status, Faults* faults) {
    if (status || faults == nullptr) return status;
    if (faults->size() < max_faults) faults->push_back(std::move(status.error()));
    return {};
}

// RFC 822-like headers: name → value in file order, folded lines joined by '\n'. The body follows a blank
// line.
struct HeaderFile {
    std::vector<std::pair<std::string, std::string>> fields;
    std::string body;
    [[nodiscard]] const std::string* first(std::string_view name) const;  // ignores case
    [[nodiscard]] std::vector<std::string> all(std::string_view name) const;
};
// With `faults`, a line that is no header ends the headers, like an empty one.
[[nodiscard]] base::Result<HeaderFile> parse_headers(std::string_view text, Faults* faults = nullptr);

// Metadata 1.0 to 2.6. Errors "metadata.*": unknown version, invalid or missing Name or Version, a repeated
// single-use field, a Requires-Python that is no specifier set, invalid UTF-8, both License and
// License-Expression, an invalid Dynamic name. With `faults`, only what leaves no name or version to publish
// is an error: invalid UTF-8, and an invalid or missing Name or Version.
struct Metadata {
    std::string metadata_version;
    std::string name;
    Version version;
    std::string summary;
    std::string requires_python;             // as written, may be empty
    std::vector<std::string> requires_dist;  // as written
    std::vector<std::string> provides_extra;
    // Fields newer than metadata_version. Not an error: setuptools wrote License-File into 2.1 for years.
    std::vector<std::string> newer_fields;
    HeaderFile headers;

    [[nodiscard]] bool is_at_least(std::string_view format) const;  // `format` such as "2.4"
};
// Says whether it is a version of the core metadata, or 2.0, which `wheel` wrote for years.
[[nodiscard]] bool is_metadata_version(std::string_view version);
[[nodiscard]] base::Result<Metadata> parse_metadata(std::string_view text, Faults* faults = nullptr);

// What METADATA states of the licence.
struct StatedLicense {
    std::string text;  // as written: an SPDX expression, or anything
    std::string from;  // the field: "License-Expression", "License" or "Classifier"; empty: nothing is stated
};
// License only where it is one line: some projects write the whole licence there.
[[nodiscard]] StatedLicense stated_license(const HeaderFile& headers);

// *.dist-info/WHEEL. With `faults`, a missing or invalid Root-Is-Purelib counts as false, and invalid or
// missing tags are left out; an unsupported Wheel-Version is always an error, as for installers.
struct WheelInfo {
    std::string wheel_version;  // "1.0"
    std::string generator;
    bool root_is_purelib = false;
    std::vector<Tag> tags;  // expanded, sorted, unique
    std::string build;
};
[[nodiscard]] base::Result<WheelInfo> parse_wheel_info(std::string_view text, Faults* faults = nullptr);

}  // namespace wheelyard::wheel
