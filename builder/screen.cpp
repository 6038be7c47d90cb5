// Redraws a status line on a terminal; prints fewer lines otherwise.
#include "builder/screen.hpp"

#include "lib/base/text/printable.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::size_t terminal_columns = 100;  // a wrapped line cannot be redrawn

std::string fitting(std::string text) {
    if (text.size() > terminal_columns) text.resize(terminal_columns);
    return text;
}

}  // namespace

void Screen::clear() {
    if (drawn_) std::fputs("\r\033[K", out_);
    drawn_ = false;
}

void Screen::line(const std::string& text) {
    clear();
    std::fputs((base::printable(text) + "\n").c_str(), out_);
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
        std::fputs(base::printable(fitting(base::replace_all(text, "\n", " "))).c_str(), out_);
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
