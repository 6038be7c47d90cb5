// Root documents as JSON, and who may sign them.
#include "lib/attest/root.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "lib/attest/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::attest {
namespace {

constexpr std::size_t max_root_keys = 32;  // of one root document

using io::Json;

constexpr std::string_view root_format = "wheelyard.root/1";

tl::unexpected<base::Error> fail_root(std::string sentence, std::string value = {}) {
    return base::fail_malformed("attest.root", std::move(sentence), std::move(value),
                                "use the file that `attest init` or `attest rotate` wrote");
}

bool is_in(const std::vector<std::string>& list, std::string_view key_id) {
    return std::find(list.begin(), list.end(), key_id) != list.end();
}

base::Status read_keys(const Json& json, Root& root) {
    const Json* keys = json.find("keys");
    if (keys == nullptr || keys->as_object() == nullptr || keys->as_object()->size() > max_root_keys)
        return fail_root("The root document has no keys, or too many");
    for (const auto& [id, value] : *keys->as_object()) {
        const std::string* text = value.as_string();
        if (text == nullptr) return fail_root("A key of the root document is no text", id);
        WHEELYARD_ASSIGN(const std::string der, base::decode_base64(*text));
        WHEELYARD_ASSIGN(PublicKey key, PublicKey::from_der(der));
        if (key.id() != id) return fail_root("A key of the root document has another ID", id);
        root.keys.emplace(id, std::move(key));
    }
    return {};
}

base::Status read_lists(const Json& json, Root& root) {
    root.roots = json.texts("roots");
    root.provenance = json.texts("provenance");
    if (root.roots.empty()) return fail_root("The root document names no root key");
    for (const auto* list : {&root.roots, &root.provenance}) {
        for (const std::string& id : *list)
            if (root.find(id) == nullptr)
                return fail_root("The root document names a key without its bytes", id);
    }
    for (const Json& one : json.items("revoked")) {
        Revocation revocation;
        WHEELYARD_ASSIGN(revocation.key_id, one.string_at("keyid"));
        WHEELYARD_ASSIGN(const std::string from, one.string_at("from"));
        WHEELYARD_ASSIGN(revocation.from, base::parse_rfc3339(from));
        root.revoked.push_back(std::move(revocation));
    }
    return {};
}

base::Result<Root> parse_payload(std::string_view text) {
    WHEELYARD_ASSIGN(const Json json, io::parse_json(text, {.bytes = max_signed_bytes, .depth = max_depth}));
    if (json.string_or("format", {}) != root_format)
        return fail_root("The root document has another format than " + std::string(root_format),
                         json.string_or("format", {}));
    Root root;
    WHEELYARD_ASSIGN(root.version, json.int_at("version"));
    WHEELYARD_ASSIGN(const std::string expires, json.string_at("expires"));
    WHEELYARD_ASSIGN(root.expires, base::parse_rfc3339(expires));
    WHEELYARD_TRY(read_keys(json, root));
    WHEELYARD_TRY(read_lists(json, root));
    if (render_root(root) != text) return fail_root("The root document is not in its one form");
    return root;
}

base::Result<Envelope> parse_root_envelope(std::string_view text) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    WHEELYARD_ASSIGN(Envelope envelope, parse_envelope(text, "The root document"));
    if (envelope.payload_type != root_type)
        return fail_root("This signed document is no root document", envelope.payload_type);
    return envelope;
}

// One root key is enough. read_own() has checked all signatures.
bool is_signed_by(const Envelope& envelope, const Root& signers) {
    return std::any_of(envelope.signatures.begin(), envelope.signatures.end(),
                       [&](const Signature& one) { return signers.may_sign_roots(one.key_id); });
}

tl::unexpected<base::Error> fail_signature(std::string sentence, std::string advice) {
    return base::fail("attest.root_signature", std::move(sentence), {}, std::move(advice));
}

// It has the keys of all that signed it, also of one that it drops: a signature that nobody can check is
// refused.
base::Result<Root> read_own(const Envelope& envelope) {
    auto root = parse_payload(envelope.payload);
    if (!root)
        return fail_root("The root document cannot be read: " + root.error().sentence, root.error().value);
    const std::string bytes = pre_authentication_encoding(envelope.payload_type, envelope.payload);
    for (const Signature& one : envelope.signatures) {
        const PublicKey* key = root->find(one.key_id);
        if (key == nullptr || !key->verifies(bytes, one.bytes))
            return fail_signature("A signature of the root document is not right",
                                  "fetch it again; if it stays so, somebody has changed it");
    }
    return root;
}

}  // namespace

const PublicKey* Root::find(std::string_view key_id) const {
    const auto found = keys.find(std::string(key_id));
    return found == keys.end() ? nullptr : &found->second;
}

bool Root::may_sign_roots(std::string_view key_id) const {
    return is_in(roots, key_id) && !revoked_from(key_id);
}

std::optional<base::UnixMicros> Root::revoked_from(std::string_view key_id) const {
    std::optional<base::UnixMicros> from;
    for (const Revocation& one : revoked)
        if (one.key_id == key_id) from = from ? std::min(*from, one.from) : one.from;
    return from;
}

std::string render_root(const Root& root) {
    Json keys = Json::object();
    for (const auto& [id, key] : root.keys)
        keys.set(id, base::encode_base64(key.der()));
    Json revoked = Json::array();
    for (const Revocation& one : root.revoked)
        revoked.push(Json::object({{"keyid", one.key_id}, {"from", base::render_rfc3339(one.from)}}));
    return Json::object({{"format", root_format},
                         {"version", root.version},
                         {"expires", base::render_rfc3339(root.expires)},
                         {"keys", std::move(keys)},
                         {"roots", Json::array_of(root.roots)},
                         {"provenance", Json::array_of(root.provenance)},
                         {"revoked", std::move(revoked)}})
        .render();
}

std::string sign_root(const Root& root, const std::vector<const SigningKey*>& keys) {
    Envelope envelope{render_root(root), std::string(root_type), {}};
    const std::string bytes = pre_authentication_encoding(envelope.payload_type, envelope.payload);
    for (const SigningKey* key : keys)
        envelope.signatures.push_back({key->public_key().id(), key->sign(bytes)});
    return render_envelope(envelope) + "\n";
}

base::Result<Root> read_root(std::string_view text) {
    WHEELYARD_ASSIGN(const Envelope envelope, parse_root_envelope(text));
    WHEELYARD_ASSIGN(Root root, read_own(envelope));
    if (is_signed_by(envelope, root)) return root;
    return fail_signature("No key that the root document names has signed it",
                          "use the file that the registry's operator gave you");
}

base::Result<Root> read_next_root(std::string_view text, const Root& old) {
    WHEELYARD_ASSIGN(const Envelope envelope, parse_root_envelope(text));
    WHEELYARD_ASSIGN(Root root, read_own(envelope));
    if (!is_signed_by(envelope, old))
        return fail_signature("No key of the root that you trust has signed the new one",
                              "get the versions between " + std::to_string(old.version) + " and " +
                                  std::to_string(root.version) + ", or ask the registry's operator");
    const bool is_same = root.version == old.version && render_root(root) == render_root(old);
    if (root.version > old.version || is_same) return root;
    return base::fail("attest.root_old", "The root document is older than the one that you trust",
                      "version " + std::to_string(root.version) + " after " + std::to_string(old.version),
                      "somebody shows you an earlier state: ask the registry's operator");
}

}  // namespace wheelyard::attest
