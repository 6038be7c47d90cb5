// What a refusal by our registry means for an agent: the one table of the problem codes on which the agent
// acts. Other servers send no such codes.
#pragma once

#include <string>
#include <string_view>

#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"
#include "lib/wire/problem.hpp"

namespace wheelyard::builder {

enum class Refusal {
    other,        // no code, or one that only people and tests read
    quarantined,  // the wheel is stored and hidden
    bad_token,    // every other request with this token fails, too
    credentials,  // another refusal of what the token may do
    no_index,
    wrong_offset,  // of a part; the form itself may be right
    no_parts,      // the form may still be sent in one request
    task_lost,     // the site was late: the task is free, or another site has it
    no_task,       // it has ended, or is another agent's
    no_build,      // no report has named it
    log_gap,       // the log ends before the piece
    log_full,
    no_address,  // an older registry
};
[[nodiscard]] Refusal refusal_of(std::string_view code);

// What a person reads of an answer: the detail of its problem document, else the title; without one, as from
// a proxy, the reason phrase, which HTTP/2 does not have (RFC 9113, 8.3.2).
[[nodiscard]] std::string message_of(const io::HttpAnswer& answer,
                                     const base::Result<wire::Problem>& problem);

}  // namespace wheelyard::builder
