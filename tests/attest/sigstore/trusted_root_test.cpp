// Trusted roots: the public one, and what is none.
#include "lib/attest/sigstore/trusted_root.hpp"

#include <doctest/doctest.h>

#include <string>

namespace wheelyard::sigstore {

TEST_CASE("the public root has the public log of entries, and leaves out logs of other keys") {
    const TrustedRoot& root = public_root();
    CHECK(root.authorities.size() == 2);
    CHECK(root.authorities.back().chain.size() == 2);
    REQUIRE(root.entry_logs.size() == 1);  // the second is one of version 2, with Ed25519
    // The log's ID as its entries have it, in hex.
    const std::string id = "c0d23d6ad406973f9559f3ba2d1ca01f84147d8ffc5b8445c224f98b9591801d";
    CHECK(find_log(root.entry_logs, id, 1'790'000'000'000'000) == &root.entry_logs.front());
    CHECK(find_log(root.entry_logs, id, 1'600'000'000'000'000) == nullptr);  // before it began
    REQUIRE(root.certificate_logs.size() == 2);
    const Log& first = root.certificate_logs.front();  // until 2022-10-31T23:59:59.999Z
    CHECK(find_log(root.certificate_logs, first.key.id(), 1'667'260'799'999'000) == &first);
    CHECK(find_log(root.certificate_logs, first.key.id(), 1'667'260'800'000'000) == nullptr);
}

TEST_CASE("what is no trusted root is refused") {
    const std::string head = R"({"mediaType":"application/vnd.dev.sigstore.trustedroot+json;version=0.1")";
    for (const std::string& text :
         {std::string("{"), std::string("{}"), head + "}", head + R"(,"tlogs":[{}]})",
          head + R"(,"certificateAuthorities":[{"certChain":{"certificates":[{"rawBytes":"AA"}]}}]})",
          head + R"(,"certificateAuthorities":[{"certChain":{"certificates":[{"rawBytes":"AAAA"}]}}]})",
          head + R"(,"certificateAuthorities":[{"certChain":{"certificates":[]}}]})"}) {
        CAPTURE(text);
        const auto root = read_trusted_root(text);
        REQUIRE_FALSE(root);
        CHECK(root.error().code == "trusted_root.form");
    }
}

}  // namespace wheelyard::sigstore
