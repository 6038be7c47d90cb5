#include "registry/identity/token.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "registry/identity/limits.hpp"

namespace wheelyard::identity {
namespace {

// The size of a token. Real ones have 0.5 to 4 KiB; groups make them longer.
constexpr std::size_t max_token_bytes = 16 * base::kib;
constexpr std::size_t max_token_depth = 8;          // of its JSON
constexpr std::int64_t max_time_s = 4'000'000'000;  // the year 2096
constexpr std::size_t max_groups = 1'000;           // that are looked at

tl::unexpected<base::Error> refuse(std::string code, std::string sentence, std::string value = {}) {
    if (value.size() > max_quoted_bytes) value = value.substr(0, max_quoted_bytes) + "…";
    return base::fail(std::move(code), std::move(sentence), std::move(value));
}

struct Parts {
    std::string_view signed_bytes;  // header.payload, as received
    std::string header;
    std::string payload;
    std::string signature;
};

base::Result<Parts> split_token(std::string_view token) {
    if (token.size() > max_token_bytes)
        return refuse("jwt.size", "A token has at most 16 KiB", std::to_string(token.size()) + " bytes");
    const std::vector<std::string_view> texts = base::split(token, '.');
    if (texts.size() != 3) return refuse("jwt.form", "A token has three parts");
    auto header = decode_strict_base64url(texts[0]);
    auto payload = decode_strict_base64url(texts[1]);
    auto signature = decode_strict_base64url(texts[2]);
    if (!header || !payload || !signature || header->empty() || payload->empty())
        return refuse("jwt.form", "The parts of a token are base64url without padding");
    return Parts{token.substr(0, texts[0].size() + 1 + texts[1].size()), *std::move(header),
                 *std::move(payload), *std::move(signature)};
}

base::Result<io::Json> read_object(const std::string& text, const std::string& what) {
    auto json = io::parse_strict_json(text, {.bytes = max_token_bytes, .depth = max_token_depth});
    if (!json) return refuse("jwt.json", what + " of the token cannot be read: " + json.error().sentence);
    if (json->as_object() == nullptr) return refuse("jwt.json", what + " of the token is no JSON object");
    return *std::move(json);
}

struct Header {
    Algorithm algorithm = Algorithm::rs256;
    std::optional<std::string> key_id;
};

// `jku`, `x5u`, `jwk` and `x5c` are never read: a token does not bring its key.
base::Result<Header> read_header(const std::string& text) {
    WHEELYARD_ASSIGN(const io::Json json, read_object(text, "The header"));
    const std::string word = json.string_or("alg", "");
    Header header;
    if (word == "ES256")
        header.algorithm = Algorithm::es256;
    else if (word == "EdDSA")
        header.algorithm = Algorithm::eddsa;
    else if (word != "RS256")
        return refuse("jwt.algorithm", "Only RS256, ES256 and EdDSA are accepted", word);
    for (const std::string_view name : {"crit", "b64", "zip"}) {
        if (json.find(name) != nullptr)
            return refuse("jwt.extension", "Extensions of the token's form are not accepted",
                          std::string(name));
    }
    const io::Json* id = json.find("kid");
    if (id == nullptr) return header;
    if (id->as_string() == nullptr) return refuse("jwt.key", "The id of the token's key is no text");
    header.key_id = *id->as_string();
    return header;
}

base::Result<std::string> issuer_of(const io::Json& claims) {
    const io::Json* issuer = claims.find("iss");
    if (issuer == nullptr || issuer->as_string() == nullptr)
        return refuse("jwt.issuer", "The token does not say who issued it");
    return *issuer->as_string();
}

base::Status check_audience(const io::Json& claims, const Expected& expected) {
    const std::string& client_id = expected.client_id;
    const io::Json* audience = claims.find("aud");
    std::vector<std::string> names;
    bool is_good = audience != nullptr;
    if (is_good && audience->as_string() != nullptr) {
        names.push_back(*audience->as_string());
    } else if (is_good && audience->as_array() != nullptr) {
        names = audience->texts();
        is_good = names.size() == audience->items().size();
    } else {
        is_good = false;
    }
    if (!is_good || std::find(names.begin(), names.end(), client_id) == names.end())
        return refuse("jwt.audience", "The token is for another client", base::join(names, ", "));
    const bool is_for_others =
        std::any_of(names.begin(), names.end(), [&](const std::string& name) { return name != client_id; });
    const io::Json* party = claims.find("azp");
    if (party == nullptr && !is_for_others && expected.party.empty()) return {};
    if (party == nullptr)
        return refuse("jwt.party", "The token has to say which client asked for it (`azp`)",
                      base::join(names, ", "));
    if (party->as_string() == nullptr ||
        *party->as_string() != (expected.party.empty() ? client_id : expected.party))
        return refuse("jwt.party", "Another client asked for the token (`azp`)", claims.string_or("azp", ""));
    if (is_for_others && expected.is_alone)
        return refuse("jwt.audience", "The token is for others as well", base::join(names, ", "));
    return {};
}

// Access tokens and others of the same issuer have the same keys. Keycloak's access tokens are `Bearer`.
base::Status check_type(const io::Json& claims, const Expected& expected) {
    const io::Json* type = claims.find("typ");
    if (type == nullptr) return {};
    const std::string word = claims.string_or("typ", "");
    if (word == "ID" || word == "JWT" || (word == "Bearer" && !expected.party.empty())) return {};
    return refuse("jwt.type", "This is no ID token", word);
}

// NumericDate (RFC 7519, 2): may have a fraction.
std::optional<std::int64_t> read_time(const io::Json& claims, std::string_view name) {
    const io::Json* time = claims.find(name);
    if (time == nullptr) return std::nullopt;
    if (const auto* whole = time->as_int(); whole != nullptr)
        return *whole >= 0 && *whole <= max_time_s ? std::optional(*whole) : std::nullopt;
    const auto* fraction = time->as_double();
    if (fraction == nullptr || !(*fraction >= 0 && *fraction <= static_cast<double>(max_time_s)))
        return std::nullopt;
    return static_cast<std::int64_t>(*fraction);
}

base::Status check_times(const io::Json& claims, std::int64_t now_s) {
    const auto expires = read_time(claims, "exp");
    const auto issued = read_time(claims, "iat");
    const bool has_start = claims.find("nbf") != nullptr;
    const auto start = read_time(claims, "nbf");
    if (!expires || !issued || (has_start && !start))
        return refuse("jwt.time",
                      "`exp`, `iat` and `nbf` of a token are numbers of seconds, the first two required");
    if (*expires + clock_skew_s <= now_s)
        return refuse("jwt.expired", "The token has expired", std::to_string(*expires));
    if (*issued - clock_skew_s > now_s || (start && *start - clock_skew_s > now_s))
        return refuse("jwt.early", "The token is from the future: compare the clocks",
                      std::to_string(start ? std::max(*start, *issued) : *issued));
    if (*expires - *issued > max_token_life_s)
        return refuse("jwt.lifetime", "The token lives longer than a day",
                      std::to_string(*expires - *issued) + " s");
    return {};
}

base::Status check_nonce(const io::Json& claims, const std::optional<std::string>& wanted) {
    if (!wanted) return {};
    const io::Json* nonce = claims.find("nonce");
    const bool is_equal = nonce != nullptr && nonce->as_string() != nullptr &&
                          base::equals_in_constant_time(*nonce->as_string(), *wanted);
    if (!is_equal) return refuse("jwt.nonce", "The token answers another log-in (`nonce`)");
    return {};
}

base::Result<std::string> subject_of(const io::Json& claims) {
    std::string subject = claims.string_or("sub", "");
    if (subject.empty() || subject.size() > max_subject_bytes)
        return refuse("jwt.subject", "The subject of a token (`sub`) is a text of 1 to 255 bytes",
                      std::to_string(subject.size()) + " bytes");
    return subject;
}

// Cut between characters, without what would break a line of a log or a page.
std::string printable(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const auto first = static_cast<unsigned char>(text[i]);
        const std::size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
        if (out.size() + length > max_shown_name_bytes) break;
        const bool is_control =
            first < 0x20 || first == 0x7f ||
            (first == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0);
        // U+2028 to U+202E, U+2066 to U+2069: they move what follows.
        const bool is_layout = text.compare(i, 2, "\xe2\x80") == 0 || text.compare(i, 2, "\xe2\x81") == 0;
        if (!is_control && !is_layout) out.append(text, i, length);
        i += length;
    }
    return std::string(base::trim(out));
}

}  // namespace

std::vector<std::string> Claims::groups(std::string_view claim) const {
    std::vector<std::string> names = all.texts(claim);
    const io::Json* list = all.find(claim);
    if (list == nullptr || names.size() != list->items().size()) return {};
    if (names.size() > max_groups) names.resize(max_groups);
    return names;
}

std::string Claims::shown_name() const {
    for (const std::string_view claim : {"name", "preferred_username"}) {
        if (std::string name = printable(all.string_or(claim, "")); !name.empty()) return name;
    }
    return printable(subject);
}

base::Result<Claimed> claimed_by(std::string_view token) {
    WHEELYARD_ASSIGN(const Parts parts, split_token(token));
    WHEELYARD_ASSIGN(const io::Json claims, read_object(parts.payload, "The content"));
    WHEELYARD_ASSIGN(std::string issuer, issuer_of(claims));
    return Claimed{std::move(issuer), claims.string_or("azp", ""), read_time(claims, "iat").value_or(0)};
}

base::Result<Claims> verify_token(std::string_view token, const KeySet& keys, const Expected& expected,
                                  std::int64_t now_s) {
    WHEELYARD_ASSIGN(const Parts parts, split_token(token));
    WHEELYARD_ASSIGN(const Header header, read_header(parts.header));
    WHEELYARD_ASSIGN(io::Json claims, read_object(parts.payload, "The content"));
    Claims verified;
    WHEELYARD_ASSIGN(verified.issuer, issuer_of(claims));
    if (verified.issuer != expected.issuer)
        return refuse("jwt.issuer", "The token is of another issuer", verified.issuer);
    WHEELYARD_ASSIGN(const PublicKey key, keys.find(header.algorithm, header.key_id));
    if (!is_signed_by(key, parts.signed_bytes, parts.signature))
        return refuse("jwt.signature", "The signature of the token is not that of the provider's key",
                      header.key_id.value_or(""));
    WHEELYARD_TRY(check_audience(claims, expected));
    WHEELYARD_TRY(check_type(claims, expected));
    WHEELYARD_TRY(check_times(claims, now_s));
    WHEELYARD_TRY(check_nonce(claims, expected.nonce));
    WHEELYARD_ASSIGN(verified.subject, subject_of(claims));
    verified.id = claims.string_or("jti", "");
    verified.all = std::move(claims);
    return verified;
}

}  // namespace wheelyard::identity
