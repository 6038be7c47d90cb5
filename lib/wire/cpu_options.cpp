// Names of GCC's and Clang's -march for x86, by the level of the x86-64 psABI that their processors have.
#include "lib/wire/cpu_options.hpp"

#include <algorithm>
#include <array>

namespace wheelyard::wire {
namespace {

constexpr std::array<std::string_view, 12> variables{
    "CFLAGS", "CXXFLAGS",  "CPPFLAGS",           "FFLAGS",           "FCFLAGS", "CMAKE_ARGS", "CC", "CXX",
    "FC",     "RUSTFLAGS", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"};

struct Row {
    std::string_view name;
    int level;
};
// GCC's manual, "x86 Options"; of each family the first processor with the level. Others are not known here.
constexpr Row processors[] = {
    {"x86-64", 1},        {"k8", 1},         {"nocona", 1},         {"core2", 1},
    {"x86-64-v2", 2},     {"nehalem", 2},    {"corei7", 2},         {"westmere", 2},
    {"sandybridge", 2},   {"corei7-avx", 2}, {"ivybridge", 2},      {"core-avx-i", 2},
    {"silvermont", 2},    {"bdver1", 2},     {"bdver2", 2},         {"btver2", 2},
    {"x86-64-v3", 3},     {"haswell", 3},    {"core-avx2", 3},      {"broadwell", 3},
    {"skylake", 3},       {"alderlake", 3},  {"bdver4", 3},         {"znver1", 3},
    {"znver2", 3},        {"znver3", 3},     {"x86-64-v4", 4},      {"skylake-avx512", 4},
    {"cascadelake", 4},   {"cooperlake", 4}, {"icelake-client", 4}, {"icelake-server", 4},
    {"tigerlake", 4},     {"rocketlake", 4}, {"sapphirerapids", 4}, {"emeraldrapids", 4},
    {"graniterapids", 4}, {"znver4", 4},     {"znver5", 4}};
// Options for single instructions raise the level, too.
constexpr Row features[] = {{"-msse3", 2}, {"-mssse3", 2}, {"-msse4", 2}, {"-mavx512", 4},
                            {"-mavx", 3},  {"-mfma", 3},   {"-mbmi", 3},  {"-mf16c", 3}};

// Options that choose no instructions.
constexpr std::array<std::string_view, 8> harmless{
    "-m64", "-mtune=", "-mno-", "-mcmodel=", "-mfpmath", "-mabi=", "-mstack", "-mtls"};

struct Found {
    int level = 1;
    std::string other;        // an option whose processor is unknown here
    std::string instruction;  // an option for single instructions
};

// Which options name a level: each that is known, or those of the levels' own names alone. A processor of a
// level, or an option for single instructions, may have more than the level.
enum class CpuNames { all, of_levels };

void add_option(std::string_view option, CpuNames names, Found& found) {
    constexpr std::string_view march = "-march=", mcpu = "-mcpu=";
    if (option.starts_with(march)) {
        const auto name = option.substr(march.size());
        const auto* const row =
            std::find_if(std::begin(processors), std::end(processors), [&](const Row& one) {
                return one.name == name && (names == CpuNames::all || name.starts_with("x86-64"));
            });
        found.other = row == std::end(processors) ? std::string(option) : std::string();
        if (row != std::end(processors)) found.level = std::max(found.level, row->level);
    } else if (option.starts_with(mcpu)) {
        found.other = option;
    } else {
        const auto* const row = std::find_if(std::begin(features), std::end(features),
                                             [&](const Row& one) { return option.starts_with(one.name); });
        const bool is_harmless = std::any_of(harmless.begin(), harmless.end(),
                                             [&](std::string_view one) { return option.starts_with(one); });
        if (!is_harmless) found.instruction = option;
        if (row != std::end(features)) found.level = std::max(found.level, row->level);
    }
}

// rustc's `-C target-cpu=NAME` has the names of -march; a target-feature may be any.
void add_rust_options(std::string_view value, CpuNames names, Found& found) {
    constexpr std::string_view cpu = "target-cpu=";
    if (const auto at = value.find(cpu); at != std::string_view::npos) {
        const auto name = value.substr(at + cpu.size());
        add_option("-march=" + std::string(name.substr(0, name.find_first_of(" \t\n\"';,"))), names, found);
    }
    if (value.find("target-feature=") != std::string_view::npos) found.other = "target-feature=";
}

std::string cpu_by(CpuNames names, const std::vector<std::pair<std::string, std::string>>& environment) {
    Found highest;
    for (const auto& [name, value] : environment) {
        if (std::find(variables.begin(), variables.end(), name) == variables.end()) continue;
        Found found;
        constexpr std::string_view separators = " \t\n\"'=;";
        for (std::size_t at = 0; at < value.size();) {
            const auto begin = value.find("-m", at);
            if (begin == std::string::npos) break;
            const bool is_word = begin == 0 || separators.find(value[begin - 1]) != std::string_view::npos;
            const auto end = std::min(value.find_first_of(" \t\n\"';", begin), value.size());
            if (is_word) add_option(std::string_view(value).substr(begin, end - begin), names, found);
            at = std::max(end, begin + 1);
        }
        add_rust_options(value, names, found);
        // The armv8-a that every 64-bit ARM processor has.
        if (found.other == "-march=armv8-a") found.other.clear();
        highest.level = std::max(highest.level, found.level);
        if (names == CpuNames::of_levels && found.other.empty()) found.other = found.instruction;
        if (!found.other.empty()) highest.other = found.other;
    }
    if (!highest.other.empty()) return highest.other;
    return highest.level == 1 ? std::string(baseline_cpu) : "x86-64-v" + std::to_string(highest.level);
}

}  // namespace

std::string cpu_of_options(const std::vector<std::pair<std::string, std::string>>& environment) {
    return cpu_by(CpuNames::all, environment);
}

std::string level_of_options(const std::vector<std::pair<std::string, std::string>>& environment) {
    return cpu_by(CpuNames::of_levels, environment);
}

}  // namespace wheelyard::wire
