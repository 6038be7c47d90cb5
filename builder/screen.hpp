// What `run` and `tick` print while they work.
#pragma once

#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "builder/show/report.hpp"
#include "lib/base/clock.hpp"

namespace wheelyard::builder {

// The output of `run`: one line per event, and on a terminal a status line below that is redrawn.
class Screen {
  public:
    // `terminal`: `out` supports redrawing a line.
    Screen(std::FILE* out, bool terminal) : out_(out), terminal_(terminal) {}
    ~Screen() { clear(); }
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    // Prints one event.
    void line(const std::string& text);
    // On a terminal, redraws the status line; otherwise prints a line for each new phase and each tenth of
    // progress.
    void show(const std::vector<AttemptView>& active);

  private:
    void clear();
    [[nodiscard]] std::size_t columns() const;
    std::FILE* out_;
    bool terminal_;
    bool drawn_ = false;
    std::map<std::string, std::string> said_;  // attempt → its last printed phase and tenth
};

// What ticks print that nobody watches: each line with the time, and not again what the tick before printed. Pure.
class TickLines {
  public:
    // A tick begins: what only the one before the last said is new again.
    void begin();
    // The lines of `text` that are new, each with the time; empty: none.
    [[nodiscard]] std::string fresh(std::string_view text, base::UnixMicros now);

  private:
    std::set<std::string, std::less<>> before_, now_;
};

}  // namespace wheelyard::builder
