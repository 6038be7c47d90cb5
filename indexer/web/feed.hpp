// Atom feeds (RFC 4287), newest first: the wheels of a project, and what became available at a site.
#pragma once

#include <string>
#include <string_view>

#include "indexer/pages/project_view.hpp"
#include "indexer/web/site_wheels.hpp"

namespace wheelyard::indexer {

[[nodiscard]] std::string render_feed(std::string_view index, const ProjectView& view);
[[nodiscard]] std::string render_site_feed(std::string_view index, std::string_view site,
                                           const SiteWheels& wheels);

}  // namespace wheelyard::indexer
