// An index's policy on findings: severities that differ from the rule table, and trusted library folders
// outside wheels. Presets are the starting points; docs/reference/registry-config.md documents them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/limits.hpp"
#include "lib/inspect/verdict/verdict.hpp"

namespace wheelyard::inspect {

// Decompression bombs: a member or wheel that unpacks to more than `bomb_floor_bytes` may not exceed
// `bomb_ratio` times its packed size, unless an index's policy says otherwise. Published wheels
// stay under 5 in total and 25 per member; DEFLATE's maximum is 1,032.
inline constexpr std::uint64_t bomb_floor_bytes = 64 * base::mib;
inline constexpr std::uint64_t bomb_ratio = 100;
inline constexpr std::uint64_t max_unpacked_bytes = 64 * base::gib;

// The maximum unpacked size of a legitimate wheel. DEFLATE's maximum ratio is 1,032.
struct SizeLimits {
    std::uint64_t unpacked_bytes = max_unpacked_bytes;  // of all members together
    std::uint64_t ratio = bomb_ratio;                   // of a member or a wheel above `ratio_from_bytes`
    std::uint64_t ratio_from_bytes = bomb_floor_bytes;
    bool operator==(const SizeLimits&) const = default;
};

struct Policy {
    std::map<std::string, Severity, std::less<>> severities;
    // Folders allowed in RPATH and RUNPATH besides $ORIGIN: a site's module tree ("/cvmfs/soft.example").
    std::vector<std::string> search_path_prefixes = {};
    // The GPUs of the index's machines: "sm_90", "gfx90a". Empty: accept any device code.
    std::vector<std::string> gpu_architectures = {};
    // Each one SPDX licence, perhaps WITH an exception. Empty: any, also unknown ones.
    std::vector<std::string> licenses = {};
    SizeLimits sizes = {};
    bool variants = false;  // the index takes variant wheels (PEP 825)
    bool operator==(const Policy&) const = default;
};

// The severity of the rule `code` under the policy: the policy's, or the rule table's.
[[nodiscard]] Severity severity_under(const Policy& policy, std::string_view code);

struct PolicyPreset {
    std::string_view name;
    std::string_view what;
};
[[nodiscard]] const std::vector<PolicyPreset>& policy_presets();
// "linux" is the unmodified rule table; nullopt for an unknown name.
[[nodiscard]] std::optional<Policy> make_preset(std::string_view name);

// Sentences for people: "unknown rule `x`; did you mean "y"?", and similar for presets and severities.
[[nodiscard]] std::string unknown_rule_sentence(std::string_view code);
[[nodiscard]] std::string unknown_preset_sentence(std::string_view name);
[[nodiscard]] std::string unknown_severity_sentence(std::string_view code, std::string_view severity);

}  // namespace wheelyard::inspect
