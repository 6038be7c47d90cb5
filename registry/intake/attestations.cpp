#include "registry/intake/attestations.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"

namespace wheelyard::registry {
namespace {

bool is_any_or(const std::vector<std::string>& names, const std::string& name) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& one) { return one == "*" || one == name; });
}

// "https://…/release.yml@refs/tags/*": a ref may end in a star.
bool is_subject(std::string_view wanted, std::string_view subject) {
    if (!wanted.ends_with('*')) return wanted.empty() || wanted == subject;
    wanted.remove_suffix(1);
    return subject.starts_with(wanted);
}

bool fits(const AttestedBy& wanted, const sigstore::Identity& who) {
    if (who.is_of_request()) return false;
    const auto is = [](const std::string& claim, const std::string& value) {
        return claim.empty() || claim == value;
    };
    return is(wanted.issuer, who.issuer) && is_subject(wanted.subject, who.subject) &&
           is(wanted.repository, who.repository) && is(wanted.workflow, who.workflow());
}

bool fits(const AttestedBy& wanted, const Origin& origin) {
    if (!is_any_or(wanted.projects, origin.project)) return false;
    if (!wanted.agents.empty()) return !origin.agent.empty() && is_any_or(wanted.agents, origin.agent);
    return std::any_of(origin.attested.begin(), origin.attested.end(),
                       [&](const sigstore::Attested& one) { return fits(wanted, one.identity); });
}

}  // namespace

wire::Answered<sigstore::FileProvenance> check_attestations(std::string_view field, std::string_view filename,
                                                            std::string_view sha256,
                                                            const sigstore::TrustedRoot& root) {
    if (base::trim(field).empty()) return sigstore::FileProvenance();
    auto verified = sigstore::verify_attestations(field, filename, sha256, root);
    if (verified) return *std::move(verified);
    const base::Error& error = verified.error();
    return wire::refuse(
        "upload.attestations", error.sentence, error.sentence + ".",
        error.value.empty() ? error.code : error.code + ": " + wire::one_line_title(error.value),
        error.advice);
}

wire::Answered<void> check_origin(const IndexConfig& index, const Origin& origin) {
    const std::vector<AttestedBy>& wanted = index.attested_by;
    if (wanted.empty() ||
        std::any_of(wanted.begin(), wanted.end(), [&](const AttestedBy& one) { return fits(one, origin); }))
        return {};
    std::string found = origin.agent.empty() ? "no agent" : "agent " + origin.agent;
    for (const sigstore::Attested& one : origin.attested) {
        const sigstore::Identity& who = one.identity;
        found += "; " + who.issuer + " " +
                 (who.repository.empty() ? who.subject : who.repository + " " + who.workflow());
    }
    return wire::refuse(
        "upload.not_attested", "This index takes " + origin.project + " from other origins only",
        "The index `" + index.name +
            "` names the publishers and agents whose files of this project it takes.",
        found, "upload with the attestation of such a publisher, or ask an administrator to add this origin");
}

}  // namespace wheelyard::registry
