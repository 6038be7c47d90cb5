// A record of OSV (https://ossf.github.io/osv-schema, 1.7): which versions of which packages a known
// vulnerability is in.
//
//     {"id":"GHSA-53q9-r3pm-6pq6","aliases":["CVE-2025-32434"],"affected":[{"package":{"ecosystem":"PyPI","name":"torch"},
//      "ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"},{"fixed":"2.6.0"}]}]}]}
#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::advisories {

// The orders of versions that advisories use: Python's (PEP 440), Semantic Versioning 2.0, and RPM's.
enum class VersionOrder { none, pep440, semver, rpm };

// nullopt: one of them is no version of that order, or the order is `none`. Local parts of PEP 440 do not
// count: an advisory means 2.4.0+cu124 where it says 2.4.0. "v1.2" is 1.2.0 (Go). RPM's:
// `[EPOCH:]VERSION[-RELEASE]`, rpm-version(7).
[[nodiscard]] std::optional<std::strong_ordering> compare_versions(VersionOrder order, std::string_view a,
                                                                   std::string_view b);

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
// The package of a component; its version is the package URL's, else `version`. nullopt: no package URL, or
// of no ecosystem whose versions are compared.
[[nodiscard]] std::optional<Package> package_of(std::string_view purl, std::string_view version);

inline constexpr std::size_t max_advisory_bytes = 16UL << 20;

struct Event {
    enum class Kind { introduced, fixed, last_affected, limit };
    Kind kind;
    std::string version;  // "0" of `introduced` is before every version, "*" of `limit` after
};
using Range = std::vector<Event>;

struct Affected {
    const Ecosystem* ecosystem;
    std::string release;  // of the distribution: "8" of "AlmaLinux:8"; empty: every one
    std::string name;     // as package_name() gives it
    std::vector<Range> ranges;
    std::vector<std::string> versions;
};

struct Advisory {
    std::string id;
    std::vector<std::string> aliases;
    std::vector<Affected> affected;  // of the ecosystems that are known; none if it was withdrawn
};

// Errors: "advisory.unreadable", and those of the JSON. Ranges of commits (GIT) are left out: a wheel has
// none.
[[nodiscard]] base::Result<Advisory> parse_advisory(std::string_view text);

enum class Impact {
    affected,
    unaffected,
    not_judged
};  // not judged: a version that is not of the ecosystem's order

struct Judgement {
    Impact impact = Impact::unaffected;
    std::string fixed;  // the lowest version above that has the fix; empty: none is known
};
// Of a package with the same ecosystem and name; by the evaluation of the schema.
[[nodiscard]] Judgement judge(const Affected& affected, std::string_view version);

}  // namespace wheelyard::advisories
