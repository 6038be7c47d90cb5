// Sends the report of a site to its registry (docs/reference/site-status.md), and the logs of its builds
// (builds.md).
#pragma once

#include <cstdint>
#include <string>

#include "builder/site/site.hpp"
#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::builder {

// `report`: the rendered document. Errors: "report.refused" with the registry's sentence,
// "upload.token_file", "http.*".
[[nodiscard]] base::Status send_report(io::HttpClient& http, const RegistrySettings& registry,
                                       const std::string& site, const std::string& report);
// What the registry says to a piece of a build's log.
struct LogAnswer {
    enum class Word {
        kept,
        gap,      // it has less than was thought
        full,     // it takes no more
        unknown,  // it does not know the build: no report named it, or it was removed
        absent,   // it keeps no logs of builds: an older registry
    };
    Word word = Word::kept;
    std::int64_t log_bytes = 0;  // of `kept`: how much it has now
};
// An empty piece at 0 asks how much it has. Errors: "report.refused", "upload.token_file", "http.*".
[[nodiscard]] base::Result<LogAnswer> send_build_log(io::HttpClient& http, const RegistrySettings& registry,
                                                     const std::string& site, const std::string& build,
                                                     std::int64_t offset, const std::string& piece);

}  // namespace wheelyard::builder
