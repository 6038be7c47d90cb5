// Signed states of an index: which ones a reader believes.
#include "lib/attest/index_state.hpp"

#include <doctest/doctest.h>

#include <string>

#include "lib/attest/statement.hpp"
#include "tests/attest/samples.hpp"
#include "tests/support/sample.hpp"

namespace wheelyard::attest {
namespace {

constexpr base::UnixMicros day = 24LL * 3600 * 1'000'000;

struct SignedIndex {
    SigningKey root_key = SigningKey::generate();
    SigningKey key = SigningKey::generate();
    Root root = sample_root(root_key, key);
    IndexState state{.index = "main",
                     .serial = 12,
                     .time = sample_time,
                     .valid_until = sample_time + 7 * day,
                     .pages = std::string(64, 'a')};
    base::UnixMicros now = sample_time;

    SignedIndex() { root.expires = sample_time + 365 * day; }
    std::string answer_to(const std::string& text, const SeenState& seen = {}) const {
        const auto verified = verify_index_state(text, root, "main", seen, now);
        return verified ? "ok" : verified.error().code;
    }
    std::string answer(const SeenState& seen = {}) const {
        return answer_to(sign_index_state(state, key), seen);
    }
};

}  // namespace

TEST_CASE(
    "a state is believed if a key of the root has signed it, for this index, and time has not run out") {
    SignedIndex at;
    CHECK(at.answer() == "ok");
    CHECK(at.answer_to(sign_index_state(at.state, SigningKey::generate())) == "attest.unknown_key");
    CHECK(at.answer_to(sign_index_state(at.state, at.root_key)) == "attest.unknown_key");  // signs roots only
    at.now = at.state.valid_until - 1;
    CHECK(at.answer() == "ok");
    at.now = at.state.valid_until;
    CHECK(at.answer() == "attest.expired");
    at.now = sample_time;
    at.state.index = "staging";
    CHECK(at.answer() == "attest.index");
}

TEST_CASE(
    "a state of the future is refused beyond ten minutes: the reader's clock cannot say that it has "
    "expired") {
    SignedIndex at;
    at.now = sample_time - 10LL * 60 * 1'000'000;
    CHECK(at.answer() == "ok");
    --at.now;
    CHECK(at.answer() == "attest.clock");
    at.now = sample_time - 10 * day;
    CHECK(at.answer() == "attest.clock");
}

TEST_CASE("a document of another type is no state, whoever signed it") {
    SignedIndex at;
    const std::string payload = render_index_state(at.state);
    for (const std::string_view type : {root_type, statement_type})
        CHECK(at.answer_to(render_envelope(sign(payload, std::string(type), at.key))) ==
              "attest.index_state");
    CHECK(at.answer_to(sign_root(at.root, {&at.root_key})) == "attest.index_state");
    CHECK(at.answer_to(render_envelope(sign(render_root(at.root), std::string(index_state_type), at.key))) ==
          "attest.index_state");
    CHECK(read_root(sign_index_state(at.state, at.root_key)).error().code == "attest.root");
    CHECK(read_root("no JSON").error().sentence == "The root document is no JSON");
    CHECK(parse_index_state("no JSON").error().sentence == "The signed state of the index is no JSON");
}

TEST_CASE("a state never goes back, except in a new history that the root names") {
    SignedIndex at;
    CHECK(at.answer({.history = 1, .serial = 12}) == "ok");
    CHECK(at.answer({.history = 1, .serial = 13}) == "attest.rollback");
    at.state.history = 2;  // the registry says so, and no root key does
    CHECK(at.answer({.history = 1, .serial = 13}) == "attest.history");
    at.root.history = 2;
    CHECK(at.answer({.history = 1, .serial = 13}) == "ok");
    CHECK(at.answer({.history = 2, .serial = 13}) == "attest.rollback");
    at.state.history = 1;  // a mirror that shows what was before the restore
    at.state.serial = 99;
    CHECK(at.answer({.history = 1, .serial = 13}) == "attest.history");
    at.root.history = 1;
    CHECK(at.answer({.history = 2, .serial = 3}) == "attest.root_old");
}

TEST_CASE("a revoked key signs no state, whatever time it writes") {
    SignedIndex at;
    at.root.revoked.push_back({at.key.public_key().id(), sample_time + day});
    CHECK(at.answer() == "attest.revoked");
}

TEST_CASE("an expired root document is a warning") {
    SignedIndex at;
    at.root.expires = sample_time;
    const auto verified = verify_index_state(sign_index_state(at.state, at.key), at.root, "main", {}, at.now);
    REQUIRE(verified);
    CHECK(verified->warnings.size() == 1);
}

TEST_CASE("one changed bit of a signed state is noticed") {
    const SignedIndex at;
    const std::string text = sign_index_state(at.state, at.key);
    for (std::size_t byte = 0; byte < text.size(); byte += test_support::step_of_sample(7)) {
        for (int bit = 0; bit < 8; ++bit) {
            std::string changed = text;
            changed[byte] = static_cast<char>(changed[byte] ^ (1 << bit));
            INFO("byte ", byte, ", bit ", bit);
            CHECK(at.answer_to(changed) != "ok");
        }
    }
}

TEST_CASE("a state has one form") {
    const SignedIndex at;
    const std::string payload = render_index_state(at.state);
    const auto answer_to_payload = [&](const std::string& text) {
        return at.answer_to(render_envelope(sign(text, std::string(index_state_type), at.key)));
    };
    CHECK(answer_to_payload(payload) == "ok");
    const std::pair<std::string, std::string> changes[] = {{"\"history\":1", "\"history\":0"},
                                                           {"\"history\":1", "\"history\":\"1\""},
                                                           {"\"serial\":12", "\"serial\":-1"},
                                                           {"\"serial\":12", "\"serial\":1e1"},
                                                           {"\"serial\":12,", ""},
                                                           {"\"serial\":12", "\"serial\":12,\"serial\":13"},
                                                           {"aaaaaaaa", "AAAAAAAA"},
                                                           {",", ", "},
                                                           {"index_state/1", "index_state/2"}};
    for (const auto& [from, to] : changes) {
        std::string changed = payload;
        changed.replace(changed.find(from), from.size(), to);
        CHECK_MESSAGE(answer_to_payload(changed) == "attest.index_state", changed);
    }
}

}  // namespace wheelyard::attest
