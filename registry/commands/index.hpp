// What `wheelyard-registry index` and `apply` have in common.
#pragma once

#include <string>

#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "registry/commands/door.hpp"

namespace wheelyard::registry {

// "KEY=VALUE" as a merge patch; the value is TOML, or text that is no TOML: `quota_mib=5`, `title=Wheels of the site`,
// `policy.preset=mirror`. "index.key_value".
[[nodiscard]] base::Result<io::Json> parse_key_value(const std::string& text);

// Of a document "wheelyard.index_changed/1": lines "INDEX: KEY: BEFORE -> AFTER", and how it ended.
void print_changes(const io::Json& changed);
void print_end(const io::Json& changed, const Door& door);

}  // namespace wheelyard::registry
