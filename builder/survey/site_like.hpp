// A site file like a known site's: that file, with what this machine reports in place of that machine's. Pure.
//
//     known site.toml ─┐
//     draft_site() ────┴─► table by table: found here, or of the known site ──► site.toml
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "builder/survey/site_draft.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

struct KnownSite {
    std::string name;               // "perlmutter"
    std::string text;               // of its site.toml
    std::filesystem::path recipes;  // its own ones; empty: it has none
};

struct LikeDraft {
    SiteDraft draft;
    std::vector<std::string> found_here;  // the tables, without brackets: "scheduler"
    std::vector<std::string> of_site;
};

// Folders, accounts, queues, node types, modules and Pythons are those found here; compilers, flags, launchers, tests, wants
// and users' environment those of the known site. Lines to check begin with "# FILL IN: ". An error: it has another batch
// system.
[[nodiscard]] base::Result<LikeDraft> draft_like(const Survey& survey, SiteRequest request,
                                                 const KnownSite& known);

}  // namespace wheelyard::builder
