// The guarantees that a file name's platform tags give about compiled code.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "lib/wheel/filename.hpp"

namespace wheelyard::inspect {

struct Promise {
    std::set<std::string> machines;                       // of the linux, manylinux and musllinux tags
    std::optional<std::pair<int, int>> lowest_manylinux;  // the glibc version that must suffice
    std::string lowest_manylinux_tag;
    bool musllinux = false;
    bool manylinux = false;
    bool plain_linux = false;  // linux_x86_64: guarantees the machine only
    bool linux = false;        // any of the three kinds
    bool other = false;        // Windows, macOS …
    bool any = false;
};

[[nodiscard]] Promise read_promise(const wheel::WheelFilename& filename);

}  // namespace wheelyard::inspect
