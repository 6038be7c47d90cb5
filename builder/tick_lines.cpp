#include "builder/tick_lines.hpp"

#include <algorithm>
#include <utility>

#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

// libcurl says how long it tried: "after 12 ms:", "after 10001 milliseconds". What differs in that alone is no news.
std::string without_waits(std::string_view line) {
    constexpr std::string_view before = " after ";
    std::string text(line);
    for (auto at = text.find(before); at != std::string::npos; at = text.find(before, at + before.size())) {
        const auto begin = at + before.size();
        const auto end = std::min(text.find_first_not_of("0123456789", begin), text.size());
        const std::string_view unit = std::string_view(text).substr(end);
        if (end > begin && (unit.starts_with(" ms") || unit.starts_with(" milliseconds")))
            text.erase(begin, end - begin);
    }
    return text;
}

}  // namespace

void TickLines::begin() {
    before_ = std::exchange(now_, {});
}

std::string TickLines::fresh(std::string_view text, base::UnixMicros now) {
    constexpr std::size_t to_the_second = 19;
    const std::string time = base::render_rfc3339(now).substr(0, to_the_second) + "Z ";
    std::string lines;
    for (const auto line : base::split_lines(text)) {
        const std::string said = without_waits(line);
        const bool is_new = now_.insert(said).second && !before_.contains(said);
        if (is_new) lines.append(time).append(line).append("\n");
    }
    return lines;
}

}  // namespace wheelyard::builder
