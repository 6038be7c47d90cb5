// Root documents: who signs them, who follows whom.
#include "lib/attest/root.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/attest/samples.hpp"

namespace wheelyard::attest {
namespace {

std::string code_of(const auto& result) {
    return result ? std::string("ok") : result.error().code;
}

}  // namespace

TEST_CASE("a root is signed by a key that it names itself") {
    const SigningKey root_key = SigningKey::generate();
    const SigningKey key = SigningKey::generate();
    const SigningKey stranger = SigningKey::generate();
    const Root root = sample_root(root_key, key);
    const auto read = read_root(sign_root(root, {&root_key}));
    REQUIRE(read);
    CHECK(render_root(*read) == render_root(root));
    CHECK(code_of(read_root(sign_root(root, {&stranger}))) == "attest.root_signature");
    CHECK(code_of(read_root(sign_root(root, {&key}))) == "attest.root_signature");  // it signs wheels only
    CHECK(code_of(read_root(sign_root(root, {&root_key, &stranger}))) == "attest.root_signature");
    CHECK(code_of(read_root(sign_root(root, {}))) == "attest.envelope");
    CHECK(code_of(read_root(render_envelope(
              sign(render_root(root), "application/vnd.in-toto+json", root_key)))) == "attest.root");
    CHECK(code_of(read_root(render_envelope(sign("{}", std::string(root_type), root_key)))) == "attest.root");
}

TEST_CASE("a next root is signed by a key of the one before, and its version is higher") {
    const SigningKey root_key = SigningKey::generate();
    const SigningKey key = SigningKey::generate();
    const SigningKey new_root_key = SigningKey::generate();
    const Root first = sample_root(root_key, key);
    const std::string second = sign_root(sample_root(root_key, SigningKey::generate(), 2), {&root_key});
    CHECK(code_of(read_next_root(second, first)) == "ok");
    CHECK(code_of(read_next_root(sign_root(first, {&root_key}), first)) == "ok");
    CHECK(code_of(read_next_root(sign_root(first, {&root_key}), *read_root(second))) == "attest.root_old");
    // The same version with other content is no next one.
    CHECK(code_of(read_next_root(sign_root(sample_root(root_key, SigningKey::generate()), {&root_key}),
                                 first)) == "attest.root_old");
    // A new root key comes with a signature of the old one.
    Root third = sample_root(new_root_key, key, 3);
    CHECK(code_of(read_next_root(sign_root(third, {&new_root_key}), first)) == "attest.root_signature");
    third.keys.emplace(root_key.public_key().id(), root_key.public_key());
    const auto read = read_next_root(sign_root(third, {&root_key, &new_root_key}), first);
    REQUIRE(read);
    CHECK(code_of(read_root(sign_root(third, {&root_key, &new_root_key}))) == "ok");
    // The dropped key has no say any more.
    Root fourth = sample_root(root_key, key, 4);
    CHECK(code_of(read_next_root(sign_root(fourth, {&root_key}), *read)) == "attest.root_signature");
}

TEST_CASE("a revoked root key signs no next root") {
    const SigningKey lost = SigningKey::generate();
    const SigningKey spare = SigningKey::generate();
    const SigningKey key = SigningKey::generate();
    Root first = sample_root(lost, key);
    first.keys.emplace(spare.public_key().id(), spare.public_key());
    first.roots.push_back(spare.public_key().id());
    Root second = first;
    second.version = 2;
    second.revoked.push_back({lost.public_key().id(), sample_time});
    const auto read = read_next_root(sign_root(second, {&spare}), first);
    REQUIRE(read);
    Root third = second;
    third.version = 3;
    CHECK(code_of(read_next_root(sign_root(third, {&lost}), *read)) == "attest.root_signature");
    CHECK(code_of(read_next_root(sign_root(third, {&spare}), *read)) == "ok");
}

}  // namespace wheelyard::attest
