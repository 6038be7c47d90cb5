// A large wheel over a line that breaks: in parts, each going on where the registry says that it is
// (docs/reference/upload.md, "In parts"). Which upload it was is noted beside the wheel, so that the next
// tick of the agent goes on with it, too.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "builder/remote/upload_form.hpp"
#include "lib/base/clock.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::builder {

struct UploadTarget {
    std::string url;            // ".../<index>/uploads/"
    std::string authorization;  // the header's value
    std::filesystem::path note;
};

// The registry's last word on the form, for judge_upload_answer(); nullopt: it takes no uploads in parts (or
// no more of them now), so that the form is to be sent at once.
//
// A cut is tried again here as long as each try brings some bytes across, and a few times where none does
// (with pauses on `clock`); then it is an error: "upload.cut" where this call has moved the upload on, so
// that it says nothing against the wheel, else what stood in the way ("http.*", "upload.unavailable").
[[nodiscard]] base::Result<std::optional<io::HttpAnswer>> send_in_parts(io::HttpClient& http,
                                                                        base::Clock& clock,
                                                                        const UploadTarget& target,
                                                                        const UploadForm& form,
                                                                        const io::HttpProgress& progress);

}  // namespace wheelyard::builder
