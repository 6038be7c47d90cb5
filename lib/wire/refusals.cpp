#include "lib/wire/refusals.hpp"

namespace wheelyard::wire {

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
