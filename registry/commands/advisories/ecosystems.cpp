// Which package of OSV a package URL means. The names are OSV's ("Defined ecosystems" of its schema) and
// those of the package URL types.
#include "registry/commands/advisories/advisory.hpp"

#include <algorithm>
#include <array>

#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/name.hpp"

namespace wheelyard::advisories {
namespace {

// Debian and Ubuntu have no row: OSV names their source packages, SBOMs the binary ones ("libjansson4").
constexpr std::array<Ecosystem, 6> ecosystems{{
    {"pypi", "", "PyPI", VersionOrder::pep440},
    {"cargo", "", "crates.io", VersionOrder::semver},
    {"npm", "", "npm", VersionOrder::semver},
    {"golang", "", "Go", VersionOrder::semver},
    {"rpm", "almalinux", "AlmaLinux", VersionOrder::rpm},
    {"rpm", "rocky", "Rocky Linux", VersionOrder::rpm},
}};

}  // namespace

const Ecosystem* find_ecosystem(std::string_view osv_name) {
    const std::string_view name = osv_name.substr(0, osv_name.find(':'));
    const auto* const found = std::find_if(ecosystems.begin(), ecosystems.end(),
                                           [&](const Ecosystem& one) { return one.name == name; });
    return found == ecosystems.end() ? nullptr : found;
}

std::string package_name(const Ecosystem& ecosystem, std::string_view name) {
    return ecosystem.order == VersionOrder::pep440 ? wheel::normalize_name(name) : std::string(name);
}

// pkg:TYPE/NAMESPACE/NAME@VERSION?QUALIFIERS#SUBPATH (ECMA-427)
std::optional<Package> package_of(std::string_view purl, std::string_view version) {
    constexpr std::string_view scheme = "pkg:";
    if (!purl.starts_with(scheme)) return std::nullopt;
    purl.remove_prefix(scheme.size());
    purl = purl.substr(0, purl.find('#'));
    purl = purl.substr(0, purl.find('?'));
    const std::size_t slash = purl.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const std::string type = base::ascii_lower(purl.substr(0, slash));
    std::string_view path = purl.substr(slash + 1);
    std::string_view written;
    // A scope of npm may be written as it is: "pkg:npm/@types/node".
    if (const std::size_t at = path.rfind('@');
        at != std::string_view::npos && at > 0 && path[at - 1] != '/') {
        written = path.substr(at + 1);
        path = path.substr(0, at);
    }
    const auto name = base::decode_percent(path), decoded = base::decode_percent(written);
    if (!name || !decoded) return std::nullopt;
    for (const Ecosystem& one : ecosystems) {
        if (type != one.purl_type) continue;
        std::string_view rest = *name;
        if (!one.purl_namespace.empty()) {
            if (!rest.starts_with(one.purl_namespace) || rest.substr(one.purl_namespace.size(), 1) != "/")
                continue;
            rest.remove_prefix(one.purl_namespace.size() + 1);
        }
        if (rest.empty()) return std::nullopt;
        return Package{&one, package_name(one, rest), decoded->empty() ? std::string(version) : *decoded};
    }
    return std::nullopt;
}

}  // namespace wheelyard::advisories
