// Uploads a large wheel over an unreliable connection. The upload consists of parts; each part continues at
// the offset that the registry reports (docs/reference/upload.md, "In parts"). A note next to the wheel names
// the upload, so that the next tick of the agent can continue it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "builder/remote/upload_form.hpp"
#include "lib/base/clock.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::builder {

// Consecutive parts without progress in one try: 8 s, enough for a restart of the registry.
inline constexpr int max_stuck_parts = 6;

struct UploadTarget {
    std::string url;            // ".../<index>/uploads/"
    std::string authorization;  // the header's value
    std::filesystem::path note;
};

// The registry's final answer to the form, for judge_upload_answer(). nullopt: the registry accepts no
// uploads in parts, or no more of them now; send the form in one request instead.
//
// After a cut the function tries again while each try transfers some bytes, and a few times more if none does
// (with pauses on `clock`). Then it fails: with "upload.cut" if this call made progress, which does not count
// against the wheel, else with the last error ("http.*", "upload.unavailable").
[[nodiscard]] base::Result<std::optional<io::HttpAnswer>> send_in_parts(io::HttpClient& http,
                                                                        base::Clock& clock,
                                                                        const UploadTarget& target,
                                                                        const UploadForm& form,
                                                                        const io::HttpProgress& progress);

}  // namespace wheelyard::builder
