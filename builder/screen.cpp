// Redraws a status line on a terminal; prints fewer lines otherwise.
#include "builder/screen.hpp"

#include <algorithm>
#include <utility>

#include "lib/base/process/terminal.hpp"
#include "lib/base/process/terminal_columns.hpp"
#include "lib/base/text/printable.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/text_table.hpp"
#include "lib/base/text/utf8.hpp"

namespace wheelyard::builder {
namespace {

// A wrapped line cannot be redrawn. The last column stays free: some terminals wrap when it is written.
std::string cut_to(const std::string& text, std::size_t columns) {
    if (text.size() < columns) return text;
    constexpr std::string_view more = " …";
    constexpr std::size_t more_columns = 2;
    if (columns <= more_columns + 1) return {};
    return std::string(base::cut_utf8(text, columns - more_columns - 1)).append(more);
}

}  // namespace

// Asked each time: the window may have another size now.
std::size_t Screen::columns() const {
    const std::size_t known = base::terminal_columns(::fileno(out_));
    return known == 0 ? base::default_columns : known;
}

void Screen::clear() {
    if (drawn_) std::fputs("\r\033[K", out_);
    drawn_ = false;
}

void Screen::line(const std::string& text) {
    clear();
    base::print(out_, terminal_ ? base::wrap_lines(text + "\n", columns()) : text + "\n");
    std::fflush(out_);
}

void Screen::show(const std::vector<AttemptView>& active) {
    if (terminal_) {
        std::string text;
        for (const auto& view : active) {
            text += (text.empty() ? "" : " | ") + view.attempt.asked.package + " " +
                    view.attempt.asked.version + ": " + render_activity(view);
        }
        clear();
        base::print(out_, cut_to(base::printable_line(text), columns()));
        std::fflush(out_);
        drawn_ = !active.empty();
        return;
    }
    for (const auto& view : active) {
        if (view.attempt.state != State::running || view.progress.phase.empty()) continue;
        const int tenth = view.progress.total == 0 ? 0 : view.progress.done * 10 / view.progress.total;
        const std::string now = view.progress.phase + " " + std::to_string(tenth);
        if (std::exchange(said_[view.attempt.id], now) != now)
            line(view.attempt.asked.cell + ": " + render_activity(view));
    }
}

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
