// Adds rows to the text of a table of version pairs, beside their like, and leaves every other byte as it is. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "builder/site/version_pairs.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

// The row as the table has it, without indentation: `{ package = "torch", …, source = "KEY" },`.
[[nodiscard]] std::string pair_row_text(const VersionPair& row, std::string_view source_key);

// A row goes below the last one of its package, `with` and use, else below the last one of its use. A source that [sources]
// has is named by its key; a new one gets the key "NAME-releases". Error "pairs.layout": the text has no such list of rows, one
// a line.
[[nodiscard]] base::Result<std::string> add_pairs(std::string_view text,
                                                  const std::vector<VersionPair>& rows);

}  // namespace wheelyard::builder
