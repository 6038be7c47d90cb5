// A record of OSV (https://ossf.github.io/osv-schema, 1.7): which versions of which packages a known vulnerability is in.
//
//     {"id":"GHSA-53q9-r3pm-6pq6","aliases":["CVE-2025-32434"],"affected":[{"package":{"ecosystem":"PyPI","name":"torch"},
//      "ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"},{"fixed":"2.6.0"}]}]}]}
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "registry/advisories/ecosystems.hpp"

namespace wheelyard::advisories {

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

// Errors: "advisory.unreadable", and those of the JSON. Ranges of commits (GIT) are left out: a wheel has none.
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
