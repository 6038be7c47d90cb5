// Compares a table of version pairs with the metadata of the releases of an index. Pure.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "builder/pairs/releases.hpp"
#include "builder/site/version_pairs.hpp"

namespace wheelyard::builder {

// Which metadata says which row.
enum class PairForm {
    companion,  // the wheel of `package` requires one exact `with`, or, as one wheel for all, that and newer ones
    required,  // `with` requires one exact `package`: triton of torch
    python,    // Requires-Python, and the newest Python that has a wheel
    library,   // a requirement on the wheel of an NVIDIA library: its major version
    toolkit,  // the same of the CUDA toolkit, of which wheels name only what they were built with: no row is proposed
};
struct PairSubject {
    PairForm form;
    std::string_view package;
    std::string_view with;
    std::string_view since;  // the first version that is looked at, if the table has no row
    std::vector<std::string_view> requirements = {};  // globs, of the names in Requires-Dist
};
[[nodiscard]] const std::vector<PairSubject>& pair_subjects();

enum class PairFinding {
    proposed,  // no row says it
    differs,   // a row says otherwise
    newer,     // a release that no row and no metadata places
    lacking,   // no row, and metadata cannot give one
    unread,    // the index has none, or could not be read
};
[[nodiscard]] std::string_view pair_finding_text(PairFinding finding);

struct PairLine {
    PairFinding finding;
    VersionPair row;   // proposed, or the one that is there; of the others: package, versions, with
    std::string says;  // a sentence: what the metadata or the index says
};

struct PairComparison {
    std::vector<PairLine> lines;
    std::size_t agreeing = 0;  // releases that a row agrees with
};
// The projects that the comparison needs: those of pair_subjects() and the companions of the table.
[[nodiscard]] std::vector<std::string> projects_to_read(const std::vector<VersionPair>& table);
// Whether compare_pairs needs the metadata of this release.
[[nodiscard]] bool needs_metadata(const std::vector<VersionPair>& table, const std::string& project,
                                  const wheel::Version& version);
[[nodiscard]] PairComparison compare_pairs(const std::vector<VersionPair>& table, const Projects& projects);

// What `pairs check` and `pairs update` print.
[[nodiscard]] std::string render_comparison(const PairComparison& comparison);
// {"table": …, "agreeing": 84, "lines": [{"finding": "proposed", "package": …, "row": "{ package = …", …}]}
[[nodiscard]] std::string render_comparison_json(const PairComparison& comparison,
                                                 const std::filesystem::path& table);

}  // namespace wheelyard::builder
