// Upstreams of an index: other indexes whose projects it also offers, and the rules for what is taken from
// them.
//
//     [[index.upstream]]
//     name = "public"
//     url = "https://index.example.org/simple/"
//     hosts = ["files.example.org"]
//     deny = ["our-*"]
//     cooldown_days = 3
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "lib/base/text/url.hpp"
#include "lib/inspect/verdict/policy.hpp"

namespace wheelyard::registry {

struct UpstreamConfig {
    std::string name;
    std::string cache_index;  // "main.public": the index of the catalog that has what was fetched
    std::string url;          // of its simple pages; ends in '/'
    // "host", with the usual port of its scheme, or "host:port": what links and redirects may name, the URL's
    // own among them.
    std::set<std::string> hosts = {};
    std::set<std::string> private_hosts = {};       // of them, those that may have private addresses
    std::vector<std::string> allow = {};            // globs of normalised project names; empty: all
    std::vector<std::string> deny = {};             // takes precedence over `allow`
    bool sdists = false;                            // as the index says
    std::int64_t cooldown_days = 0;                 // files younger than this are not offered
    std::vector<std::string> cooldown_except = {};  // globs of projects without a cooldown
    std::uint64_t max_cache_bytes = 0;              // of fetched files that are kept; 0: no limit
    bool quarantines_removed = false;               // fetched files that it no longer lists: removed.hpp
    bool inspect_first = false;                     // nothing of a file is sent before it is inspected
    inspect::Policy policy = {};                    // for its wheels
    std::string proxy = {};                         // empty: none
    std::string username = {};                      // Basic authentication to the URL's own host
    std::filesystem::path password_file = {};
    bool operator==(const UpstreamConfig&) const = default;
};

// Says whether the URL's host may have a private address. Pure.
[[nodiscard]] bool may_be_private(const UpstreamConfig& upstream, const base::Url& url);

// Says whether one of the globs matches the normalised name. Pure.
[[nodiscard]] bool matches_any(const std::vector<std::string>& patterns, const std::string& project);

}  // namespace wheelyard::registry
