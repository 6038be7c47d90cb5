// What an index does about findings: other severities than the rule table's, and the folders outside of
// wheels that its site vouches for. Presets are the starting points; docs/formats/registry-config.md has them
// for people.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/inspect/verdict.hpp"

namespace wheelyard::inspect {

struct Policy {
    std::map<std::string, Severity, std::less<>> severities;
    // Folders that ELF files may name in RPATH and RUNPATH: a site's module tree ("/cvmfs/soft.example").
    // $ORIGIN always may.
    std::vector<std::string> search_path_prefixes = {};
    // What the index's machines have: "sm_90", "gfx90a". Empty: any device code will do.
    std::vector<std::string> gpu_architectures = {};
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
