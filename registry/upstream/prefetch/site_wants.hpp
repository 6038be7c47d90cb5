// What sites want according to their last reports (docs/reference/site-status.md), as requirements to prefetch. Pure.
#pragma once

#include <string>
#include <vector>

#include "lib/status/index_status.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::registry {

struct SiteWant {
    std::string package;  // normalised
    std::string version;  // without a local label: "2.4.0"
    std::string python;   // "3.12"
    // The platforms of the nodes that want it, sorted: "manylinux_2_34_aarch64". Empty: no report names a platform.
    std::vector<std::string> platforms = {};
    auto operator<=>(const SiteWant&) const = default;
    [[nodiscard]] std::string requirement() const { return package + "==" + version; }
};

// The builds of all sites, sorted, each once for all platforms: accelerators and local labels do not differ in a requirement. Leaves out
// versions that the site could not resolve.
[[nodiscard]] std::vector<SiteWant> wants_of(const status::IndexStatus& status);

}  // namespace wheelyard::registry
