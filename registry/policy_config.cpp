#include "registry/policy_config.hpp"

#include <filesystem>

#include "lib/inspect/gpu_truth.hpp"

namespace wheelyard::registry {
namespace {

// Empty, or what is wrong: a prefix lets libraries in, so it names one tree below the root, and no other way
// there.
std::string prefix_fault(const std::string& prefix) {
    if (!prefix.starts_with('/') || prefix.find_first_not_of('/') == std::string::npos)
        return "`" + prefix + "` is no absolute path of a folder below the root";
    if (prefix.find("/..") != std::string::npos) return "`" + prefix + "` must not hold `..`";
    return {};
}

void read_severity(io::TomlTable& table, const std::string& code, inspect::Policy& policy) {
    if (inspect::find_rule(code) == nullptr) {
        if (table.string_if(code)) table.report(code, inspect::unknown_rule_sentence(code));
        return;
    }
    const auto word = table.string_if(code);
    if (!word) return;  // of a wrong type: noted
    if (const auto severity = inspect::parse_severity(*word))
        policy.severities.insert_or_assign(code, *severity);
    else
        table.report(code, inspect::unknown_severity_sentence(code, *word));
}

}  // namespace

inspect::Policy read_policy(io::TomlTable table) {
    inspect::Policy policy;
    const std::string preset = table.string_or("preset", "linux");
    if (auto made = inspect::make_preset(preset))
        policy = std::move(*made);
    else
        table.report("preset", inspect::unknown_preset_sentence(preset));
    for (std::string& prefix : table.strings_or("rpath_prefixes", {})) {
        if (const std::string fault = prefix_fault(prefix); !fault.empty())
            table.report("rpath_prefixes", fault);
        else
            policy.search_path_prefixes.push_back(std::move(prefix));
    }
    for (std::string& architecture : table.strings_or("gpu_architectures", {})) {
        if (inspect::is_gpu_architecture(architecture))
            policy.gpu_architectures.push_back(std::move(architecture));
        else
            table.report("gpu_architectures",
                         "`" + architecture + "` is no GPU of a machine: \"sm_90\", \"gfx90a\" are");
    }
    for (const std::string& key : table.keys()) {
        if (key != "preset" && key != "rpath_prefixes" && key != "gpu_architectures")
            read_severity(table, key, policy);
    }
    return policy;
}

base::Result<inspect::Policy> load_policy(const std::string& preset_or_file) {
    if (auto preset = inspect::make_preset(preset_or_file)) return *std::move(preset);
    std::error_code failed;
    if (!std::filesystem::exists(preset_or_file, failed)) {
        return base::fail("config.missing", "This is neither a policy's file nor a preset.", preset_or_file,
                          inspect::unknown_preset_sentence(preset_or_file));
    }
    WHEELYARD_ASSIGN(io::TomlDocument document, io::TomlDocument::read(preset_or_file));
    inspect::Policy policy = read_policy(document.root());
    WHEELYARD_TRY(document.finish());
    return policy;
}

}  // namespace wheelyard::registry
