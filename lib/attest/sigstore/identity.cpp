// The kinds of publishers that PyPI's provenance has, by their providers.
#include "lib/attest/sigstore/identity.hpp"

#include <algorithm>

namespace wheelyard::sigstore {
namespace {

using io::Json;

std::string_view after(std::string_view text, std::string_view prefix) {
    return text.starts_with(prefix) ? text.substr(prefix.size()) : std::string_view();
}

// "…/projects/PROJECT/pipeline-definitions/PIPELINE"
Json circleci(const Identity& identity) {
    constexpr std::string_view middle = "/pipeline-definitions/";
    const std::string_view ids = after(identity.build_signer, "https://circleci.com/api/v2/projects/");
    const std::size_t at = ids.find(middle);
    if (at == std::string_view::npos) return {};
    Json publisher = Json::object({{"kind", "CircleCI"},
                                   {"project_id", ids.substr(0, at)},
                                   {"pipeline_definition_id", ids.substr(at + middle.size())}});
    if (!identity.repository.empty()) publisher.set("vcs_origin", identity.repository);
    if (!identity.ref.empty()) publisher.set("vcs_ref", identity.ref);
    return publisher;
}

Json github(const Identity& identity) {
    const std::string workflow = identity.workflow();
    const std::string_view repository = after(identity.repository, "https://github.com/");
    const std::string_view file = after(workflow, ".github/workflows/");
    if (repository.empty() || file.empty()) return {};
    return Json::object({{"kind", "GitHub"}, {"repository", repository}, {"workflow", file}});
}

Json gitlab(const Identity& identity) {
    const std::string workflow = identity.workflow();
    const std::string_view repository = after(identity.repository, "https://gitlab.com/");
    if (repository.empty() || workflow.empty()) return {};
    return Json::object({{"kind", "GitLab"}, {"repository", repository}, {"workflow_filepath", workflow}});
}

Json google(const Identity& identity) {
    return Json::object({{"kind", "Google"}, {"email", identity.subject}});
}

struct Kind {
    std::string_view issuer;
    Json (*publisher)(const Identity& identity);  // null: the certificate has another form
    std::string Identity::*address;               // the one thing that this provider alone can say
};
constexpr std::array kinds{
    Kind{"https://token.actions.githubusercontent.com", github, &Identity::repository},
    Kind{"https://gitlab.com", gitlab, &Identity::repository},
    Kind{"https://accounts.google.com", google, &Identity::subject},
    Kind{"https://oidc.circleci.com", circleci, &Identity::build_signer},
};

}  // namespace

bool Identity::is_of_request() const {
    return std::any_of(pull_request_claims.begin(), pull_request_claims.end(),
                       [this](const PullRequestClaim& row) { return row.fits(this->*row.member); });
}

std::string Identity::workflow() const {
    std::string_view file = after(build_config, repository + "/");
    const std::size_t at = file.find('@');
    if (repository.empty() || at == std::string_view::npos) return {};
    const std::string_view end = file.substr(at + 1);
    if (end.empty() || (end != ref && end != digest)) return {};
    file = file.substr(0, at);
    if (file.starts_with('/')) file.remove_prefix(1);
    return std::string(file);
}

Json publisher_of(const Identity& identity) {
    for (const Kind& kind : kinds) {
        if (kind.issuer != identity.issuer) continue;
        if (Json publisher = kind.publisher(identity); !publisher.is_null()) return publisher;
    }
    return Json::object({{"kind", identity.issuer}, {"subject", identity.subject}});
}

std::string publisher_address(const Identity& identity) {
    for (const Kind& kind : kinds) {
        if (kind.issuer == identity.issuer && !kind.publisher(identity).is_null())
            return identity.*kind.address;
    }
    return {};
}

bool is_publisher(const Identity& identity, std::string_view name) {
    const std::string address = publisher_address(identity);
    return !identity.is_of_request() && !address.empty() && base::equals_ignoring_case(address, name);
}

}  // namespace wheelyard::sigstore
