// Shortens the last lines of an output that may itself be cut off.
#include "builder/doctor/last_words.hpp"

#include <algorithm>
#include <vector>

#include "builder/doctor/error_line.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {

std::string last_words(std::string_view said) {
    constexpr std::size_t max_lines = 3;
    // The tail of a log may begin in the middle of a UTF-8 character.
    while (!said.empty() && (static_cast<unsigned char>(said.front()) & 0xC0U) == 0x80U)
        said.remove_prefix(1);
    const auto lines = base::split_lines(said);
    std::vector<std::string> last;
    for (auto line = lines.rbegin(); line != lines.rend() && last.size() < max_lines; ++line) {
        auto shown = shorten_line(plain_line(*line));
        if (!shown.empty()) last.push_back(std::move(shown));
    }
    std::reverse(last.begin(), last.end());
    return base::join(last, " / ");
}

}  // namespace wheelyard::builder
