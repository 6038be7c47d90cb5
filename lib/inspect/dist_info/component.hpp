// What a wheel contains, as its SBOMs state (sbom.cpp).
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <vector>

namespace wheelyard::inspect {

struct Component {
    std::string name;
    std::string version;  // as written; a distribution's has its revision: "1.2.11-25.el8"; may be empty
    std::string purl;     // "pkg:rpm/almalinux/zlib@1.2.11-25.el8"; may be empty
    std::string sha256;   // may be empty
    // As stated: an SPDX expression or a name; of several ones "MIT, Zlib". Empty: not stated.
    std::string license = {};
    auto operator<=>(const Component&) const = default;
};

// What the SBOMs of a wheel name, sorted, each once.
struct Components {
    std::vector<Component> list;
    std::size_t left_out = 0;  // beyond the limits
};

}  // namespace wheelyard::inspect
