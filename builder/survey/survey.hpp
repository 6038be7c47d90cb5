// What a login node reports of itself, for `site init`. Nothing is changed and no job is started; every
// question has a time limit.
//
//     survey_machine(environment) ──► Survey ──► draft_site (site_draft.hpp) ──► site.toml
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/attempt/environment.hpp"
#include "builder/schedule/batch_survey.hpp"
#include "builder/schedule/scheduler_kind.hpp"
#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/io/json.hpp"

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

// The output of `module -t avail` and `module -t spider`, each module once. Folders and messages are left
// out.
[[nodiscard]] std::vector<AvailableModule> parse_modules(std::string_view text);

// The modules with this role; the best one first: GNU compilers before others, a default before others, then
// the highest version.
[[nodiscard]] std::vector<AvailableModule> modules_of(ModuleRole role,
                                                      const std::vector<AvailableModule>& modules);

// Says whether the module is a Cray programming environment, whose compilers are cc, CC and ftn.
[[nodiscard]] bool is_programming_environment(const AvailableModule& module);

// GPU models by the names that batch systems and drivers use. Pure.
struct GpuType {
    std::string_view name;  // "a100"
    const accelerator::AcceleratorKind* kind = nullptr;
    std::string_view architecture;  // "sm_80", "gfx90a"
};

// "a100", "NVIDIA A100-SXM4-80GB", "tesla_v100-pcie", "MI250X". nullopt: not in the table.
[[nodiscard]] std::optional<GpuType> find_gpu_type(std::string_view text);

struct LoadedModule {
    ModuleRole role;
    AvailableModule module;
    bool loads = false;  // after those before it
};

struct ModuleSurvey {
    std::string init;              // a file that defines `module`; empty: there are no modules
    std::vector<std::string> use;  // folders that the user's shell has and `init` does not
    std::vector<AvailableModule> available;
    std::vector<LoadedModule> tried;  // the best one of each role, in this order
};

struct InterpreterSurvey {
    std::string version;       // "3.11"
    std::string full_version;  // "3.11.2"
    std::string executable;    // absolute
    bool has_venv = false;     // its modules venv and ensurepip
    bool has_headers = false;  // Python.h
    bool has_rpath = false;    // it links extensions with a search path, which a registry refuses
    std::string module;        // that provides it; empty: none is needed
};

struct FolderSurvey {
    std::string origin;  // "$SCRATCH", "home"
    std::string path;
    std::string file_system;  // "lustre"
    std::uint64_t free_bytes = 0;
};

struct Survey {
    SurveyUser user;
    std::string host;     // "login1"
    std::string machine;  // "x86_64", as `uname -m` says it
    int cores = 1;        // of the login node
    const SchedulerKind* scheduler = scheduler_kinds().front();
    BatchSurvey batch;  // empty where there is no batch system
    ModuleSurvey modules;
    std::vector<std::string> programs;  // compilers and launchers, with the modules loaded
    std::vector<InterpreterSurvey> pythons;
    std::vector<FolderSurvey> folders;  // writable; scratch first, then project folders, then the home
    std::vector<std::string> gpus;      // of the login node, as its driver names them
    std::vector<std::pair<std::string, std::string>> proxies;  // "http_proxy" → its URL, without passwords

    [[nodiscard]] bool has_program(std::string_view name) const;
};

[[nodiscard]] Survey survey_machine(const EnvironmentMap& environment);

// Parsers of what the scripts of survey.cpp print: lines of an @word and its values. Pure.
[[nodiscard]] std::vector<InterpreterSurvey> parse_interpreters(std::string_view text);
[[nodiscard]] std::vector<FolderSurvey> parse_folders(std::string_view text);
void parse_module_tries(std::string_view text, Survey& survey);

[[nodiscard]] io::Json json_of(const Survey& survey);

}  // namespace wheelyard::builder
