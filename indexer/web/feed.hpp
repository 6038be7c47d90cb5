// The Atom feed of a project (RFC 4287): its newest wheels by upload time.
#pragma once

#include <string>
#include <string_view>

#include "indexer/pages/project_view.hpp"

namespace wheelyard::indexer {

[[nodiscard]] std::string render_feed(std::string_view index, const ProjectView& view);

}  // namespace wheelyard::indexer
