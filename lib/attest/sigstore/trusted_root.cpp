// Trusted roots as JSON. Certificates are kept as DER: a chain is built of them when one is verified
// (certificate.cpp).
#include "lib/attest/sigstore/trusted_root.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "lib/attest/sigstore/limits.hpp"
#include "lib/base/check.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::sigstore {

namespace {

constexpr std::size_t max_authorities = 16;  // of a root, and certificates of their chains
constexpr std::size_t max_logs = 64;

}  // namespace

namespace templates {
extern const std::string_view public_root;
}

namespace {

using io::Json;

tl::unexpected<base::Error> fail_root(std::string sentence, std::string value = {}) {
    return base::fail_malformed("trusted_root.form", std::move(sentence), std::move(value),
                                "give the trusted_root.json of a Sigstore instance");
}

base::Result<std::string> raw_bytes(const Json& json) {
    WHEELYARD_ASSIGN(const std::string text, json.string_at("rawBytes"));
    return base::decode_base64(text);
}

base::Result<Validity> read_validity(const Json& json) {
    Validity validity;
    const Json* valid_for = json.find("validFor");
    if (valid_for == nullptr) return validity;
    for (const auto& [name, member] :
         {std::pair("start", &validity.from), std::pair("end", &validity.until)}) {
        const std::string text = valid_for->string_or(name, {});
        if (text.empty()) continue;
        WHEELYARD_ASSIGN(*member, base::parse_rfc3339(text));
    }
    return validity;
}

base::Result<std::vector<Log>> read_logs(const Json& root, std::string_view name) {
    std::vector<Log> logs;
    if (root.items(name).size() > max_logs)
        return fail_root("A trusted root has too many logs", std::string(name));
    for (const Json& item : root.items(name)) {
        const Json* key = item.find("publicKey");
        if (key == nullptr) return fail_root("A log of a trusted root has no key", std::string(name));
        WHEELYARD_ASSIGN(const std::string der, raw_bytes(*key));
        WHEELYARD_ASSIGN(const Validity validity, read_validity(*key));
        if (auto p256 = attest::PublicKey::from_der(der)) logs.push_back({*std::move(p256), validity});
    }
    return logs;
}

base::Result<std::vector<Authority>> read_authorities(const Json& root) {
    std::vector<Authority> authorities;
    for (const Json& item : root.items("certificateAuthorities")) {
        Authority authority;
        WHEELYARD_ASSIGN(authority.validity, read_validity(item));
        const Json* chain = item.find("certChain");
        for (const Json& one : chain == nullptr ? Json::Array() : chain->items("certificates")) {
            WHEELYARD_ASSIGN(authority.chain.emplace_back(), raw_bytes(one));
        }
        if (!std::all_of(authority.chain.begin(), authority.chain.end(), is_certificate))
            return fail_root("A certificate of a trusted root cannot be read");
        if (authority.chain.empty() || authority.chain.size() > max_authorities)
            return fail_root("An authority of a trusted root has no certificate, or too many");
        authorities.push_back(std::move(authority));
        if (authorities.size() > max_authorities) return fail_root("A trusted root has too many authorities");
    }
    return authorities;
}

base::Result<TrustedRoot> read_parts(const Json& json) {
    TrustedRoot root;
    WHEELYARD_ASSIGN(root.authorities, read_authorities(json));
    WHEELYARD_ASSIGN(root.entry_logs, read_logs(json, "tlogs"));
    WHEELYARD_ASSIGN(root.certificate_logs, read_logs(json, "ctlogs"));
    return root;
}

}  // namespace

base::Result<TrustedRoot> read_trusted_root(std::string_view text) {
    const auto json = io::parse_json(text, {.bytes = max_root_bytes, .depth = max_depth});
    if (!json) return fail_root("A trusted root is no JSON", json.error().text());
    const std::string type = json->string_or("mediaType", {});
    if (!type.starts_with("application/vnd.dev.sigstore.trustedroot"))
        return fail_root("The document is no trusted root", type);
    auto root = read_parts(*json);
    if (!root) return fail_root(root.error().sentence, root.error().value);
    if (root->authorities.empty() || root->entry_logs.empty() || root->certificate_logs.empty())
        return fail_root("A trusted root lacks certificateAuthorities, tlogs or ctlogs with keys over P-256");
    return root;
}

const TrustedRoot& public_root() {
    static const TrustedRoot root = [] {
        auto read = read_trusted_root(templates::public_root);
        WHEELYARD_CHECK(read.has_value());
        return *std::move(read);
    }();
    return root;
}

const Log* find_log(const std::vector<Log>& logs, std::string_view id, base::UnixMicros time) {
    const auto found = std::find_if(logs.begin(), logs.end(), [&](const Log& log) {
        return log.key.id() == id && log.validity.has(time);
    });
    return found == logs.end() ? nullptr : &*found;
}

}  // namespace wheelyard::sigstore
