// The limits that an attempt counts against. An attempt holds a preparation slot (downloads, unpacking, steps
// on the login node) from its beginning to its submission, except while it waits after an error. It holds one
// of the site's job slots from its submission to the end of its job, and none while it waits to be submitted
// again. Promotions need neither. Pure.
#pragma once

#include <string>
#include <vector>

#include "builder/attempt/attempt.hpp"

namespace wheelyard::builder {

// Waits for a service that does not answer, or for a person.
[[nodiscard]] bool waits_for_an_answer(const Attempt& attempt);
[[nodiscard]] bool holds_job_slot(const Attempt& attempt);
[[nodiscard]] bool holds_preparation_slot(const Attempt& attempt);
// The attempt has returned its preparation slot, and takes one again for its next try.
[[nodiscard]] bool waits_without_slot(const Attempt& attempt);

struct SlotUse {
    int jobs = 0;
    int preparing = 0;
    int waiting = 0;  // without a preparation slot
};
[[nodiscard]] SlotUse count_slots(const std::vector<Attempt>& attempts);

// Why no further attempt that needs a job may begin; empty: one may.
[[nodiscard]] std::string why_none_begins(const std::vector<Attempt>& attempts);

}  // namespace wheelyard::builder
