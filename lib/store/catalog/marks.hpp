// Marks: what administrators said of files that an upstream lists and nobody has fetched yet. Pure.
//
// A mark is a row without bytes, whose filename is a file's, or PROJECT==VERSION for all files of a version,
// also for those that the upstream adds later: "six==1.17.0" (PEP 440: also 1.17.0+cu126). It says that they
// are yanked, in quarantine, or both, and applies to a file from its download on, too.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::catalog {

inline constexpr std::size_t max_marks = 10'000;  // of one upstream: a list that people keep

// Says whether these are the files of an upstream, "main.pypi": no other index has '.' in its name.
[[nodiscard]] bool is_upstream_index(std::string_view index);
[[nodiscard]] bool is_version_name(std::string_view name);
// A mark that says nothing yet; without a project: `name` is neither a file's nor a version's.
[[nodiscard]] FileRow mark_named(const FileName& name);
[[nodiscard]] bool covers(const FileRow& mark, const FileRow& row);
// What a mark says is added to what the row says already.
void apply_marks(std::span<const FileRow> marks, FileRow& row);

}  // namespace wheelyard::catalog
