// The checks of the web UI (view "pages"): what it names is there, and it is what the catalog decides.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "indexer/pages/project_view.hpp"
#include "indexer/tree/published_state.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

// code, page and detail of a finding.
using NoteFinding = std::function<void(std::string, std::string, std::string)>;

// page_names_missing: a search list names a project without a page, or a project's page a file that is not in the tree.
void check_web_pages(const std::filesystem::path& tree, const std::string& index, const NoteFinding& note);

// page_missing, page_stale: the page of a project that the catalog shows. What sites report is not compared.
// `farm`: the look that the tree was published with.
[[nodiscard]] base::Status compare_web_page(const std::filesystem::path& tree, const FarmText& farm,
                                            const std::string& index, const CatalogView& found,
                                            const NoteFinding& note);

}  // namespace wheelyard::indexer
