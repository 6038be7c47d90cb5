// The command line of avail_wheels: the Alliance's options, and ours beside them.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "indexer/avail_wheels/node/node_probe.hpp"
#include "indexer/avail_wheels/node/site.hpp"
#include "indexer/avail_wheels/query/query.hpp"
#include "indexer/avail_wheels/table/columns.hpp"

namespace wheelyard::avail_wheels {

enum class Color { automatic, always, never };

struct Options {
    Query query;
    RowOptions rows;
    std::string format = "simple";  // one of table_formats()
    bool raw = false;               // file names only
    std::string index_url;          // one of these two is set
    std::filesystem::path wheelhouse;
    std::string warning;  // for standard error; empty: none

    Site site;
    bool here = false;                     // list what runs on this node, or on `on`
    bool why = false;                      // list all, and say of each whether it runs and why not
    std::string on;                        // a node type of the site; empty: this node
    bool has_pythons = false;              // -p: the node's Pythons are not asked for
    bool all_pythons = false;              // … nor wanted
    std::vector<std::string> assumptions;  // KEY=VALUE, laid over the node
    bool install_line = false;
    bool refresh = false;  // ask the index now
    bool status = false;
    std::vector<std::string> requests;
    std::optional<std::string> complete_name;
    Color color = Color::automatic;
    bool pager = true;
};

// Nothing is left to do but to print this and to leave: help, version (status 0), or a complaint (status 2).
struct Leave {
    int status = 0;
    std::string text;
};

// `arguments` without the program's name. Reads requirements files and the site's file; touches nothing else.
[[nodiscard]] std::variant<Options, Leave> parse_command_line(const std::vector<std::string>& arguments,
                                                              const EnvironmentMap& environment);

}  // namespace wheelyard::avail_wheels
