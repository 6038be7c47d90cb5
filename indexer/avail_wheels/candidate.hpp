// A wheel that a source offers, before anything is chosen.
#pragma once

#include <string>
#include <vector>

#include "lib/simple/page.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::avail_wheels {

struct Candidate {
    wheel::WheelFilename wheel;
    simple::FileLink link;
    std::string arch;  // "generic", "x86_64"; in a wheelhouse sorted by architecture its folder: "avx2"
};

// "generic" for `any`, else the machine ("x86_64"), several joined by ",". Platforms without a machine stay
// as they are ("win32").
[[nodiscard]] std::string arch_of_platforms(const wheel::WheelFilename& wheel);

// A compressed tag set as it is shown: sorted, each once, "py2,py3".
[[nodiscard]] std::string joined_tags(const std::vector<std::string>& tags);

}  // namespace wheelyard::avail_wheels
