// Validation of uploads: pure functions that return a Problem or nothing. The table in
// docs/reference/upload.md lists every refusal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/inspect/inspect.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wire/problem.hpp"
#include "registry/config/config.hpp"
#include "registry/http/upload.hpp"

namespace wheelyard::registry {

// Verdicts sent to a client: enough to fix a wheel, few enough for a terminal.
inline constexpr std::size_t max_verdicts_reported = 10;

// The fields that are checked. twine sends all of METADATA; the other fields are ignored, because the wheel's
// own METADATA is available.
struct UploadForm {
    std::optional<std::string> action;
    std::optional<std::string> protocol_version;
    std::optional<std::string> name;
    std::optional<std::string> version;
    std::optional<std::string> filetype;
    std::optional<std::string> attestations;
    std::optional<std::string> metadata_version;
    std::optional<std::string> md5_digest;
    std::optional<std::string> sha256_digest;
    std::optional<std::string> provenance;
    std::optional<std::string> task;
    // The member for a form field of this name; nullptr if the field is ignored.
    [[nodiscard]] std::optional<std::string>* field(std::string_view name);
};

// Digests of the received bytes in lower-case hex; besides SHA-256, only those that the form has.
struct ContentDigests {
    std::string sha256;
    std::string md5;
};

// What an upload's file name says.
struct UploadName {
    std::string project;  // normalised
    wheel::Version version;
    bool is_sdist = false;
};
// What an index takes.
enum class AcceptedFiles { wheels, wheels_and_sdists };
[[nodiscard]] inline AcceptedFiles accepted_files(const IndexConfig& index) {
    return index.sdists ? AcceptedFiles::wheels_and_sdists : AcceptedFiles::wheels;
}
// Parses the file name of `content`, which must be a wheel's, or an sdist's where the index takes them.
// Refuses what the inspection would refuse for the name alone, before the bytes arrive: a name that is not in
// normal form, unless the policy allows it.
[[nodiscard]] wire::Answered<UploadName> check_filename(std::string_view filename,
                                                        const inspect::Policy& policy = {},
                                                        AcceptedFiles accepted = AcceptedFiles::wheels);
// Refuses with 413. `size_bytes` is the declared size or the size received so far.
[[nodiscard]] wire::Answered<void> check_size(std::uint64_t size_bytes, std::uint64_t limit_bytes);
// The form's action, of which only one is there.
[[nodiscard]] wire::Answered<void> check_action(const UploadForm& form);
// Checks the complete form alone: action, protocol, file type, and presence and shape of required fields.
[[nodiscard]] wire::Answered<void> check_form(const UploadForm& form);
[[nodiscard]] wire::Answered<void> check_form_against(const UploadForm& form, const UploadName& filename);
[[nodiscard]] wire::Answered<void> check_digests(const UploadForm& form, const ContentDigests& content);
// The form's provenance as it is stored, with the members that this version knows; empty: the form has none.
// Refuses one of another wheel, and of another site than `bound_site` (access/agents.hpp); empty: the token
// may state any.
[[nodiscard]] wire::Answered<std::string> check_provenance(const UploadForm& form, std::string_view filename,
                                                           std::string_view sha256,
                                                           std::string_view bound_site);
// Refuses what the inspection refuses, and nothing else: `check`, uploads and imports judge alike. The form's
// metadata_version is not compared with METADATA, because flit sends the version of its own fields. A
// quarantined wheel passes.
[[nodiscard]] wire::Answered<void> check_inspection(const inspect::Inspection& inspection);

// Why an accepted upload is quarantined; empty if it is not.
[[nodiscard]] std::string quarantine_reason(const inspect::Inspection& inspection);

// The titles "File already exists (six-1.16.0-py2.py3-none-any.whl)" and "This filename was previously used
// …" are texts that clients recognize.
[[nodiscard]] wire::Problem name_taken(std::string_view filename, const catalog::Added& there);
// `deleted`: the name, when it is another spelling.
[[nodiscard]] wire::Problem name_was_deleted(std::string_view filename, std::string_view deleted = {});
// Why the catalog did not add `row`; nullopt if it did.
[[nodiscard]] std::optional<wire::Problem> refusal_of(const catalog::Added& added,
                                                      const catalog::FileRow& row);

}  // namespace wheelyard::registry
