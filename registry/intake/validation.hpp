// What an upload's form must say, and what is refused about the file it carries: pure functions from values
// to a Problem or none. The table of docs/reference/upload.md lists every refusal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/inspect/inspect.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wire/problem.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/http/upload.hpp"

namespace wheelyard::registry {

// The fields that are looked at; the others (twine sends the whole METADATA) are ignored, since METADATA
// itself is at hand.
struct UploadForm {
    std::optional<std::string> action;
    std::optional<std::string> protocol_version;
    std::optional<std::string> name;
    std::optional<std::string> version;
    std::optional<std::string> filetype;
    std::optional<std::string> pyversion;
    std::optional<std::string> metadata_version;
    std::optional<std::string> md5_digest;
    std::optional<std::string> sha256_digest;
    std::optional<std::string> blake2_256_digest;
    // The field of that name in the form, or nullptr for those that are ignored.
    [[nodiscard]] std::optional<std::string>* field(std::string_view name);
};

// What was counted over the bytes that came; only those digests that the form names.
struct ContentDigests {
    std::string sha256;
    std::string md5;
    std::string blake2_256;
};

// The name that came with `content`: a wheel's, in normal form.
[[nodiscard]] wire::Answered<wheel::WheelFilename> check_filename(std::string_view filename);
// 413: the size that was declared or has come so far.
[[nodiscard]] wire::Answered<void> check_size(std::uint64_t size_bytes, std::uint64_t limit_bytes);
// The form alone, once all of it is there: action, protocol, file type, presence and shape of what is needed.
[[nodiscard]] wire::Answered<void> check_form(const UploadForm& form);
// The form against the file's name.
[[nodiscard]] wire::Answered<void> check_form_against(const UploadForm& form,
                                                      const wheel::WheelFilename& filename);
[[nodiscard]] wire::Answered<void> check_digests(const UploadForm& form, const ContentDigests& content);
// The verdicts on the bytes, and METADATA against the file name. The form's metadata_version is not held
// against METADATA: flit sends that of its own fields. A wheel that is only quarantined passes.
[[nodiscard]] wire::Answered<void> check_inspection(const inspect::Inspection& inspection);

// Why a wheel that passed is kept but not offered; empty: it is offered.
[[nodiscard]] std::string quarantine_reason(const inspect::Inspection& inspection);

// "File already exists (six-1.16.0-py2.py3-none-any.whl)" and "This filename was previously used …": words
// that clients know.
// `index_there`: where it is when the index shows it by inheritance; else empty.
[[nodiscard]] wire::Problem name_taken(std::string_view filename, std::string_view sha256_there,
                                       std::string_view index_there = {});
[[nodiscard]] wire::Problem name_was_deleted(std::string_view filename);
// Why the catalog did not take `row`; nullopt: it has it.
[[nodiscard]] std::optional<wire::Problem> refusal_of(const catalog::Added& added,
                                                      const catalog::FileRow& row);

}  // namespace wheelyard::registry
