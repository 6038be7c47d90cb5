// Tokens for jobs of continuous integration ("trusted publishing", docs/how-to/publish-from-ci.md): the
// addresses and documents are those that uv, twine and the publishing actions know from PyPI. The identity
// token of a job is checked as that of a log-in is; what comes back uploads to one index, for minutes.
//
//     GET  /_/oidc/audience                        {"audience":"wheels.example.org"}
//     POST /_/oidc/mint-token  {"token":"eyJ…"}    {"success":true,"token":"wy_…","expires":1795700900}
//     POST /_/oidc/github/mint-token               the same, of older actions of GitHub
//     POST /_/oidc/burn-token  {"token":"wy_…"}    202, whatever it was
#include "registry/api/logins.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "lib/attest/sigstore/identity.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/io/log.hpp"
#include "registry/access/limits.hpp"
#include "registry/access/token_rules.hpp"
#include "registry/api/api.hpp"
#include "registry/api/operation.hpp"
#include "registry/http/limits.hpp"
#include "registry/identity/limits.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::size_t max_body_depth = 4;

constexpr auto audience_record =
    io::record_of<std::string>("audience", "what the identity token must be for", "pypi.audience");
struct Minted {
    bool success = true;
    std::string token;
    std::int64_t expires_s = 0;
};
constexpr auto minted_record = io::record<Minted>(
    {
        io::field<&Minted::success>("success", "always `true`"),
        io::field<&Minted::token>("token", "uploads to one index, for minutes"),
        io::field<&Minted::expires_s>("expires", "until when, in seconds since 1970"),
    },
    "pypi.minted_token");
io::Document burnt_document() {
    return {.name = "pypi.burnt_token"};
}
// A row is there for longer than its identity token can be accepted, whose `iat` may be ahead of our clock.
static_assert(publisher_token_life_s + ended_publisher_tokens_kept_days * 24 * 3600 >
              identity::max_token_life_s + 2 * identity::clock_skew_s);

// The member `token` of the body.
std::optional<std::string> token_in(const http::ApiRequest& request) {
    const auto json = io::parse_strict_json(
        request.body, {.bytes = http::max_identity_body_bytes, .depth = max_body_depth});
    if (!json || json->as_object() == nullptr) return std::nullopt;
    const io::Json* token = json->find("token");
    if (token == nullptr || token->as_string() == nullptr) return std::nullopt;
    return *token->as_string();
}

bool fits(std::string_view wanted, std::string_view value) {
    if (!wanted.ends_with('*')) return value == wanted;
    wanted.remove_suffix(1);
    return value.starts_with(wanted);
}

// Of a claim in another form than a text, too: a list of them, or its JSON.
std::vector<std::string> values_of(const io::Json* claim) {
    if (claim == nullptr) return {};
    if (claim->as_string() != nullptr) return {*claim->as_string()};
    if (claim->as_array() == nullptr) return {claim->render()};
    std::vector<std::string> values;
    for (const io::Json& one : claim->items())
        values.push_back(one.as_string() != nullptr ? *one.as_string() : one.render());
    return values;
}

// The claim by which GitHub or GitLab says that others may have written, or started, what the job runs.
std::optional<UnmetClaim> pull_request_in(const io::Json& claims) {
    for (const sigstore::PullRequestClaim& row : sigstore::pull_request_claims) {
        for (const std::string& value : values_of(claims.find(row.claim)))
            if (row.fits(value)) return UnmetClaim{std::string(row.claim), value};
    }
    return std::nullopt;
}

bool is_pull_request(const UnmetClaim& claim) {
    return claim.wanted.empty();
}

std::string quoted(const std::string& text) {
    return "`" + text.substr(0, identity::max_quoted_bytes) + "`";
}

// What the token says, and nothing of what the configuration wants: many may have a token of this issuer.
std::string said_of(const std::vector<UnmetClaim>& unmet) {
    std::vector<std::string> sentences;
    for (const UnmetClaim& claim : unmet)
        sentences.push_back(quoted(claim.name) +
                            (claim.value.empty() ? " is missing" : " is " + quoted(claim.value)));
    return base::join(sentences, ", ");
}

std::string wanted_by(const std::vector<UnmetClaim>& unmet) {
    std::vector<std::string> wanted;
    for (const UnmetClaim& claim : unmet)
        wanted.push_back(claim.name + (is_pull_request(claim) ? " of no pull request" : "=" + claim.wanted));
    return base::join(wanted, ", ");
}

// The ID of the token that is minted, made from the identity token: exchanging that twice meets the same row,
// also after a restart and on another node. Without a `jti` the signed bytes are what is used once.
std::string id_of_minted(const identity::Claims& claims, std::string_view identity_token) {
    const std::string once = claims.id.empty()
                                 ? "token " + std::string(identity_token.substr(0, identity_token.rfind('.')))
                                 : "jti " + claims.issuer + " " + claims.id;
    TokenText text = make_token_text();
    const std::size_t prefix = text.id.size() - 2 * token_id_bytes;
    return text.id.substr(0, prefix) + base::sha256_hex(once).substr(0, 2 * token_id_bytes);
}

tl::unexpected<wire::Problem> refuse_token(const http::ApiRequest& request, const base::Error& error) {
    io::log_warn("publisher.refused", {{"request", request.request_id}, {"error", error.text()}});
    if (error.may_pass())
        return wire::refuse("publisher.provider", "The issuer of identity tokens cannot be used now",
                            "The issuer's keys, or the new one of this token, have not been fetched yet; the "
                            "registry's log has the reason.",
                            {}, "Try again in a minute.");
    return wire::refuse("publisher.token", "This identity token is refused", error.sentence + ".",
                        error.value, error.advice);
}

// The table that says how the token is verified: of its issuer the one with its `azp`, else one without.
// nullptr: none of the issuer.
const PublisherConfig* find_table(const std::vector<PublisherConfig>& publishers,
                                  const identity::Claimed& claimed) {
    const PublisherConfig* found = nullptr;
    for (const PublisherConfig& publisher : publishers) {
        if (publisher.provider.issuer != claimed.issuer) continue;
        if (publisher.azp == claimed.party) return &publisher;
        if (found == nullptr || publisher.azp.empty()) found = &publisher;
    }
    return found;
}

// The publisher that the token fits; of those that it does not fit the one with the most claims that do says
// why. The token was verified for tables with `azp` alone.
wire::Answered<const PublisherConfig*> find_publisher(const http::ApiRequest& request,
                                                      const std::vector<PublisherConfig>& publishers,
                                                      const std::string& azp,
                                                      const identity::Claims& claims) {
    const PublisherConfig* nearest = nullptr;
    std::vector<UnmetClaim> unmet;
    std::size_t most_met = 0;
    for (const PublisherConfig& publisher : publishers) {
        if (publisher.provider.issuer != claims.issuer || publisher.azp != azp) continue;
        auto of_this = unmet_claims(publisher, claims.all);
        if (of_this.empty()) return &publisher;
        // One more to meet is that the job is of no pull request.
        const std::size_t met = publisher.claims.size() + 1 - of_this.size();
        if (nearest != nullptr && met <= most_met) continue;
        nearest = &publisher;
        most_met = met;
        unmet = std::move(of_this);
    }
    io::log_warn("publisher.refused", {{"request", request.request_id},
                                       {"publisher", nearest == nullptr ? "" : nearest->name},
                                       {"subject", claims.subject},
                                       {"claims", said_of(unmet)},
                                       {"wanted", wanted_by(unmet)}});
    if (unmet.size() == 1 && is_pull_request(unmet.front()))
        return wire::refuse(
            "publisher.pull_request", "Jobs of pull requests may not publish here",
            "The job is that of a pull request or merge request, or may follow one: " + said_of(unmet) + ".",
            {}, "Publish from a tag or a protected branch.");
    return wire::refuse("publisher.claims", "No publisher fits this identity token",
                        "Claims that no [[publisher]] of this registry wants so: " + said_of(unmet) + ".", {},
                        "The registry's log says what was wanted; ask its administrator.");
}

}  // namespace

std::vector<UnmetClaim> unmet_claims(const PublisherConfig& publisher, const io::Json& claims) {
    std::vector<UnmetClaim> unmet;
    for (const auto& [name, wanted] : publisher.claims) {
        const std::string value = claims.string_or(name, "");
        if (value.empty() || !fits(wanted, value)) unmet.push_back({name, value, wanted});
    }
    auto pull_request = pull_request_in(claims);
    const bool is_told =
        pull_request && std::any_of(unmet.begin(), unmet.end(), [&](const UnmetClaim& other) {
            return other.name == pull_request->name;
        });
    if (!publisher.pull_requests && pull_request && !is_told) unmet.push_back(*std::move(pull_request));
    return unmet;
}

namespace {

tl::unexpected<wire::Problem> no_publisher() {
    return wire::refuse("publisher.none", "This registry takes no identity tokens of jobs",
                        "The configuration has no [[publisher]].", {}, "Ask the administrator for a token.");
}

Reply read_audience(const ApiParts& parts, const Call&, const NoArguments&) {
    const auto& publishers = parts.config->publishers;
    if (publishers.empty()) return no_publisher();
    return reply_with(audience_record.write(publishers.front().provider.client_id));
}

// A token with the rights of the publisher, unless the identity token gave one before.
Reply admit_job(const ApiParts& parts, const http::ApiRequest& request, const PublisherConfig& publisher,
                const identity::Claims& claims, std::string_view identity_token) {
    TokenText text = make_token_text();
    text.id = id_of_minted(claims, identity_token);
    const base::UnixMicros now = parts.clock.now();
    const catalog::TokenRow row{.id = text.id,
                                .secret_sha256 = hash_token_secret(text.secret),
                                .name = publisher_name(publisher.name),
                                .indexes = {publisher.index},
                                .projects = publisher.projects,
                                .actions = {std::string(upload_action)},
                                .created = now,
                                .expires = now + publisher_token_life_s * base::second_us,
                                .revoked = false,
                                .created_by = claims.issuer + " " + claims.subject};
    bool was_used = false;
    bool is_full = false;
    const auto added = parts.writer.run([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(const auto tokens, catalog.tokens());
        was_used = std::any_of(tokens.begin(), tokens.end(),
                               [&](const catalog::TokenRow& other) { return other.id == row.id; });
        const auto kept = std::count_if(tokens.begin(), tokens.end(), [&](const catalog::TokenRow& other) {
            return other.name == row.name;
        });
        is_full = static_cast<std::size_t>(kept) >= max_publisher_tokens;
        if (was_used || is_full) return {};
        return catalog.add_token(row);
    });
    if (!added) {
        io::log_warn("publisher.not_kept",
                     {{"request", request.request_id}, {"error", added.error().text()}});
        return tl::unexpected(problem_of_change(added.error()));
    }
    if (was_used)
        return wire::refuse("publisher.used", "This identity token was used before",
                            "Each identity token is exchanged once (`jti`).", claims.id,
                            "Let the job ask for a new one.");
    if (is_full)
        return wire::refuse("publisher.too_many", "This publisher has had too many tokens within a day",
                            "The registry keeps " + std::to_string(max_publisher_tokens) +
                                " of a [[publisher]], each for a day after its end.",
                            publisher.name,
                            "Upload several files with one token, or wait: places come free after a day.");
    io::log_info("publisher.minted", {{"request", request.request_id},
                                      {"id", row.id},
                                      {"name", row.name},
                                      {"issuer", claims.issuer},
                                      {"subject", claims.subject}});
    return reply_with(
        minted_record.write({.token = text.text(), .expires_s = row.expires / base::second_us}));
}

Reply mint_token(const ApiParts& parts, const Call& call, const NoArguments&) {
    const http::ApiRequest& request = call.request;
    if (parts.config->publishers.empty()) return no_publisher();
    const auto token = token_in(request);
    if (!token)
        return wire::refuse("publisher.body", "The request has another form",
                            "The body is not a JSON object with the text `token`.");
    const auto claimed = identity::claimed_by(*token);
    if (!claimed) return refuse_token(request, claimed.error());
    const auto& publishers = parts.config->publishers;
    const PublisherConfig* const table = find_table(publishers, *claimed);
    identity::Provider* const provider = parts.logins->find_issuer(claimed->issuer);
    if (table == nullptr || provider == nullptr)
        return wire::refuse("publisher.issuer", "This registry does not know the issuer",
                            "No [[publisher]] has the issuer of the identity token.",
                            claimed->issuer.substr(0, identity::max_quoted_bytes),
                            "The claim `iss` is compared letter by letter.");
    // All tables of an issuer have one audience. No thread waits for keys.
    const auto claims = provider->verify(
        *token, {claimed->issuer, table->provider.client_id, std::nullopt, table->azp, table->azp.empty()},
        0);
    if (!claims) return refuse_token(request, claims.error());
    const auto publisher = find_publisher(request, publishers, table->azp, *claims);
    if (!publisher) return tl::unexpected(publisher.error());
    if (parts.config->find_index((*publisher)->index) == nullptr)
        return wire::refuse("publisher.index", "The index of this publisher does not exist",
                            "The [[publisher]] that fits names an index that the registry does not have.",
                            (*publisher)->index, "Ask the administrator to correct or create it.");
    return admit_job(parts, request, **publisher, *claims, *token);
}

Reply burn_token(const ApiParts& parts, const Call& call, const NoArguments&) {
    const http::ApiRequest& request = call.request;
    if (parts.config->publishers.empty()) return no_publisher();
    const auto sent = token_in(request);
    // Anyone who has its text may end it.
    const auto token = parts.tokens.verify("Bearer " + sent.value_or(""));
    if (token && is_publisher(token->name)) {
        const auto burnt = parts.writer.run([&](catalog::Catalog& catalog) -> base::Status {
            WHEELYARD_TRY(catalog.revoke_token(token->id, {token->name, "published", parts.clock.now()}));
            return {};
        });
        if (!burnt)
            io::log_warn("publisher.not_burnt",
                         {{"request", request.request_id}, {"error", burnt.error().text()}});
    }
    return http::ApiReply{.status = call.operation.status, .json = "{}"};
}

constexpr auto of_job_token = arguments<NoArguments>(
    {in_document("token", "The identity token, or the token that it was exchanged for", true)});

constexpr http::Operation posted_by_job(std::string_view path, std::string_view id, Answer answer,
                                        std::string_view summary) {
    http::Operation operation = open_to_all(posted(path, id, answer, summary, http::BodyKind::document));
    operation.max_body_bytes = http::max_identity_body_bytes;
    operation.pool = http::StrangersPool::publisher;
    return operation;
}
constexpr http::Operation burnt(http::Operation operation) {
    operation.status = 202;  // whatever it was
    return operation;
}
constexpr Right by_job{.callers = Callers::nobody};

constexpr std::array publish_rows{
    row<no_arguments, read_audience>(
        in_pool(http::StrangersPool::publisher,
                open_to_all(got("/_/oidc/audience", "readAudience", io::document_of<audience_record>,
                                "Returns the audience that an identity token of a job must have"))),
        "publisher.body", by_job),
    row<of_job_token, mint_token>(
        posted_by_job("/_/oidc/mint-token", "mintToken", io::document_of<minted_record>,
                      "Exchanges an identity token of a job for a token that uploads, once"),
        "publisher.body", by_job),
    row<of_job_token, mint_token>(
        posted_by_job("/_/oidc/github/mint-token", "mintTokenOfGithub", io::document_of<minted_record>,
                      "The same as mint-token, where older actions of GitHub look for it"),
        "publisher.body", by_job),
    row<of_job_token, burn_token>(burnt(posted_by_job("/_/oidc/burn-token", "burnToken", burnt_document,
                                                      "Revokes such a token after the upload")),
                                  "publisher.body", by_job),
};

}  // namespace

std::span<const OperationRow> publish_operations() {
    return publish_rows;
}

}  // namespace wheelyard::registry
