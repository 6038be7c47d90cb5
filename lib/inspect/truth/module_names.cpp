#include "lib/inspect/truth/module_names.hpp"

#include <algorithm>
#include <vector>

#include "lib/base/text/text.hpp"

namespace wheelyard::inspect {
namespace {

// Folders of the system, of users and of builds: modules do not install libraries there.
constexpr std::string_view not_module_roots[] = {"usr", "lib", "lib64", "home",    "root",
                                                 "tmp", "var", "build", "builddir"};
// Names before a version number that are not software: "software/2023", "Compiler/gcc12/…".
constexpr std::string_view not_software[] = {"software",  "modules", "sw",       "apps", "opt",
                                             "arch",      "Core",    "Compiler", "MPI",  "CUDA",
                                             "easybuild", "spack",   "release",  "pe"};
// Trees whose module name is not the folder before the version; the first version below the root applies.
struct Tree {
    std::string_view root;
    std::string_view prefix;  // of the module's name
    std::string_view name;    // replaces the folder's name unless empty
};
constexpr Tree trees[] = {
    {"/opt/cray/pe/", "cray-", ""},
    {"/opt/cray/", "", ""},
    {"/opt/nvidia/hpc_sdk/", "", "nvhpc"},
};

bool is_word_character(char c) {
    return base::is_ascii_alnum(c) || c == '.' || c == '_' || c == '+' || c == '-';
}

// "12.2.2", "4.1.5-GCC-12.3.0", "2023a", "v2.1".
bool is_version(std::string_view part) {
    if (part.size() > 1 && part.front() == 'v') part.remove_prefix(1);
    return !part.empty() && base::is_ascii_digit(part.front()) &&
           std::all_of(part.begin(), part.end(), is_word_character);
}

bool is_name(std::string_view part) {
    return !part.empty() && base::is_ascii_alpha(part.front()) &&
           std::all_of(part.begin(), part.end(), is_word_character);
}

bool is_software(std::string_view part) {
    return is_name(part) &&
           std::find(std::begin(not_software), std::end(not_software), part) == std::end(not_software);
}

// "openmpi-4.1.5-<hash>" → "openmpi/4.1.5"; "rocm-5.7.1" → "rocm/5.7.1"; empty for "x86-64-v3". Compilers'
// folders that contain other software ("gcc-12.2.0/hdf5-…") are handled by searching from the end.
std::string split_name_and_version(std::string_view part) {
    for (const std::string_view architecture : {"x86", "x86_64", "aarch64", "linux"}) {
        if (part.starts_with(architecture)) return {};
    }
    for (std::size_t dash = part.find('-'); dash != std::string_view::npos; dash = part.find('-', dash + 1)) {
        const std::string_view name = part.substr(0, dash);
        const std::string_view version = part.substr(dash + 1, part.find('-', dash + 1) - dash - 1);
        const bool dotted = version.find('.') != std::string_view::npos;
        if (is_name(name) && is_version(version) && dotted)
            return std::string(name) + "/" + std::string(version);
    }
    return {};
}

std::string module_in_tree(const Tree& tree, const std::vector<std::string_view>& below) {
    for (std::size_t i = 1; i < below.size(); ++i) {
        if (!is_version(below[i]) || !is_name(below[i - 1])) continue;
        const std::string_view name = tree.name.empty() ? below[i - 1] : tree.name;
        return std::string(tree.prefix) + std::string(name) + "/" + std::string(below[i]);
    }
    return {};
}

}  // namespace

std::string module_of_path(std::string_view path) {
    if (!path.starts_with('/') || path.find("..") != std::string_view::npos) return {};
    for (const Tree& tree : trees) {
        if (path.starts_with(tree.root))
            return module_in_tree(tree, base::split(path.substr(tree.root.size()), '/'));
    }
    const std::vector<std::string_view> parts = base::split(path.substr(1), '/');
    if (std::find(std::begin(not_module_roots), std::end(not_module_roots), parts.front()) !=
        std::end(not_module_roots)) {
        return {};
    }
    // From the end: trees nest software below its compiler and MPI.
    for (std::size_t i = parts.size(); i-- > 0;) {
        if (i > 0 && is_version(parts[i]) && is_software(parts[i - 1]))
            return std::string(parts[i - 1]) + "/" + std::string(parts[i]);
        if (std::string module = split_name_and_version(parts[i]); !module.empty()) return module;
    }
    return {};
}

}  // namespace wheelyard::inspect
