// Finds and reads the .dist-info folder and compares it with the file name (binary distribution format, core
// metadata).
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/dist_info/component.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/inspect/zip/zip.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/metadata.hpp"
#include "lib/wheel/record.hpp"
#include "lib/wheel/variant.hpp"

namespace wheelyard::inspect {

// Software bills of materials in `.dist-info/sboms/` (PEP 770): what a wheel says that it contains. CycloneDX
// 1.x and SPDX 2.x, both in JSON. They are statements of the wheel's author, and never a reason to refuse it.
//
//     {"bomFormat":"CycloneDX","specVersion":"1.5","components":[{"name":"openssl","version":"4.0.3",
//      "purl":"pkg:generic/openssl@4.0.3","hashes":[{"alg":"SHA-256","content":"…"}],
//      "licenses":[{"expression":"Apache-2.0"}]}]}
inline constexpr std::size_t max_sbom_components = 256;     // of one wheel
inline constexpr std::size_t max_sbom_bytes = 32UL * 1024;  // of their names, versions, purls and licences
inline constexpr std::size_t max_sbom_license = 200;        // bytes of one; what is cut ends in "…"
inline constexpr std::size_t max_sbom_documents =
    16;  // of one wheel; auditwheel and a back end write one each
inline constexpr std::size_t max_sbom_document = 4UL << 20;  // bytes; pydantic-core's has 120 KiB

// Without the wheel itself. Errors: "sbom.unreadable", "sbom.unknown" (neither CycloneDX nor SPDX 2).
[[nodiscard]] base::Result<std::vector<Component>> parse_sbom(std::string_view text);
// The components that the SBOMs of `folder` (`six-1.16.0.dist-info`) name. What cannot be read is a finding.
[[nodiscard]] base::Result<Components> read_sboms(const base::Reader& bytes, const Frame& frame,
                                                  std::string_view folder, Findings& findings);

// The parts that could be read; findings name the others.
struct DistInfo {
    std::string folder;  // "six-1.16.0.dist-info"; empty if there is none
    std::string metadata_bytes;
    std::optional<wheel::Metadata> metadata;
    std::optional<wheel::WheelInfo> wheel;
    std::optional<std::vector<wheel::RecordRow>> record;
    std::string entry_points;
    std::optional<wheel::Variant> variant;  // of a file name with a label
    Components components;                  // of its SBOMs
};

inline constexpr std::string_view dist_info_suffix = ".dist-info";
// Says whether `stem`, "{name}-{version}", matches the file name; compares normalised names and parsed
// versions.
[[nodiscard]] bool is_named_after(std::string_view stem, const wheel::WheelFilename& filename);

[[nodiscard]] base::Result<DistInfo> read_dist_info(const base::Reader& bytes, const Frame& frame,
                                                    const wheel::WheelFilename& filename, Findings& findings);

// Compares METADATA, WHEEL, licence files and entry points with the file name and the members.
void check_dist_info(const DistInfo& info, const Frame& frame, const wheel::WheelFilename& filename,
                     Findings& findings);

// Checks sections of `name = module:attribute [extras]`. A name in console_scripts or gui_scripts must be a
// valid file name because installers create a file with it.
void check_entry_points(std::string_view member, std::string_view text, Findings& findings);
// The names of the scripts that installers make for `text`, views into it.
[[nodiscard]] std::vector<std::string_view> script_names(std::string_view text);

// variant.json of a variant wheel (PEP 825, its text of 11 May 2026 with the changes of 10 August 2026).
//
//     {"$schema": "https://variants-schema.wheelnext.dev/peps/825/v0.1.1.json",
//      "default-priorities": {"namespace": ["x86_64"]},
//      "variants": {"x86_64_v3": {"x86_64": {"level": ["v3"]}}}}
//
// `providers` (PEP 850) may be there: what answers for each of the namespaces. Members that no text names are
// not kept.
//
// What `label`, the one of the file name, means. Errors "variant.*": not JSON, an unknown version of the
// schema, another label or several, an invalid or repeated name or value, a namespace without a place in the
// order, providers of other namespaces or of an unknown kind, a null variant with properties, another one
// without.
[[nodiscard]] base::Result<wheel::Variant> parse_variant_json(std::string_view text, std::string_view label);
// The same, written: with all namespaces that this program writes, and their providers, since the wheels of a
// version have to agree on both.
[[nodiscard]] std::string render_variant_json(const wheel::LabelledVariant& variant);

// `path` is the path of METADATA, for findings. A wheel with a variant label may have the markers of PEP 825.
void check_metadata_fields(const wheel::Metadata& metadata, std::string_view path, bool is_of_variant,
                           Findings& findings);

// Pure syntax checks.
[[nodiscard]] bool is_content_type(std::string_view text);  // for Description-Content-Type
[[nodiscard]] bool is_import_name(
    std::string_view text);  // PEP 794: dotted identifiers that are no keywords, optionally with "; private"

class RecordCheck {
  public:
    // `dist_info` is the folder that contains this RECORD.
    RecordCheck(std::vector<wheel::RecordRow> rows, std::string dist_info);

    // Checks that rows and members correspond, hashes are strong enough, and sizes match the archive's
    // directory.
    void check_listing(const std::vector<Member>& members, Findings& findings) const;
    // The algorithm to compute over `member`.
    [[nodiscard]] base::DigestKind digest_kind(const Member& member) const;
    // `digest` is the raw digest of the member's unpacked bytes, of kind digest_kind(member).
    void check_digest(const Member& member, std::string_view digest, Findings& findings) const;

  private:
    [[nodiscard]] const wheel::RecordRow* row_of(std::string_view path) const;
    // RECORD and its signatures cannot contain their own hash.
    [[nodiscard]] bool is_exempt(std::string_view path) const;

    std::vector<wheel::RecordRow> rows_;
    std::unordered_map<std::string_view, const wheel::RecordRow*> by_path_;
    std::string dist_info_;
};

}  // namespace wheelyard::inspect
