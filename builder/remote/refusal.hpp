// What a refusal by our registry means for an agent: the one table of the problem codes on which the agent acts.
// Other servers send no such codes.
#pragma once

#include <string_view>

namespace wheelyard::builder {

enum class Refusal {
    other,        // no code, or one that only people and tests read
    quarantined,  // the wheel is stored and hidden
    grant_over,   // the lease of the upload's task ended
    bad_token,    // every other request with this token fails, too
    credentials,  // another refusal of what the token may do
    no_index,
    wrong_offset,  // of a part; the form itself may be right
    no_parts,      // the form may still be sent in one request
    lease_over,    // of a task, which the agent may claim again
    no_task,       // it has ended, or is another agent's
};
[[nodiscard]] Refusal refusal_of(std::string_view code);

}  // namespace wheelyard::builder
