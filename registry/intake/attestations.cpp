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

bool fits(const AttestedBy& wanted, const io::Json& record) {
    const auto text = [&](std::string_view member) { return record.string_or(member, {}); };
    sigstore::Identity who;
    who.trigger = text("trigger");
    who.ref = text("ref");
    if (who.is_of_request()) return false;
    const auto is = [&](const std::string& claim, std::string_view member) {
        return claim.empty() || claim == text(member);
    };
    return is(wanted.issuer, "issuer") && is_subject(wanted.subject, text("subject")) &&
           is(wanted.repository, "repository") && is(wanted.workflow, "workflow");
}

bool fits(const AttestedBy& wanted, const Origin& origin) {
    if (!is_any_or(wanted.projects, origin.project)) return false;
    if (!wanted.agents.empty()) return !origin.agent.empty() && is_any_or(wanted.agents, origin.agent);
    const io::Json::Array& attested = origin.attested.items();
    return std::any_of(attested.begin(), attested.end(),
                       [&](const io::Json& record) { return fits(wanted, record); });
}

Origin origin_of(const catalog::FileRow& row) {
    Origin origin{.project = row.project, .agent = {}};
    const auto facts = io::parse_json(row.facts_json);
    if (!facts) return origin;
    origin.agent = facts->string_or("stated_by", {});
    if (const io::Json* const attested = facts->find("attested")) origin.attested = *attested;
    return origin;
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

base::Status check_origin(const IndexConfig& index, const Origin& origin) {
    const std::vector<AttestedBy>& wanted = index.attested_by;
    if (wanted.empty() ||
        std::any_of(wanted.begin(), wanted.end(), [&](const AttestedBy& one) { return fits(one, origin); }))
        return {};
    std::string found = origin.agent.empty() ? "no agent" : "agent " + origin.agent;
    for (const io::Json& record : origin.attested.items()) {
        const std::string repository = record.string_or("repository", {});
        found += "; " + record.string_or("issuer", {}) + " " +
                 (repository.empty() ? record.string_or("subject", {})
                                     : repository + " " + record.string_or("workflow", {}));
    }
    return wire::fail(
        "upload.not_attested", "This index takes " + origin.project + " from other origins only",
        index.name + ": " + found,
        "ask an administrator to add this origin to the index's attested_by, or upload a new build with the "
        "attestation of a publisher that the index names");
}

base::Status check_origin(const RegistryConfig& config, const std::string& index,
                          const catalog::FileRow& row) {
    const IndexConfig* const known = config.find_index(index);
    return known == nullptr ? base::Status() : check_origin(*known, origin_of(row));
}

wire::Problem problem_of_origin(const base::Error& error) {
    return wire::make_problem("upload.not_attested", error.sentence, error.sentence + ".", error.value,
                              error.advice);
}

}  // namespace wheelyard::registry
