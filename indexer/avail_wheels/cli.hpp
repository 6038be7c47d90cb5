// The command line of avail_wheels: the Alliance's options, and ours beside them.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "indexer/avail_wheels/columns.hpp"
#include "indexer/avail_wheels/query.hpp"

namespace wheelyard::avail_wheels {

using EnvironmentMap = std::map<std::string, std::string>;

struct Options {
    Query query;
    RowOptions rows;
    std::string format = "simple";  // one of table_formats()
    bool raw = false;               // file names only
    std::string index_url;          // one of these two is set
    std::filesystem::path wheelhouse;
    std::string warning;  // for standard error; empty: none
};

// Nothing is left to do but to print this and to leave: help, version (status 0), or a complaint (status 2).
struct Leave {
    int status = 0;
    std::string text;
};

// `arguments` without the program's name. Reads requirements files; touches nothing else.
[[nodiscard]] std::variant<Options, Leave> parse_command_line(const std::vector<std::string>& arguments,
                                                              const EnvironmentMap& environment);

}  // namespace wheelyard::avail_wheels
