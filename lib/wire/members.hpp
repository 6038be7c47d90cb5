// Reads members of a document that may lack them.
#pragma once

#include <string_view>

#include "lib/base/clock.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::wire {

// An empty object where there is none.
inline const io::Json& member(const io::Json& json, std::string_view name) {
    static const io::Json none = io::Json::object();
    const io::Json* found = json.find(name);
    return found == nullptr ? none : *found;
}

// 0 where there is no valid time.
inline base::UnixMicros time_in(const io::Json& json, std::string_view name) {
    return base::parse_rfc3339(json.string_or(name, "")).value_or(0);
}

}  // namespace wheelyard::wire
