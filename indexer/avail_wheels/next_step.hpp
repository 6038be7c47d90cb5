// What to do next when nothing was found: other spellings, options that show more, what the farm builds, a request.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "indexer/avail_wheels/cli.hpp"

namespace wheelyard::avail_wheels {

struct NextStep {
    // The wheels that another query lists, from the same source.
    std::function<base::Result<Answer>(const Query&)> find;
    std::vector<std::string> projects;  // of the source; empty: unknown
    std::vector<Row> building;          // rows of --status for the wanted names
    bool takes_requests = false;        // of this user
};

// One sentence for each name or pattern without a wheel.
[[nodiscard]] std::vector<std::string> next_steps(const Query& query, const Answer& answer,
                                                  const NextStep& known);

}  // namespace wheelyard::avail_wheels
