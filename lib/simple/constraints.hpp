// A constraints file for pip that holds each project of an index to the index's own wheels. pip takes the highest version of
// all its indexes; with `torch==2.9.0+cu128` it takes ours, wherever else torch is.
#pragma once

#include <string>

#include "lib/base/result.hpp"
#include "lib/simple/wheel_list.hpp"

namespace wheelyard::simple {

// One line for each project, its newest version that is not yanked. Where the wheels are for some Pythons or machines only,
// one for each of those, with a marker (PEP 508): others stay free.
[[nodiscard]] base::Result<std::string> render_constraints(const WheelList& wheels);

}  // namespace wheelyard::simple
