// The text is indented deeper than its header; "Call Stack" is not.
#include "builder/doctor/cmake_message.hpp"

#include <algorithm>
#include <utility>

#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::size_t max_message_lines = 12;
constexpr std::size_t max_message_bytes = 2048;
constexpr std::string_view header = "CMake Error";

std::size_t depth_of(std::string_view line) {
    return std::min(line.find_first_not_of(" \t"), line.size());
}

}  // namespace

std::optional<CMakeMessage::Whole> CMakeMessage::pass(std::string_view line, std::uint64_t number) {
    const std::string_view text = base::trim(line);
    std::optional<Whole> ended;
    if (is_open_) {
        const bool goes_on = text.empty() || depth_of(line) > indent_;
        if (goes_on && lines_ < max_message_lines) {
            if (!text.empty() && whole_.text.size() + text.size() < max_message_bytes) {
                whole_.text.append(" ").append(text);
                ++lines_;
            }
            return std::nullopt;
        }
        ended = finish();
    }
    if (text.starts_with(header) && text.ends_with(':')) {
        is_open_ = true;
        indent_ = depth_of(line);
        lines_ = 0;
        whole_ = {number, std::string(text.substr(0, max_message_bytes))};
    }
    return ended;
}

std::optional<CMakeMessage::Whole> CMakeMessage::finish() {
    if (!std::exchange(is_open_, false) || lines_ == 0) return std::nullopt;
    return std::move(whole_);
}

}  // namespace wheelyard::builder
