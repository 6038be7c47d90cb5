#include "lib/wire/refusals.hpp"

#include <algorithm>
#include <iterator>

namespace wheelyard::wire {

bool is_refusal(int status, std::string_view code) {
    return std::any_of(std::begin(refused::rows), std::end(refused::rows),
                       [&](const RefusalRow& row) { return row.status == status && row.code == code; });
}

std::string render_refusals(Refused one) {
    std::string text = "| status | code | when |\n|---|---|---|\n";
    for (const RefusalRow& row : refused::rows) {
        if (!has(row.refused, one)) continue;
        text += "| " + std::to_string(row.status) + " | `" + std::string(row.code) + "` | " +
                std::string(row.when) + " |\n";
    }
    return text;
}

}  // namespace wheelyard::wire
