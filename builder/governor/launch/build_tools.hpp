// What the links named ninja and make add to a call: a -j far above the cores, so that ready compiles wait in
// the broker. A -j that somebody gave stands, and questions stay what they are. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::governor {

enum class Jobs {
    as_given,  // the call is passed on as it is
    window,    // gets the window
    few,       // gets a few of its own: a make that cannot reach the jobserver of the make above it
    one,       // such a one that has several goals
};

[[nodiscard]] bool is_ninja(std::string_view name);
[[nodiscard]] bool is_make(std::string_view name);

[[nodiscard]] Jobs jobs_for_ninja(const std::vector<std::string>& arguments);

// What a make finds around it.
struct MakeSurroundings {
    std::string flags;            // MAKEFLAGS
    bool below_ours = false;      // a make above it got its -j from us
    bool jobserver_open = false;  // what `flags` says of a jobserver can be used
};
// `$(MAKE)` in a recipe shares the jobserver above, and is left alone. A plain `make` cannot, since GNU make
// closes the descriptors to it, and would warn and go on with -j1; where the jobserver is of our making, the
// warning would be of our making too.
// Several goals (`make clean all`) are made one after the other, as whoever wrote no -j means it.
[[nodiscard]] Jobs jobs_for_make(const std::vector<std::string>& arguments,
                                 const MakeSurroundings& surroundings);

// The jobserver that MAKEFLAGS names: "3,4" (descriptors to read and to write), "fifo:PATH", or "".
[[nodiscard]] std::string jobserver_of(std::string_view makeflags);
// MAKEFLAGS without jobserver and -j.
[[nodiscard]] std::string without_jobserver(std::string_view makeflags);

}  // namespace wheelyard::governor
