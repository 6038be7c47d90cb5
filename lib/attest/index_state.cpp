// Index states as JSON, and whether a reader believes one.
#include "lib/attest/index_state.hpp"

#include <algorithm>
#include <utility>

#include "lib/attest/envelope.hpp"
#include "lib/attest/limits.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::attest {
namespace {

using io::Json;

constexpr std::string_view index_state_format = "wheelyard.index_state/1";
constexpr std::string_view may_be_altered =
    "fetch it again, from the registry itself; if it stays so, somebody has changed it";

tl::unexpected<base::Error> fail_state(std::string sentence, std::string value = {}) {
    return base::fail_malformed("attest.index_state", std::move(sentence), std::move(value),
                                std::string(may_be_altered));
}

tl::unexpected<base::Error> refuse_state(std::string code, std::string sentence, std::string value,
                                         std::string advice) {
    return base::fail(std::move(code), std::move(sentence), std::move(value), std::move(advice));
}

base::Result<base::UnixMicros> time_at(const Json& json, std::string_view name) {
    WHEELYARD_ASSIGN(const std::string text, json.string_at(name));
    return base::parse_rfc3339(text);
}

base::Result<IndexState> read_state_members(const Json& json) {
    IndexState state;
    WHEELYARD_ASSIGN(state.index, json.string_at("index"));
    WHEELYARD_ASSIGN(state.history, json.int_at("history"));
    WHEELYARD_ASSIGN(state.serial, json.int_at("serial"));
    WHEELYARD_ASSIGN(state.time, time_at(json, "time"));
    WHEELYARD_ASSIGN(state.valid_until, time_at(json, "valid_until"));
    WHEELYARD_ASSIGN(state.pages, json.string_at("pages"));
    return state;
}

base::Result<IndexState> read_state(std::string_view text) {
    const auto json = io::parse_json(text, {.bytes = max_signed_bytes, .depth = max_depth});
    if (!json) return fail_state("A signed state is no JSON", json.error().text());
    if (json->string_or("format", {}) != index_state_format)
        return fail_state("A signed state has another format than " + std::string(index_state_format),
                          json->string_or("format", {}));
    auto state = read_state_members(*json);
    if (!state) return fail_state("A signed state lacks a part: " + state.error().sentence);
    const bool is_sound = state->history > 0 && state->serial >= 0 && base::is_sha256_hex(state->pages);
    if (!is_sound || render_index_state(*state) != text)
        return fail_state("A signed state is not in its one form");
    return state;
}

base::Result<Envelope> parse_state_envelope(std::string_view text) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    WHEELYARD_ASSIGN(Envelope envelope, parse_envelope(text, "The signed state of the index"));
    if (envelope.payload_type != index_state_type)
        return fail_state("This signed document is no state of an index", envelope.payload_type);
    if (envelope.signatures.size() != 1)
        return fail_state("A state has not exactly one signature",
                          std::to_string(envelope.signatures.size()));
    return envelope;
}

base::Status check_state_signature(const Envelope& envelope, const Root& root) {
    const Signature& signature = envelope.signatures.front();
    const auto& trusted = root.provenance;
    const PublicKey* key = root.find(signature.key_id);
    if (key == nullptr || std::find(trusted.begin(), trusted.end(), signature.key_id) == trusted.end())
        return refuse_state("attest.unknown_key", "A key that you do not trust has signed the state",
                            signature.key_id, "use the newest root.json of this registry's operator");
    if (!key->verifies(pre_authentication_encoding(envelope.payload_type, envelope.payload), signature.bytes))
        return refuse_state("attest.signature", "The signature does not belong to the state",
                            signature.key_id, std::string(may_be_altered));
    if (!root.revoked_from(signature.key_id)) return {};
    return refuse_state("attest.revoked", "A revoked key has signed the state", signature.key_id,
                        "the registry has to sign with its new key: ask its operator");
}

base::Status check_history(const IndexState& state, const Root& root, const SeenState& seen) {
    const std::string histories =
        "history " + std::to_string(state.history) + ", root.json names " + std::to_string(root.history);
    if (seen.history > root.history)
        return refuse_state(
            "attest.root_old", "The root document is older than one that was used before",
            "history " + std::to_string(root.history) + " after " + std::to_string(seen.history),
            "use the newest root.json of this registry's operator");
    if (state.history > root.history)
        return refuse_state("attest.history",
                            "The state is of a history that the root document does not name", histories,
                            "after a restore the operator gives out a new root.json: get that one");
    if (state.history < root.history)
        return refuse_state(
            "attest.history", "The state is of a history that has ended", histories,
            "follow the registry itself; its operator sets history in [attest] after `attest new-history`");
    if (state.history > seen.history || state.serial >= seen.serial) return {};
    return refuse_state(
        "attest.rollback", "The state is older than one that was seen before",
        "serial " + std::to_string(state.serial) + " after " + std::to_string(seen.serial),
        "a mirror may show an earlier state: follow the registry itself. If the registry was restored from "
        "a backup, its operator runs `wheelyard-registry attest new-history` and gives out the new "
        "root.json");
}

base::Status check_validity(const IndexState& state, base::UnixMicros now) {
    if (state.time > now + max_clock_skew_us)
        return refuse_state("attest.clock",
                            "The state was signed in the future, so nobody can say whether it is still valid",
                            "signed " + base::render_rfc3339(state.time) + ", the clock here says " +
                                base::render_rfc3339(now),
                            "check this machine's clock, then the registry's");
    if (now < state.valid_until) return {};
    return refuse_state("attest.expired",
                        "The state is no longer valid: it may hide what was published since",
                        "valid until " + base::render_rfc3339(state.valid_until),
                        "a mirror stands still, the registry signs no more, or the clock here (" +
                            base::render_rfc3339(now) + ") is wrong: ask the operator");
}

}  // namespace

std::string render_index_state(const IndexState& state) {
    return Json::object({{"format", index_state_format},
                         {"index", state.index},
                         {"history", state.history},
                         {"serial", state.serial},
                         {"time", base::render_rfc3339(state.time)},
                         {"valid_until", base::render_rfc3339(state.valid_until)},
                         {"pages", state.pages}})
        .render();
}

std::string sign_index_state(const IndexState& state, const SigningKey& key) {
    return render_envelope(sign(render_index_state(state), std::string(index_state_type), key)) + "\n";
}

base::Result<IndexState> parse_index_state(std::string_view text) {
    WHEELYARD_ASSIGN(const Envelope envelope, parse_state_envelope(text));
    return read_state(envelope.payload);
}

base::Result<VerifiedState> verify_index_state(std::string_view text, const Root& root,
                                               std::string_view index, const SeenState& seen,
                                               base::UnixMicros now) {
    WHEELYARD_ASSIGN(const Envelope envelope, parse_state_envelope(text));
    WHEELYARD_TRY(check_state_signature(envelope, root));
    VerifiedState verified;
    WHEELYARD_ASSIGN(verified.state, read_state(envelope.payload));
    if (verified.state.index != index)
        return refuse_state("attest.index", "The state is of another index", verified.state.index,
                            "the index should be " + std::string(index) +
                                ": give the registry's name of the index, or its URL");
    WHEELYARD_TRY(check_history(verified.state, root, seen));
    WHEELYARD_TRY(check_validity(verified.state, now));
    if (root.expires <= now)
        verified.warnings.push_back("the root document expired " + base::render_rfc3339(root.expires) +
                                    ": a key that was revoked since is not known to be");
    return verified;
}

}  // namespace wheelyard::attest
