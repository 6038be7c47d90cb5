// A site's settings for avail_wheels: its index, its node types and versions that are known to fail. The keys
// are in docs/reference/avail_wheels-site.md.
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
    wheel::SpecifierSet versions;   // matches public versions
    std::vector<std::string> gpus;  // fails only on these; empty: on all nodes
    std::string reason;
    std::string advice;
};

// A node type. Properties set here take precedence; others are probed (--here) or unknown (--on).
struct NodeType {
    std::vector<std::string> hosts;  // host name globs: on a match, --here means this type
    Node node;
    bool has_pythons = false;
    std::string index_url;  // overrides the site's
};

struct Site {
    std::string index_url;
    std::filesystem::path wheelhouse;
    bool here = false;                        // --here is the default
    std::string python_module;                // "python/{version}"
    std::vector<std::string> needed_modules;  // modules that must be loaded for wheels built against them
    std::string status;                       // source of --status: a URL or a file
    std::filesystem::path requests;           // folder for the files of --request
    std::string requests_registry;            // or the registry that takes them: "https://wheels.example.org"
    std::map<std::string, NodeType> nodes;
    std::vector<KnownBad> known_bad;
};

// Errors "config.*".
[[nodiscard]] base::Result<Site> read_site(const std::filesystem::path& file);

// Normalises "sm_90", "gfx90a:xnack-", "9.0" or a model name to the form of Gpus::archs; nullopt: unknown.
[[nodiscard]] std::optional<std::string> parse_gpu(std::string_view text);
// Applies one KEY=VALUE of --assume to a node. Keys: machine, glibc, cpu, gpu (a list, or "none"), driver,
// modules. Error "usage.assume".
[[nodiscard]] base::Status assume(Node& node, std::string_view assignment);

// What the tags of wheels call a machine of another name, as in amd64; empty: nothing else.
[[nodiscard]] std::string_view machine_called(std::string_view name);

}  // namespace wheelyard::avail_wheels
