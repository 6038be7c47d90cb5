// What the token of a site may upload, asked before anything is compiled (docs/reference/api.md, "What a token may do").
#pragma once

#include <map>
#include <string>
#include <vector>

#include "builder/site/site.hpp"
#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::builder {

// The packages whose upload the registry would refuse, each with the reason.
using RefusedUploads = std::map<std::string, base::Error>;

// Converts the registry's answer. Pure. Another index server, or a registry that does not answer now, refuses nothing:
// the upload itself decides. `packages`: normalised names.
[[nodiscard]] RefusedUploads judge_access_answer(const io::HttpAnswer& answer, const std::string& index,
                                                 const std::vector<std::string>& packages);

// One request. A token file that cannot be read refuses every package.
[[nodiscard]] RefusedUploads ask_refused_uploads(io::HttpClient& http, const RegistrySettings& registry,
                                                 const std::vector<std::string>& packages);

}  // namespace wheelyard::builder
