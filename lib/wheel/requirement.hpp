// Requirements (PEP 508): `name[extra] >=1.0 ; marker` and `name @ url`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/wheel/marker.hpp"
#include "lib/wheel/specifier.hpp"

namespace wheelyard::wheel {

struct Requirement {
    std::string name;     // as written
    std::string project;  // normalised
    std::vector<std::string> extras;
    SpecifierSet specifiers;
    std::string url;  // for a direct reference; empty otherwise
    std::optional<Marker> marker;

    [[nodiscard]] static base::Result<Requirement> parse(std::string_view text);
    [[nodiscard]] std::string text() const;
};

}  // namespace wheelyard::wheel
