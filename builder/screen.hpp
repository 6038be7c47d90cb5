// What `run` shows: one line for each thing that happens, and, on a terminal, one line below that is drawn
// anew.
#pragma once

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "builder/show/report.hpp"

namespace wheelyard::builder {

class Screen {
  public:
    // `terminal`: lines may be drawn over.
    Screen(std::FILE* out, bool terminal) : out_(out), terminal_(terminal) {}
    ~Screen() { clear(); }
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    void line(const std::string& text);
    // On a terminal the bottom line; in a log a line for each new phase and for each tenth of a counter.
    void show(const std::vector<AttemptView>& active);

  private:
    void clear();
    std::FILE* out_;
    bool terminal_;
    bool drawn_ = false;
    std::map<std::string, std::string> said_;  // attempt → what the log last said of it
};

}  // namespace wheelyard::builder
