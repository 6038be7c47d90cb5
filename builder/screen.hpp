// The output of `run`: one line per event, and on a terminal a status line below that is redrawn.
#pragma once

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "builder/show/report.hpp"

namespace wheelyard::builder {

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

}  // namespace wheelyard::builder
