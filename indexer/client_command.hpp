// `wheelyard-indexer client-config`: prints client configuration, or writes it for a site's module tree.
//
//     DIR/<node type>/pip.conf, uv.toml, poetry.toml, pdm.toml   the last two: lines for a pyproject.toml
//     DIR/modulefiles/<site>.lua, <site>                         for Lmod and Tcl modules
//
//     DIR/<node type>/constraints.txt                            with --fallback: holds pip to our versions
//
// The modulefiles set PIP_CONFIG_FILE and UV_CONFIG_FILE.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace wheelyard::indexer {

struct ClientOptions {
    // "gh200=https://wheels.example.org/bede-gh200/simple/", "gh200=file:///…/simple/". A path is an index if
    // it ends in `simple` or contains `simple/index.html`, otherwise a folder of wheels.
    std::vector<std::string> nodes;
    std::vector<std::string> machines;         // "gh200=aarch64"
    std::vector<std::string> hosts;            // "gh200=gpu*"
    std::vector<std::string> with_token = {};  // "gh200": only tokens may read its index
    std::string fallback = {};                 // the Simple index of all that the nodes' indexes lack
    std::string site = "wheels";               // the modulefile's name
    std::string kind;                          // print only this: pip, uv, poetry, pdm, lmod, tcl
    std::filesystem::path to;                  // empty: print
    bool json = false;
};

// Exit statuses: 0 success, 1 failure, 2 wrong usage.
[[nodiscard]] int run_client_config(const ClientOptions& options, std::ostream& out, std::ostream& err);

}  // namespace wheelyard::indexer
