// A callback that long operations invoke now and then, so that their caller keeps its lock or its lease.
#pragma once

#include <functional>

#include "lib/base/result.hpp"

namespace wheelyard::base {

// Its failure aborts the operation. Empty: nothing to renew.
using KeepAlive = std::function<Status()>;

[[nodiscard]] inline Status renew_or_abort(const KeepAlive& keep_alive) {
    return keep_alive ? keep_alive() : Status();
}

}  // namespace wheelyard::base
