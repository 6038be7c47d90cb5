// An IndexRule as the JSON document that the catalog keeps and that events carry.
#pragma once

#include <string>
#include <string_view>

#include "lib/base/result.hpp"
#include "registry/catalog/inheritance.hpp"

namespace wheelyard::catalog {

[[nodiscard]] std::string render_index_rule(const IndexRule& rule);
[[nodiscard]] base::Result<IndexRule> parse_index_rule(std::string index, std::string_view json);
// A rule that says nothing.
[[nodiscard]] inline bool is_default(const IndexRule& rule) {
    return rule == IndexRule{.index = rule.index};
}

}  // namespace wheelyard::catalog
