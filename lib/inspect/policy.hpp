// What an index does about findings: other severities than the rule table's, and the folders outside of
// wheels that its site vouches for. Presets are the starting points; docs/reference/registry-config.md has
// them for people.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/inspect/limits.hpp"
#include "lib/inspect/verdict.hpp"

namespace wheelyard::inspect {

// What an honest wheel may unpack to. DEFLATE itself ends at 1,032 times the packed size.
struct SizeLimits {
    std::uint64_t unpacked_bytes = max_unpacked_bytes;  // all members together
    std::uint64_t ratio = bomb_ratio;                   // a member or a wheel above `ratio_from_bytes`
    std::uint64_t ratio_from_bytes = bomb_floor_bytes;
};

struct Policy {
    std::map<std::string, Severity, std::less<>> severities;
    // Folders that ELF files may name in RPATH and RUNPATH: a site's module tree ("/cvmfs/soft.example").
    // $ORIGIN always may.
    std::vector<std::string> search_path_prefixes = {};
    // What the index's machines have: "sm_90", "gfx90a". Empty: any device code will do.
    std::vector<std::string> gpu_architectures = {};
    SizeLimits sizes = {};
};

struct PolicyPreset {
    std::string_view name;
    std::string_view what;
};
[[nodiscard]] const std::vector<PolicyPreset>& policy_presets();
// "linux" is the rule table as it stands; nothing for an unknown name.
[[nodiscard]] std::optional<Policy> make_preset(std::string_view name);

// Sentences for people: "there is no rule `x`; did you mean "y"?", and the same of presets and severities.
[[nodiscard]] std::string unknown_rule_sentence(std::string_view code);
[[nodiscard]] std::string unknown_preset_sentence(std::string_view name);
[[nodiscard]] std::string unknown_severity_sentence(std::string_view code, std::string_view severity);

}  // namespace wheelyard::inspect
