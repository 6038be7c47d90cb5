// What the platform tags of a file name promise about compiled code.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "lib/wheel/filename.hpp"

namespace wheelyard::inspect {

struct Promise {
    std::set<std::string> machines;                       // of linux, manylinux and musllinux tags
    std::optional<std::pair<int, int>> lowest_manylinux;  // glibc that must be enough
    std::string lowest_manylinux_tag;
    bool musllinux = false;
    bool manylinux = false;
    bool plain_linux = false;  // linux_x86_64: promises nothing but the machine
    bool linux = false;        // any of the three kinds
    bool other = false;        // Windows, macOS …
    bool any = false;
};

[[nodiscard]] Promise read_promise(const wheel::WheelFilename& filename);

}  // namespace wheelyard::inspect
