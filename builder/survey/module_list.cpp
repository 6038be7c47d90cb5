// The list of environment modules, and which of them provide a compiler, MPI, the toolkit of an accelerator
// or Python. Pure.
//
// Sources: module(1) of Environment Modules 5 ("--terse"), Lmod's user guide ("module -t avail"), and the
// output of a real Lmod 8.6 (tests/builder/survey/module_list_test.cpp).
#include "builder/survey/survey.hpp"

#include <algorithm>
#include <tuple>

#include "lib/base/text/text.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {
namespace {

struct RoleRow {
    ModuleRole role;
    // Matches the last part of the name, or the whole one if the pattern has a slash; in lower case.
    std::string_view pattern;
};

// The first pattern of a role is preferred. PyTorch builds with GNU compilers; others are not listed.
constexpr RoleRow rows[] = {
    {ModuleRole::compiler, "prgenv-gnu"},
    {ModuleRole::compiler, "gcc"},
    {ModuleRole::compiler, "gnu[0-9]*"},
    {ModuleRole::compiler, "gnu"},
    {ModuleRole::compiler, "gcc-toolset*"},
    {ModuleRole::mpi, "cray-mpich"},
    {ModuleRole::mpi, "openmpi"},
    {ModuleRole::mpi, "openmpi[0-9]*"},
    {ModuleRole::mpi, "mpich"},
    {ModuleRole::mpi, "mvapich*"},
    {ModuleRole::mpi, "impi"},
    {ModuleRole::mpi, "intel-mpi"},
    {ModuleRole::python, "python"},
    {ModuleRole::python, "python3"},
    {ModuleRole::python, "cray-python"},
};

std::vector<std::string_view> patterns_of(ModuleRole role) {
    if (role.toolkit_of != nullptr) return {role.toolkit_of->modules.begin(), role.toolkit_of->modules.end()};
    std::vector<std::string_view> patterns;
    for (const RoleRow& row : rows) {
        if (row.role == role) patterns.push_back(row.pattern);
    }
    return patterns;
}

std::string last_part(const AvailableModule& module) {
    return base::ascii_lower(base::base_name(module.name));
}

std::string name_for(std::string_view pattern, const AvailableModule& module) {
    return pattern.find('/') == std::string_view::npos ? last_part(module) : base::ascii_lower(module.name);
}

bool is_module_name(std::string_view text) {
    return !text.empty() && base::is_ascii_alnum(text.front()) &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return base::is_ascii_alnum(c) || std::string_view("._+-/").find(c) != std::string_view::npos;
           });
}

}  // namespace

std::vector<AvailableModule> parse_modules(std::string_view text) {
    std::vector<AvailableModule> modules;
    for (const auto line : base::split_lines(text)) {
        // "gcc/12.2(default)", "gcc/12.2 <aL>": marks follow the name.
        const auto words = base::trim(line);
        const auto end = words.find_first_of("( <@");
        const auto name = words.substr(0, end);
        if (!is_module_name(name) || name.ends_with('/') || words.ends_with(':')) continue;
        const auto marks = end == std::string_view::npos ? std::string_view() : words.substr(end);
        if (!marks.empty() && marks.front() == ' ' && marks.find('<') == std::string_view::npos)
            continue;  // a sentence
        AvailableModule module;
        const auto slash = name.rfind('/');
        module.name = std::string(name.substr(0, slash));
        if (slash != std::string_view::npos) module.version = std::string(name.substr(slash + 1));
        module.is_default = marks.find("default") != std::string_view::npos;
        const auto same = std::find_if(modules.begin(), modules.end(), [&](const AvailableModule& one) {
            return one.name == module.name && one.version == module.version;
        });
        if (same == modules.end()) {
            modules.push_back(std::move(module));
        } else {
            same->is_default = same->is_default || module.is_default;
        }
    }
    return modules;
}

std::vector<AvailableModule> modules_of(ModuleRole role, const std::vector<AvailableModule>& modules) {
    std::vector<AvailableModule> found;
    for (const std::string_view pattern : patterns_of(role)) {
        std::vector<AvailableModule> matching;
        std::copy_if(
            modules.begin(), modules.end(), std::back_inserter(matching),
            [&](const AvailableModule& one) { return base::matches_glob(pattern, name_for(pattern, one)); });
        std::stable_sort(matching.begin(), matching.end(), [](const auto& a, const auto& b) {
            if (a.is_default != b.is_default) return a.is_default;
            const auto left = wheel::Version::parse(a.version);
            const auto right = wheel::Version::parse(b.version);
            if (left.has_value() != right.has_value()) return left.has_value();
            return left && *right < *left;
        });
        found.insert(found.end(), matching.begin(), matching.end());
    }
    return found;
}

bool is_programming_environment(const AvailableModule& module) {
    return last_part(module).starts_with("prgenv-");
}

}  // namespace wheelyard::builder
