#include "registry/config/policy_config.hpp"

#include <algorithm>
#include <filesystem>

#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/limits.hpp"
#include "lib/inspect/dist_info/license_expression.hpp"
#include "registry/config/config_rows.hpp"

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

io::TomlRows<inspect::Policy> policy_rows(const std::string& preset) {
    using P = inspect::Policy;
    using S = inspect::SizeLimits;
    using io::key;
    io::TomlRows<P> rows{
        // Replaces all but `variants`, which is a key of the index.
        {{.type = "text", .fallback = "`" + preset + "`", .sample = "\"" + preset + "\"", .name = "preset"},
         [preset](io::TomlTable& table, const io::TomlFacts&, P& policy) {
             const std::string name = table.string_or("preset", preset);
             const bool variants = policy.variants;
             if (auto made = inspect::make_preset(name))
                 policy = *std::move(made);
             else
                 table.report("preset", inspect::unknown_preset_sentence(name));
             policy.variants = variants;
             return table.has("preset");
         }},
        key("rpath_prefixes", &P::search_path_prefixes, {.check = prefix_fault})
            .sample(R"(["/cvmfs/soft.example.org"])"),
        key("gpu_architectures", &P::gpu_architectures,
            {.check =
                 io::must(accelerator::is_gpu_architecture,
                          "a GPU architecture such as " + accelerator::list_kinds("\"{example}\"", " and "))})
            .hint("GPU architectures of the cluster; also \"gfx90a\"", R"(["sm_90"])"),
        key("licenses", &P::licenses,
            {.check = io::must(inspect::is_one_license,
                               "one SPDX licence such as \"BSD-3-Clause\", \"GPL-2.0-or-later WITH "
                               "GCC-exception-3.1\" and \"LicenseRef-Site\""),
             .hint =
                 R"(the only ones that License-Expression may need: ["MIT", "BSD-3-Clause"]; empty: any)"}),
    };
    rows.add(io::within(&P::sizes, {
                                       key("unpacked_gib", &S::unpacked_bytes,
                                           {.range = {1, max_unpacked_gib}, .unit = base::gib})
                                           .hint("maximum unpacked size of a wheel"),
                                       key("unpacked_ratio", &S::ratio, {.range = {1, highest_ratio}})
                                           .hint("maximum ratio of unpacked to packed size ..."),
                                       key("unpacked_ratio_from_mib", &S::ratio_from_bytes,
                                           {.range = {0, max_ratio_from_mib}, .unit = base::mib})
                                           .hint("... for wheels that unpack to more than this"),
                                   }));
    return rows;
}

void read_severities(io::TomlTable& table, inspect::Policy& policy) {
    static const io::TomlRows<inspect::Policy> rows = policy_rows("linux");
    for (const std::string& key : table.keys()) {
        if (std::none_of(rows.begin(), rows.end(), [&](const auto& row) { return row.facts.name == key; }))
            read_severity(table, key, policy);
    }
}

base::Result<inspect::Policy> load_policy(const std::string& preset_or_file) {
    if (auto preset = inspect::make_preset(preset_or_file)) return *std::move(preset);
    std::error_code failed;
    if (!std::filesystem::exists(preset_or_file, failed)) {
        return base::fail("config.missing", "Neither a policy file nor a preset.", preset_or_file,
                          inspect::unknown_preset_sentence(preset_or_file));
    }
    WHEELYARD_ASSIGN(io::TomlDocument document, io::TomlDocument::read(preset_or_file));
    io::TomlTable root = document.root();
    inspect::Policy policy;
    policy_rows("linux").read(root, policy);
    read_severities(root, policy);
    WHEELYARD_TRY(document.finish());
    return policy;
}

}  // namespace wheelyard::registry
