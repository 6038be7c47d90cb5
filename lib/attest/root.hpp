// The root document: which keys sign what, since when a key counts no more. Clients keep it; a new one is
// signed by a key of the old one. Its own keys stay offline.
//
//     {"format":"wheelyard.root/1","version":1,"expires":"2028-11-26T00:00:00.000000Z",
//      "keys":{"KEYID":"BASE64 of the DER public key"},"roots":["KEYID"],"provenance":["KEYID"],
//      "revoked":[{"keyid":"KEYID","from":"2026-11-26T12:00:00.000000Z"}]}
//
// in an envelope whose type is root_type. Statements that a revoked key signed before `from` stay valid.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/attest/envelope.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::attest {

inline constexpr std::string_view root_type = "application/vnd.wheelyard.root+json";

struct Revocation {
    std::string key_id;
    base::UnixMicros from = 0;
};

struct Root {
    std::int64_t version = 1;
    base::UnixMicros expires = 0;
    std::map<std::string, PublicKey> keys = {};  // by their IDs: of the lists, and of all that signed this
    std::vector<std::string> roots = {};
    std::vector<std::string> provenance = {};
    std::vector<Revocation> revoked = {};

    [[nodiscard]] const PublicKey* find(std::string_view key_id) const;
    [[nodiscard]] bool may_sign_roots(std::string_view key_id) const;
    // nullopt: the key was never revoked.
    [[nodiscard]] std::optional<base::UnixMicros> revoked_from(std::string_view key_id) const;
};

[[nodiscard]] std::string render_root(const Root& root);  // what is signed
// An envelope with a signature of each of these keys.
[[nodiscard]] std::string sign_root(const Root& root, const std::vector<const SigningKey*>& keys);
// The first root that a reader has: one of its own root keys signed it, and the reader trusts where it comes
// from. Errors: "attest.root" (its form), "attest.root_signature".
[[nodiscard]] base::Result<Root> read_root(std::string_view text);
// A root that follows `old`: a key of `old` signed it, and its version is higher; with the same version it
// has to be the same. Errors: also "attest.root_old".
[[nodiscard]] base::Result<Root> read_next_root(std::string_view text, const Root& old);

}  // namespace wheelyard::attest
