// How long work says now and then that it goes on, and learns that it must not.
#pragma once

#include <functional>

#include "lib/base/result.hpp"

namespace wheelyard::base {

// Its failure ends the work. Empty: nobody asks.
using Breathe = std::function<Status()>;

[[nodiscard]] inline Status take_breath(const Breathe& breathe) {
    return breathe ? breathe() : Status();
}

}  // namespace wheelyard::base
