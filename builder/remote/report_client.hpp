// Sends the report of a site to its registry (docs/reference/site-status.md).
#pragma once

#include <string>

#include "builder/site/site.hpp"
#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::builder {

// `report`: the rendered document. Errors: "report.refused" with the registry's sentence, "upload.token_file", "http.*".
[[nodiscard]] base::Status send_report(io::HttpClient& http, const RegistrySettings& registry,
                                       const std::string& site, const std::string& report);

}  // namespace wheelyard::builder
