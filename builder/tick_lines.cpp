#include "builder/tick_lines.hpp"

#include <utility>

#include "lib/base/text/text.hpp"

namespace wheelyard::builder {

void TickLines::begin() {
    before_ = std::exchange(now_, {});
}

std::string TickLines::fresh(std::string_view text, base::UnixMicros now) {
    constexpr std::size_t to_the_second = 19;
    const std::string time = base::render_rfc3339(now).substr(0, to_the_second) + "Z ";
    std::string lines;
    for (const auto line : base::split_lines(text)) {
        const bool is_new = now_.emplace(line).second && !before_.contains(line);
        if (is_new) lines.append(time).append(line).append("\n");
    }
    return lines;
}

}  // namespace wheelyard::builder
