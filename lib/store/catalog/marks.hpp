// Marks: what administrators said of files that an upstream lists and nobody has fetched yet. Pure.
//
// A mark is a row without bytes, whose filename is a file's, or PROJECT==VERSION for all files of a version,
// also for those that the upstream adds later: "six==1.17.0" (PEP 440: also 1.17.0+cu126). It says that they
// are yanked, in quarantine, or both, and applies to a file from its download on, too. The yank of a fetched
// file is a mark as well: it outlives an eviction.
#pragma once

#include <cstddef>
#include <map>
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
// `row` may be a mark, too: six==1.0 covers six==1.0+cu126.
[[nodiscard]] bool covers(const FileRow& mark, const FileRow& row);

// The marks of a project, read once for many rows.
class Marks {
  public:
    explicit Marks(std::span<const FileRow> marks);  // which outlive this
    // What the marks say is added to what a row of the project says already.
    void apply(FileRow& row) const;

  private:
    std::map<std::string, const FileRow*, std::less<>> marks_;  // by what they name
};

}  // namespace wheelyard::catalog
