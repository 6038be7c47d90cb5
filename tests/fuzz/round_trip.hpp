// Documents of the wire under fuzzing: what a parser accepts survives a round trip.
#pragma once

#include <cstdlib>
#include <string_view>

namespace wheelyard::fuzz {

inline void require(bool holds) {
    if (!holds) std::abort();
}

// An error has a code; an accepted document is the same after it was rendered and parsed again.
template <typename Parse, typename Render>
void check_round_trip(std::string_view body, Parse parse, Render render) {
    const auto once = parse(body);
    if (!once) {
        require(!once.error().code.empty());
        return;
    }
    const auto text = render(*once);
    const auto twice = parse(text);
    require(twice.has_value());
    require(render(*twice) == text);
}

}  // namespace wheelyard::fuzz
