// Tokens for jobs of continuous integration ("trusted publishing", docs/how-to/publish-from-ci.md): the addresses and
// documents are those that uv, twine and the publishing actions know from PyPI. The identity token of a job is checked as
// that of a log-in is; what comes back uploads to one index, for minutes.
//
//     GET  /_/oidc/audience                        {"audience":"wheels.example.org"}
//     POST /_/oidc/mint-token  {"token":"eyJ…"}    {"success":true,"token":"wy_…","expires":1795700900}
//     POST /_/oidc/github/mint-token               the same, of older actions of GitHub
//     POST /_/oidc/burn-token  {"token":"wy_…"}    202, whatever it was
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "registry/access/tokens.hpp"
#include "registry/api/logins.hpp"
#include "registry/commit/writer.hpp"
#include "registry/config/publisher_config.hpp"
#include "registry/http/api.hpp"
#include "registry/identity/token.hpp"

namespace wheelyard::registry {

// A claim that is not what a [[publisher]] wants.
struct UnmetClaim {
    std::string name;
    std::string value = {};   // of the token; empty: it has none, or no text
    std::string wanted = {};  // empty: no job of a pull request
    bool operator==(const UnmetClaim&) const = default;
};
// Every claim of the token that does not fit; empty: the job may publish. Pure.
[[nodiscard]] std::vector<UnmetClaim> unmet_claims(const PublisherConfig& publisher, const io::Json& claims);

}  // namespace wheelyard::registry
