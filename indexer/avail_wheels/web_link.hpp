// --web: the address of the index's pages that sets "My machine" to this node.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "indexer/avail_wheels/cli.hpp"
#include "lib/simple/client.hpp"
#include "lib/status/index_status.hpp"

namespace wheelyard::avail_wheels {

struct WebLink {
    std::string url;
    std::string node;    // as the pages name it: "bede, gh (gh200)"; empty: none or several suit
    std::string python;  // "3.12"; empty: unknown
    std::vector<std::string> node_types = {};  // those that suit, where they are several
};

// Pure. `node`: this one, or that of --on. A node type of a site suits by its name in the site file, otherwise by machine and
// GPUs. Errors "web.no_index".
[[nodiscard]] base::Result<WebLink> make_web_link(const Options& options, const Node& node,
                                                  const std::vector<status::SiteReport>& sites);

// Prints it; without a status of the index it says nothing of the node type. Returns the exit code.
int answer_web(const Options& options, const Node& node, const simple::GetPage& get, std::ostream& out,
               std::ostream& err);

}  // namespace wheelyard::avail_wheels
