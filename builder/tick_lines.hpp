// What ticks print that nobody watches: each line with the time, and not again what the tick before printed. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "lib/base/clock.hpp"

namespace wheelyard::builder {

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
