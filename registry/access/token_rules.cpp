#include "registry/access/token_rules.hpp"

#include <algorithm>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wire/problem.hpp"
#include "registry/access/agents.hpp"
#include "registry/access/limits.hpp"
#include "registry/access/person.hpp"

namespace wheelyard::registry {
namespace {

base::Status check_words(wire::FailedRefusal row, const std::vector<std::string>& words,
                         const std::vector<std::string>& known, const std::string& what) {
    for (const std::string& word : words) {
        if (word == "*" || std::find(known.begin(), known.end(), word) != known.end()) continue;
        const auto near = base::nearest(word, known);
        return wire::fail(row, "There is no such " + what, word,
                          near ? "did you mean " + *near + "?" : "known: " + base::join(known, ", "));
    }
    return {};
}

// The audit log names commands on the data folder local:USER, copies of upstreams upstream:NAME, people
// login:…, jobs publisher:…, agents agent:…, and verify; who asks without a token is public:ID.
bool is_of_audit_log(const std::string& name) {
    std::string plain = base::ascii_lower(name);
    std::erase(plain, ' ');
    return plain.starts_with("local:") || plain.starts_with("upstream:") || plain.starts_with("public:") ||
           plain.starts_with(person_prefix) || plain.starts_with(publisher_prefix) ||
           plain.starts_with(agent_prefix) || plain == "verify" || plain.starts_with("verify:");
}

bool is_token_name(const std::string& name) {
    // Others may be invisible, or look like these. Whether char is signed depends on the machine.
    const bool printable = std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
    return !name.empty() && name.size() <= max_token_name && printable && !is_of_audit_log(name);
}

bool is_part_of(const std::vector<std::string>& inner, const std::vector<std::string>& outer) {
    const auto has = [&](const std::string& item) {
        return std::find(outer.begin(), outer.end(), item) != outer.end();
    };
    return has("*") || std::all_of(inner.begin(), inner.end(), has);
}

}  // namespace

base::Result<catalog::TokenRow> make_token_row(const NewToken& wanted,
                                               const std::vector<std::string>& known_indexes,
                                               const TokenText& text, const catalog::Cause& cause) {
    if (!is_token_name(wanted.name))
        return wire::fail(
            "token.name",
            "A token's name must be 1 to 120 characters of ASCII, and none that the audit log uses: "
            "local:, upstream:, public:, login:, publisher:, agent:, verify",
            wanted.name, "say who or what uses it");
    if (wanted.indexes.empty())
        return wire::fail("token.no_index", "A token needs the indexes it is for", {},
                          "--index NAME, or --index '*' for all");
    WHEELYARD_TRY(check_words("token.unknown_index", wanted.indexes, known_indexes, "index"));
    WHEELYARD_TRY(check_words("token.unknown_action", wanted.actions, token_actions(), "action"));
    catalog::TokenRow row{.id = text.id,
                          .secret_sha256 = hash_token_secret(text.secret),
                          .name = wanted.name,
                          .indexes = wanted.indexes,
                          .projects = {},
                          .actions = wanted.actions,
                          .created = cause.time,
                          .expires = 0,
                          .revoked = false,
                          .created_by = cause.actor};
    for (const std::string& project : wanted.projects) {
        if (project != "*" && !wheel::is_valid_name(project))
            return wire::fail("token.project", "This cannot be a project's name", project);
        row.projects.push_back(project == "*" ? project : wheel::normalize_name(project));
    }
    if (row.projects.empty()) row.projects.emplace_back("*");
    if (row.actions.empty()) row.actions.emplace_back(upload_action);
    if (wanted.expires) {
        WHEELYARD_ASSIGN(const std::int64_t lifetime_ms, parse_lifetime_ms(*wanted.expires));
        row.expires = cause.time + lifetime_ms * 1000;
    }
    return row;
}

bool is_within(const catalog::TokenRow& inner, const catalog::TokenRow& outer) {
    return is_part_of(inner.indexes, outer.indexes) && is_part_of(inner.projects, outer.projects) &&
           is_part_of(inner.actions, outer.actions);
}

std::string token_state(const catalog::TokenRow& row, base::UnixMicros now) {
    if (row.revoked) return "revoked";
    return row.expires != 0 && row.expires <= now ? "expired" : "active";
}

namespace {

using catalog::TokenRow;
struct ShownToken {
    TokenRow row;
    std::string state;
    std::string text;
    std::string shown_name;
};
constexpr auto token_record = io::record<ShownToken>(
    {
        io::field<&ShownToken::row, &TokenRow::id>("id", "names it in lists, logs and `revoke`"),
        io::field<&ShownToken::row, &TokenRow::name>("name", "of its user or program"),
        io::field<&ShownToken::row, &TokenRow::indexes>("indexes",
                                                        "the indexes that it may use, `*` for all"),
        io::field<&ShownToken::row, &TokenRow::projects>("projects", "likewise the projects"),
        io::field<&ShownToken::row, &TokenRow::actions>("actions", "likewise the actions"),
        io::field<io::Moment, &ShownToken::row, &TokenRow::created>("created", "when"),
        io::field<io::Time, &ShownToken::row, &TokenRow::expires>("expires", "null: never"),
        io::field<&ShownToken::state>("state", "active, expired or revoked"),
        io::field<&ShownToken::row, &TokenRow::created_by>(
            "created_by", "a token's name, `local:USER`, or the provider's words", io::Need::optional,
            io::Written::if_given),
        io::field<io::Time, &ShownToken::row, &TokenRow::revoked_at>(
            "revoked_at", "absent: it is not revoked", io::Need::optional, io::Written::unless_null),
        io::field<&ShownToken::row, &TokenRow::revoked_by>("revoked_by", "likewise", io::Need::optional,
                                                           io::Written::if_given),
        io::field<&ShownToken::text>("token", "the text of a new token, once", io::Need::optional,
                                     io::Written::if_given),
        io::field<&ShownToken::shown_name>("shown_name", "of a log-in: what people call the person",
                                           io::Need::optional, io::Written::if_given),
    },
    "wheelyard.token/1");

}  // namespace

io::Json token_json(const catalog::TokenRow& row, base::UnixMicros now, std::string text,
                    std::string shown_name) {
    return token_record.write({row, token_state(row, now), std::move(text), std::move(shown_name)});
}

io::Document token_document() {
    return io::document_of<token_record>();
}

}  // namespace wheelyard::registry
