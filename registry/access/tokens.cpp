#include "registry/access/tokens.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/log.hpp"
#include "registry/access/agents.hpp"
#include "registry/access/limits.hpp"
#include "registry/access/reading_cookie.hpp"
#include "registry/access/token_rules.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::size_t token_secret_bytes = 32;  // 256 bits of entropy: an unsalted hash is safe to store

constexpr std::string_view token_prefix = "wy_";

bool is_lower_hex(std::string_view text, std::size_t length) {
    return text.size() == length && std::all_of(text.begin(), text.end(), [](char c) {
               return base::is_ascii_digit(c) || (c >= 'a' && c <= 'f');
           });
}

bool covers(const std::vector<std::string>& scope, std::string_view wanted) {
    return std::any_of(scope.begin(), scope.end(),
                       [wanted](const std::string& item) { return item == "*" || item == wanted; });
}

tl::unexpected<wire::Problem> refuse_token(std::string detail, std::string advice) {
    return wire::refuse({403, "auth.token_refused"}, "Invalid or expired token", std::move(detail), {},
                        std::move(advice));
}

wire::Problem unavailable() {
    return wire::make_problem("auth.unavailable", "Tokens cannot be checked right now",
                              "The registry could not read its databases.", {}, "try again in a minute");
}

}  // namespace

TokenText make_token_text() {
    return {.id = std::string(token_prefix) + base::encode_hex(base::random_bytes(token_id_bytes)),
            .secret = base::encode_hex(base::random_bytes(token_secret_bytes))};
}

std::optional<TokenText> parse_token_text(std::string_view text) {
    constexpr std::size_t id_length = token_id_length;
    static_assert(id_length == token_prefix.size() + 2 * token_id_bytes);
    if (text.size() != id_length + 1 + 2 * token_secret_bytes ||
        text.substr(0, token_prefix.size()) != token_prefix || text[id_length] != '_')
        return std::nullopt;
    const std::string_view secret = text.substr(id_length + 1);
    if (!is_lower_hex(text.substr(token_prefix.size(), 2 * token_id_bytes), 2 * token_id_bytes) ||
        !is_lower_hex(secret, 2 * token_secret_bytes))
        return std::nullopt;
    return TokenText{.id = std::string(text.substr(0, id_length)), .secret = std::string(secret)};
}

std::string hash_token_secret(std::string_view secret) {
    return base::sha256_hex(secret);
}

std::optional<std::string> token_of_authorization(std::string_view header) {
    header = base::trim(header);
    if (header.size() > max_authorization_bytes) return std::nullopt;
    const std::size_t space = header.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    const std::string_view scheme = header.substr(0, space);
    const std::string_view credentials = base::trim(header.substr(space));
    if (base::equals_ignoring_case(scheme, "bearer")) return std::string(credentials);
    if (!base::equals_ignoring_case(scheme, "basic")) return std::nullopt;
    const auto decoded = base::decode_base64(credentials);
    if (!decoded) return std::nullopt;
    const std::size_t colon = decoded->find(':');  // a user name contains no colon (RFC 7617 §2)
    if (colon == std::string::npos) return std::nullopt;
    return decoded->substr(colon + 1);
}

bool allows(const catalog::TokenRow& token, std::string_view index, std::string_view project,
            std::string_view action) {
    return covers(token.actions, action) && covers(token.indexes, index) &&
           (project.empty() ? !token.projects.empty() : covers(token.projects, project));
}

bool may_report(const Identity& caller, std::string_view index, std::string_view site) {
    const std::string_view own = site_bound_to(caller);
    if (!own.empty() && own != site) return false;
    const bool may_build = allows(caller, index, {}, build_action) &&
                           (!own.empty() || covers(caller.projects, "*"));  // a site builds any project
    return !is_publisher(caller.name) && (allows(caller, index, {}, upload_action) || may_build);
}

base::Result<std::int64_t> parse_lifetime_ms(std::string_view text) {
    constexpr std::int64_t minute_ms = 60'000;
    constexpr std::array<std::pair<char, std::int64_t>, 4> units{{{'m', minute_ms},
                                                                  {'h', 60 * minute_ms},
                                                                  {'d', 24 * 60 * minute_ms},
                                                                  {'w', 7 * 24 * 60 * minute_ms}}};
    constexpr std::uint64_t max_units = 100'000;
    if (!text.empty()) {
        const auto count = base::parse_decimal(text.substr(0, text.size() - 1));
        for (const auto& [letter, unit_ms] : units) {
            if (text.back() == letter && count && *count > 0 && *count <= max_units)
                return static_cast<std::int64_t>(*count) * unit_ms;
        }
    }
    return wire::fail("token.lifetime", "A lifetime is a number and a unit", std::string(text),
                      "m, h, d or w, for example 90d");
}

base::Result<TokenVerifier::Snapshot> TokenVerifier::current() {
    const std::lock_guard lock(mutex_);
    // Read the count before the rows: a commit between the two reads is loaded twice, never missed.
    WHEELYARD_ASSIGN(const std::int64_t changes, reader_->change_count());
    if (snapshot_ == nullptr || changes != changes_) {
        WHEELYARD_ASSIGN(std::vector<catalog::TokenRow> rows, reader_->tokens());
        snapshot_ = std::make_shared<const std::vector<catalog::TokenRow>>(std::move(rows));
        changes_ = changes;
    }
    return snapshot_;
}

wire::Answered<void> TokenVerifier::check_row(const catalog::TokenRow& token) const {
    const std::string_view person = actor_of_token(token);
    if (is_person(person) && !identities_.contains(identity_of(person)))
        return wire::refuse("auth.login_ended", "This log-in has ended",
                            "The registry has no log-in of this name any more.",
                            std::string(identity_of(person)), "ask the administrator how to log in now");
    if (is_person(token.name) && (token.revoked || token.expires <= clock_.now())) {
        const base::UnixMicros end = token.revoked ? token.revoked_at : token.expires;
        return wire::refuse("auth.login_ended", "This log-in has ended",
                            "This log-in ended at " + base::render_rfc3339(end) + ".", {},
                            "log in again: `avail_wheels login` or `wheelyard-builder login`, or at "
                            "/api/v1/login/ of this registry");
    }
    // One without an end is an operator's, of an earlier version.
    if (is_publisher(token.name) && token.expires != 0 && !publishers_.contains(publisher_of(token.name)))
        return refuse_token("The registry has no [[publisher]] of this token's name any more.",
                            "ask the administrator which jobs may publish");
    const bool is_enrolled = !site_bound_to(token).empty();
    if (token.revoked)
        return refuse_token("This token has been revoked.",
                            is_enrolled ? "ask an administrator for a code, then `wheelyard-builder enrol`"
                                        : "ask an administrator for a new one");
    if (token.expires != 0 && token.expires <= clock_.now())
        return refuse_token("This token expired on " + base::render_rfc3339(token.expires) + ".",
                            is_publisher(token.name) ? "exchange a new identity token of the job"
                            : is_enrolled            ? "the next `wheelyard-builder tick` renews it"
                                                     : "ask an administrator for a new one");
    return {};
}

wire::Answered<TokenText> token_sent(std::string_view authorization) {
    const auto sent = token_of_authorization(authorization);
    if (!sent || sent->empty()) {
        return wire::refuse(
            "auth.missing", "Authentication required", "This request requires a token, but none was sent.",
            {}, "send the token as the password of user __token__, or as `Authorization: Bearer`");
    }
    if (auto parsed = parse_token_text(*sent)) return *std::move(parsed);
    return refuse_token("The credentials are not a token of this registry.",
                        "send the complete text that `wheelyard-registry token create` printed");
}

wire::Answered<Identity> TokenVerifier::verify(std::string_view authorization) {
    const auto parsed = token_sent(authorization);
    if (!parsed) return tl::unexpected(parsed.error());
    const std::string hash = hash_token_secret(parsed->secret);
    return find([&](const catalog::TokenRow& token) {
        return token.id == parsed->id && base::equals_in_constant_time(token.secret_sha256, hash);
    });
}

wire::Answered<Identity> TokenVerifier::verify_reader(std::string_view authorization,
                                                      std::string_view index) {
    const auto cookies = cookies_of_authorization(authorization);
    if (cookies.empty()) return verify(authorization);
    wire::Answered<Identity> found;
    for (const ReadingCookie& cookie : cookies) {
        found = find([&](const catalog::TokenRow& token) { return is_cookie_of(cookie, token, index); });
        if (found && cookie.until_s * base::second_us <= clock_.now())
            found = refuse_token("What this browser has of a log-in has ended.",
                                 "log in again, or enter your token, at /api/v1/login/ of this registry");
        if (found) break;
    }
    return found;
}

wire::Answered<Identity> TokenVerifier::find(const IsSent& is_sent) {
    auto snapshot = current();
    if (!snapshot) {
        io::log_error("auth.unavailable", {{"error", snapshot.error().text()}});
        return tl::unexpected(unavailable());
    }
    for (const catalog::TokenRow& token : **snapshot) {
        if (!is_sent(token)) continue;
        if (auto alive = check_row(token); !alive) return tl::unexpected(std::move(alive.error()));
        Identity identity{token};
        identity.name = actor_of_token(token);
        return identity;
    }
    return refuse_token("The registry does not know this token.", "ask an administrator for a new one");
}

wire::Answered<bool> TokenVerifier::knows_credential(const TokenText& text) {
    const auto snapshot = current();
    if (!snapshot) {
        io::log_error("auth.unavailable", {{"error", snapshot.error().text()}});
        return tl::unexpected(unavailable());
    }
    return std::any_of((*snapshot)->begin(), (*snapshot)->end(),
                       [&](const catalog::TokenRow& row) { return is_credential(row, text); });
}

ShownNames TokenVerifier::shown_names() {
    const auto snapshot = current();
    return snapshot ? registry::shown_names(**snapshot) : ShownNames();  // an audit log without names is one
}

}  // namespace wheelyard::registry
