#include "registry/config/policy_config.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/limits.hpp"
#include "lib/inspect/dist_info/license_expression.hpp"

namespace wheelyard::registry {
namespace {

// Empty, or what is wrong. A prefix permits libraries, so it must name one tree below the root and must not
// leave it with `..`.
std::string prefix_fault(const std::string& prefix) {
    if (!prefix.starts_with('/') || prefix.find_first_not_of('/') == std::string::npos)
        return "`" + prefix + "` is not an absolute path of a folder below the root";
    if (prefix.find("/..") != std::string::npos) return "`" + prefix + "` must not contain `..`";
    return {};
}

// Generous upper bounds: an operator who raises the limits provides the disk space and the time.
constexpr std::int64_t max_unpacked_gib = 4096;
constexpr std::int64_t highest_ratio = 1032;  // the maximum ratio of DEFLATE
constexpr std::int64_t max_ratio_from_mib = 1 << 20;

std::int64_t units(std::uint64_t bytes, std::uint64_t unit) {
    return static_cast<std::int64_t>(bytes / unit);
}

void read_sizes(io::TomlTable& table, inspect::SizeLimits& sizes) {
    sizes.unpacked_bytes =
        base::gib * static_cast<std::uint64_t>(table.integer_or(
                        "unpacked_gib", units(sizes.unpacked_bytes, base::gib), 1, max_unpacked_gib));
    sizes.ratio = static_cast<std::uint64_t>(
        table.integer_or("unpacked_ratio", static_cast<std::int64_t>(sizes.ratio), 1, highest_ratio));
    sizes.ratio_from_bytes =
        base::mib *
        static_cast<std::uint64_t>(table.integer_or(
            "unpacked_ratio_from_mib", units(sizes.ratio_from_bytes, base::mib), 0, max_ratio_from_mib));
}

// The keys that are not rule codes.
constexpr std::string_view other_keys[] = {
    "preset",       "rpath_prefixes", "gpu_architectures",      "licenses",
    "unpacked_gib", "unpacked_ratio", "unpacked_ratio_from_mib"};

void read_severity(io::TomlTable& table, const std::string& code, inspect::Policy& policy) {
    if (inspect::find_rule(code) == nullptr) {
        if (table.string_if(code)) table.report(code, inspect::unknown_rule_sentence(code));
        return;
    }
    const auto word = table.string_if(code);
    if (!word) return;  // wrong type: already reported
    if (const auto severity = inspect::parse_severity(*word))
        policy.severities.insert_or_assign(code, *severity);
    else
        table.report(code, inspect::unknown_severity_sentence(code, *word));
}

}  // namespace

inspect::Policy read_policy(io::TomlTable table, const std::string& default_preset) {
    inspect::Policy policy;
    const std::string preset = table.string_or("preset", default_preset);
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
        if (accelerator::is_gpu_architecture(architecture))
            policy.gpu_architectures.push_back(std::move(architecture));
        else
            table.report("gpu_architectures", "`" + architecture +
                                                  "` is not a GPU architecture; examples are " +
                                                  accelerator::list_kinds("\"{example}\"", " and "));
    }
    for (std::string& license : table.strings_or("licenses", {})) {
        if (inspect::is_one_license(license))
            policy.licenses.push_back(std::move(license));
        else
            table.report("licenses",
                         "`" + license +
                             "` is not one SPDX licence; examples are \"BSD-3-Clause\", "
                             "\"GPL-2.0-or-later WITH GCC-exception-3.1\" and \"LicenseRef-Site\"");
    }
    read_sizes(table, policy.sizes);
    for (const std::string& key : table.keys()) {
        if (std::find(std::begin(other_keys), std::end(other_keys), key) == std::end(other_keys))
            read_severity(table, key, policy);
    }
    return policy;
}

base::Result<inspect::Policy> load_policy(const std::string& preset_or_file) {
    if (auto preset = inspect::make_preset(preset_or_file)) return *std::move(preset);
    std::error_code failed;
    if (!std::filesystem::exists(preset_or_file, failed)) {
        return base::fail("config.missing", "Neither a policy file nor a preset.", preset_or_file,
                          inspect::unknown_preset_sentence(preset_or_file));
    }
    WHEELYARD_ASSIGN(io::TomlDocument document, io::TomlDocument::read(preset_or_file));
    inspect::Policy policy = read_policy(document.root());
    WHEELYARD_TRY(document.finish());
    return policy;
}

}  // namespace wheelyard::registry
