#include "registry/identity/key_set.hpp"

#include <algorithm>
#include <utility>

#include "lib/base/text/encoding.hpp"
#include "lib/io/json.hpp"
#include "registry/identity/limits.hpp"

namespace wheelyard::identity {
namespace {

constexpr std::size_t max_set_depth = 6;

tl::unexpected<base::Error> refuse_set(std::string sentence, std::string value = {}) {
    return base::fail_malformed("jwks.form", std::move(sentence), std::move(value));
}

// "RSA" and the like with "sig" and the algorithm, each as far as the key says it.
std::optional<Algorithm> algorithm_of(const io::Json& json) {
    struct Kind {
        std::string_view type;
        std::string_view curve;
        std::string_view word;
        Algorithm algorithm;
    };
    constexpr Kind kinds[] = {{"RSA", "", "RS256", Algorithm::rs256},
                              {"EC", "P-256", "ES256", Algorithm::es256},
                              {"OKP", "Ed25519", "EdDSA", Algorithm::eddsa}};
    const auto says = [&](std::string_view name, std::string_view wanted) {
        const io::Json* member = json.find(name);
        return member == nullptr || (member->as_string() != nullptr && *member->as_string() == wanted);
    };
    for (const Kind& kind : kinds) {
        const bool fits = json.string_or("kty", "") == kind.type &&
                          (kind.curve.empty() || json.string_or("crv", "") == kind.curve);
        if (fits && says("use", "sig") && says("alg", kind.word)) return kind.algorithm;
    }
    return std::nullopt;
}

base::Result<PublicKey> read_key(const io::Json& json, Algorithm algorithm) {
    const auto number = [&](std::string_view name) {
        return decode_strict_base64url(json.string_or(name, "")).value_or("");
    };
    switch (algorithm) {
        case Algorithm::rs256:
            return rsa_key(number("n"), number("e"));
        case Algorithm::es256:
            return p256_key(number("x"), number("y"));
        case Algorithm::eddsa:
            break;
    }
    return ed25519_key(number("x"));
}

}  // namespace

std::optional<std::string> decode_strict_base64url(std::string_view text) {
    auto bytes = base::decode_base64url(text);
    if (!bytes || base::encode_base64url(*bytes) != text) return std::nullopt;
    return *std::move(bytes);
}

KeySet::Row KeySet::read_row(const io::Json& json) {
    Row row{std::nullopt, std::nullopt, base::fail_malformed("jwks.key", "The key is not for signatures")};
    if (json.as_object() == nullptr) return row;
    const io::Json* id = json.find("kid");
    if (id != nullptr && id->as_string() != nullptr) row.id = *id->as_string();
    if (id != nullptr && id->as_string() == nullptr) return row;
    row.algorithm = algorithm_of(json);
    if (row.algorithm) row.key = read_key(json, *row.algorithm);
    return row;
}

base::Result<KeySet> KeySet::parse(std::string_view document) {
    if (document.size() > max_document_bytes)
        return base::fail_malformed("jwks.size", "A key set has at most 64 KiB",
                                    std::to_string(document.size()));
    const auto json = io::parse_strict_json(document, {.bytes = max_document_bytes, .depth = max_set_depth});
    if (!json) return refuse_set("A key set is a JSON object: " + json.error().sentence);
    const io::Json* keys = json->find("keys");
    if (keys == nullptr || keys->as_array() == nullptr) return refuse_set("A key set has a list `keys`");
    if (keys->items().size() > max_keys)
        return base::fail_malformed("jwks.count", "A key set has at most 32 keys",
                                    std::to_string(keys->items().size()));
    KeySet set;
    for (const io::Json& key : keys->items())
        set.rows_.push_back(read_row(key));
    return set;
}

base::Result<PublicKey> KeySet::find(Algorithm algorithm, const std::optional<std::string>& id) const {
    const Row* found = nullptr;
    bool is_known = !id;  // of an id that is there, for another algorithm, newer keys change nothing
    for (const Row& row : rows_) {
        const bool is_named = id ? row.id == id : rows_.size() == 1;
        is_known = is_known || is_named;
        if (!is_named || row.algorithm != algorithm) continue;
        if (found != nullptr)
            return base::fail("jwt.key", "The provider has two keys of this id", id.value_or(""));
        found = &row;
    }
    if (found == nullptr)
        return base::fail_as(is_known ? base::ErrorKind::invalid : base::ErrorKind::missing,
                             base::Recovery::never,
                             {"jwt.key", "The provider has no key of this id for the token's algorithm",
                              id ? id->substr(0, max_quoted_bytes) : "(the token names none)"});
    if (!found->key)
        return base::fail("jwt.key",
                          "The provider's key of this id is not accepted: " + found->key.error().sentence,
                          found->key.error().value);
    return *found->key;
}

}  // namespace wheelyard::identity
