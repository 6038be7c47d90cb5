#include "registry/api/query.hpp"

#include <utility>

#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::registry {

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
    for (const std::string_view item : base::split(query, '&')) {
        const auto equals = item.find('=');
        if (equals != std::string_view::npos && item.substr(0, equals) == name) {
            auto value = base::decode_percent(item.substr(equals + 1));
            if (value) return std::move(*value);
        }
    }
    return std::nullopt;
}

}  // namespace wheelyard::registry
