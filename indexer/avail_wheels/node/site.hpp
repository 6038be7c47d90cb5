// What a site says to its users' avail_wheels: where its index is, which kinds of nodes it has, which
// versions are known to fail. docs/reference/avail_wheels-site.md has the keys.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "indexer/avail_wheels/node/node.hpp"
#include "lib/base/result.hpp"
#include "lib/wheel/specifier.hpp"

namespace wheelyard::avail_wheels {

struct KnownBad {
    std::string project;            // normalised
    wheel::SpecifierSet versions;   // of the public version
    std::vector<std::string> gpus;  // only there; empty: everywhere
    std::string reason;
    std::string advice;
};

// A kind of node: what is set here is believed, the rest is found out (by --here) or unknown (by --on).
struct NodeType {
    std::vector<std::string> hosts;  // globs of host names: --here on them is --on this type
    Node node;
    bool has_pythons = false;
    std::string index_url;  // instead of the site's
};

struct Site {
    std::string index_url;
    std::filesystem::path wheelhouse;
    bool here = false;                        // --here is the default
    std::string python_module;                // "python/{version}"
    std::vector<std::string> needed_modules;  // names of modules without which wheels built against them fail
    std::string status;                       // where --status reads: a URL or a file
    std::filesystem::path requests;           // the folder into which --request puts its file
    std::map<std::string, NodeType> nodes;
    std::vector<KnownBad> known_bad;
};

// Errors "config.*".
[[nodiscard]] base::Result<Site> read_site(const std::filesystem::path& file);

// "sm_90", "gfx90a:xnack-", "9.0" → as node.gpus has it; nullopt: none of these.
[[nodiscard]] std::optional<std::string> parse_gpu(std::string_view text);
// One `KEY=VALUE` of --assume laid over a node: machine, glibc, cpu, gpu (a list, or "none"), driver,
// modules. Error "usage.assume".
[[nodiscard]] base::Status assume(Node& node, std::string_view assignment);

}  // namespace wheelyard::avail_wheels
