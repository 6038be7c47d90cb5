// Redraws a status line on a terminal; prints fewer lines otherwise.
#include "builder/screen.hpp"

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
    const std::string shown = base::printable(text) + "\n";
    std::fputs((terminal_ ? base::wrap_lines(shown, columns()) : shown).c_str(), out_);
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
        std::fputs(cut_to(base::printable(base::replace_all(text, "\n", " ")), columns()).c_str(), out_);
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

}  // namespace wheelyard::builder
