// What the token of a site may do, asked before anything is compiled (docs/reference/api.md, "What a token
// may do").
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "builder/site/site.hpp"
#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::builder {

// The packages whose upload the registry would refuse, each with the reason.
using RefusedUploads = std::map<std::string, base::Error>;

struct Access {
    RefusedUploads refused = {};
    // The ID of the registry's store; empty: nothing was published there yet; nullopt: the answer does not
    // say.
    std::optional<std::string> store = {};
    std::optional<base::Error> refused_claims =
        {};  // why the token claims no tasks; nullopt: nothing rules it out
};

// Converts the registry's answer. Pure. Another index server, or a registry that does not answer now, refuses
// nothing: the upload itself decides. `packages`: normalised names.
[[nodiscard]] Access judge_access_answer(const io::HttpAnswer& answer, const std::string& index,
                                         const std::vector<std::string>& packages);

// One request; none for a site without packages that claims no tasks. A token file that cannot be read
// refuses all.
[[nodiscard]] Access ask_access(io::HttpClient& http, const RegistrySettings& registry,
                                const std::vector<std::string>& packages);

}  // namespace wheelyard::builder
