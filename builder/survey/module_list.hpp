// The list of environment modules, and which of them provide a compiler, MPI, the toolkit of an accelerator or Python. Pure.
//
// Sources: module(1) of Environment Modules 5 ("--terse"), Lmod's user guide ("module -t avail"), and the output of a real
// Lmod 8.6 (tests/builder/survey/module_list_test.cpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/accelerator/accelerator_kind.hpp"

namespace wheelyard::builder {

// What a module provides.
struct ModuleRole {
    enum class Part { compiler, mpi, toolkit, python };
    Part part = Part::compiler;
    const accelerator::AcceleratorKind* toolkit_of = nullptr;
    bool operator==(const ModuleRole&) const = default;

    static const ModuleRole compiler, mpi, python;
    [[nodiscard]] static ModuleRole toolkit(const accelerator::AcceleratorKind& kind) {
        return {Part::toolkit, &kind};
    }
};
inline constexpr ModuleRole ModuleRole::compiler{Part::compiler};
inline constexpr ModuleRole ModuleRole::mpi{Part::mpi};
inline constexpr ModuleRole ModuleRole::python{Part::python};

struct AvailableModule {
    std::string name;     // "gcc", "nvidia/cuda"
    std::string version;  // "12.2"; empty: the module has none
    bool is_default = false;

    [[nodiscard]] std::string full_name() const { return version.empty() ? name : name + "/" + version; }
};

// The output of `module -t avail` and `module -t spider`, each module once. Folders and messages are left out.
[[nodiscard]] std::vector<AvailableModule> parse_modules(std::string_view text);

// The modules with this role; the best one first: GNU compilers before others, a default before others, then the highest
// version.
[[nodiscard]] std::vector<AvailableModule> modules_of(ModuleRole role,
                                                      const std::vector<AvailableModule>& modules);

// Whether the module is a Cray programming environment, whose compilers are cc, CC and ftn.
[[nodiscard]] bool is_programming_environment(const AvailableModule& module);

}  // namespace wheelyard::builder
