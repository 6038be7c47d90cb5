// File names of wheels (PEP 427 and the binary distribution format) and of sdists (PEP 625).
//
//     torch-2.4.0+cu126-1-cp312-cp312-manylinux_2_28_aarch64.manylinux_2_17_aarch64.whl
//     name  version     | python abi  platforms (compressed set)
//                       build tag: digits, then the rest as text
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/tags.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::wheel {

struct BuildTag {
    Number number;
    std::string rest;
    auto operator<=>(const BuildTag&) const = default;
    [[nodiscard]] std::string text() const { return number.text() + rest; }
};

struct WheelFilename {
    std::string name;     // as written
    std::string project;  // normalised (PEP 503)
    Version version;
    std::string version_text;  // as written
    std::optional<BuildTag> build;
    std::string build_text;            // as written ("01"); empty if there is none
    std::vector<std::string> pythons;  // the compressed sets as written, split at '.'
    std::vector<std::string> abis;
    std::vector<std::string> platforms;
    std::vector<Tag> tags;  // expanded, sorted, unique
    // PEP 825: a trailing label. It cannot be confused with a build tag, which precedes the tags and
    // begins with a digit.
    std::optional<std::string> variant;

    [[nodiscard]] std::string text() const;
};

// How far a file name is from its normal form: the escaped normal name and the normal version.
enum class NameForm {
    normal,
    other_spelling,  // differs only in case and in `.`, `-` and `_`: "PyYAML-6.0…", "zope.proxy-5.2…"
    other_text,      // the version is written another way ("v1.0", "1.0.post01"), or an sdist is no .tar.gz
};

// Errors "filename.*" name the invalid part. Accepts the file names of published wheels, whose project names
// and versions may not be normalised.
[[nodiscard]] base::Result<WheelFilename> parse_wheel_filename(std::string_view filename);
[[nodiscard]] NameForm form_of(const WheelFilename& filename);

struct SdistFilename {
    std::string project;  // normalised
    Version version;
    std::string extension;  // ".tar.gz", ".zip"
    std::string stem;       // the file name without the extension
};
// What the name alone says: the version follows the last `-`, as in PEP 625's form. Errors "filename.*".
[[nodiscard]] base::Result<SdistFilename> parse_sdist_filename(std::string_view filename);
// PEP 625's form: {name}-{version}.tar.gz, both in normal form.
[[nodiscard]] NameForm form_of(const SdistFilename& filename);
// Says whether the file's extension is that of sdists.
[[nodiscard]] bool is_sdist_filename(std::string_view filename);
// `project` (in any spelling) is needed because names in old sdists may contain `-`.
[[nodiscard]] base::Result<SdistFilename> parse_sdist_filename(std::string_view filename,
                                                               std::string_view project);

// Says whether `text` is the label of a wheel variant (PEP 825): "x86_64_v3".
[[nodiscard]] bool is_variant_label(std::string_view text);

// What two file names have in common that are one file in two spellings: project, version, build and tags in
// normal form. 1.0 and 1.0.0 are one version (PEP 440). Of a name that is neither a wheel's nor an sdist's,
// the name itself. Not a file name.
[[nodiscard]] std::string spelling_key(std::string_view filename);

}  // namespace wheelyard::wheel
