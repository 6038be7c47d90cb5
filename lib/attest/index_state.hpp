// The state of an index: which pages it has, up to which event, and until when somebody may believe so. It is signed at
// each publish run, by a key that the root document names for statements.
//
//     {"format":"wheelyard.index_state/1","index":"main","history":1,"serial":12,"time":"2026-11-27T09:00:00.000000Z",
//      "valid_until":"2026-12-04T09:00:00.000000Z","pages":"SHA-256 of signed/pages.txt"}
//
// in an envelope whose type is index_state_type. docs/reference/signed-index.md
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/attest/keys.hpp"
#include "lib/attest/root.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::attest {

inline constexpr std::string_view index_state_type = "application/vnd.wheelyard.index-state+json";
inline constexpr std::string_view index_state_path = "signed/state.json";  // below the index

struct IndexState {
    std::string index;
    std::int64_t history = 1;  // of the root document: a restored registry begins another one
    std::int64_t serial = 0;   // of the index's last event
    base::UnixMicros time = 0;
    base::UnixMicros valid_until = 0;
    std::string pages;  // SHA-256 of the list of lists (page_list.hpp)
};

[[nodiscard]] std::string render_index_state(const IndexState& state);  // what is signed
[[nodiscard]] std::string sign_index_state(const IndexState& state, const SigningKey& key);
// Only the bytes that sign_index_state() gives; the signature is not checked. Error "attest.index_state".
[[nodiscard]] base::Result<IndexState> parse_index_state(std::string_view text);

// The newest state that a reader has verified; history 0: none.
struct SeenState {
    std::int64_t history = 0;
    std::int64_t serial = 0;
    bool operator==(const SeenState&) const = default;
};

struct VerifiedState {
    IndexState state;
    std::vector<std::string> warnings;
};

// A state of the index `index`, signed by a key that `root` trusts, not older than what was seen, and valid now. A revoked
// key counts no more, whatever time it writes: a state is signed again each day. Errors: "attest.index_state" (its form),
// "attest.unknown_key", "attest.signature", "attest.revoked", "attest.index", "attest.history", "attest.rollback",
// "attest.expired", "attest.clock" (signed in the future).
[[nodiscard]] base::Result<VerifiedState> verify_index_state(std::string_view text, const Root& root,
                                                             std::string_view index, const SeenState& seen,
                                                             base::UnixMicros now);

}  // namespace wheelyard::attest
