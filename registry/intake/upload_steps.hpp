// The steps of an upload after its last byte: the table that finish() follows. Nothing is visible before the
// last one; a kill before it leaves only blobs that no row refers to, and the same upload again passes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "registry/intake/upload_body.hpp"
#include "registry/intake/uploads.hpp"

namespace wheelyard::registry {

using UploadStep = wire::Answered<void> (*)(Upload& upload, const UploadParts& parts);

// The uploads that a row is for: find_earlier() says whether one is repeated.
enum class Of { all, first, repeated };

struct UploadStepRow {
    Of of;
    UploadStep step;
    std::string_view what;  // it has shown, for the document
};
// A Markdown table with one row for each step.
[[nodiscard]] std::string render_upload_steps();

// Runs the rows that are for this upload, in their order, up to the first refusal.
[[nodiscard]] wire::Answered<void> run_upload_steps(Upload& upload, const UploadParts& parts);

// upload_store.cpp.
[[nodiscard]] wire::Answered<void> repair_stored(Upload& upload, const UploadParts& parts);
[[nodiscard]] wire::Answered<void> store_content(Upload& upload, const UploadParts& parts);

// What the body and several steps use. Logs the error.
[[nodiscard]] tl::unexpected<wire::Problem> failed(const Upload& upload, const base::Error& error);
// Says whether a new file may grow to this size. A file that the index has needs no room: it is a retry.
[[nodiscard]] wire::Answered<void> check_upload_quota(const Upload& upload, const UploadParts& parts,
                                                      std::uint64_t size_bytes);
// Which token says what the provenance says: its ID. Tokens of jobs and of agents that enrolled are soon
// forgotten: their names stay.
[[nodiscard]] std::string stating_token(const Identity& token);
// Says whether the wheels of some task that the token may take go to the index.
[[nodiscard]] bool may_have_tasks(const Identity& token, const IndexConfig& index,
                                  const RegistryConfig& config);
// The token's site has the task that the form names, and the file is a wheel that the task asks for.
[[nodiscard]] wire::Answered<void> check_task(const Upload& upload, const UploadParts& parts);

}  // namespace wheelyard::registry
