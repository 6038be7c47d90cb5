// Which package of OSV a package URL means. The names are OSV's ("Defined ecosystems" of its schema) and those of the
// package URL types.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "registry/advisories/version_order.hpp"

namespace wheelyard::advisories {

struct Ecosystem {
    std::string_view purl_type;
    std::string_view purl_namespace;  // empty: any, which is a part of the name
    std::string_view name;            // OSV's, without ":8"
    VersionOrder order;
};

struct Package {
    const Ecosystem* ecosystem;
    std::string name;  // as OSV has it: PyPI's normalized, "@types/node", "github.com/pkg/errors"
    std::string version;
};

// The ecosystem of this name as OSV writes it, with or without ":8"; nullptr: none of the table.
[[nodiscard]] const Ecosystem* find_ecosystem(std::string_view osv_name);
// The name as it is compared.
[[nodiscard]] std::string package_name(const Ecosystem& ecosystem, std::string_view name);
// The package of a component; its version is the package URL's, else `version`. nullopt: no package URL, or of no ecosystem
// whose versions are compared.
[[nodiscard]] std::optional<Package> package_of(std::string_view purl, std::string_view version);

}  // namespace wheelyard::advisories
