// What a login node reports of itself, for `site init`. Nothing is changed and no job is started; every question has a time
// limit.
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
#include "builder/survey/gpu_type.hpp"
#include "builder/survey/module_list.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::builder {

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
    std::string host;  // "login1"
    int cores = 1;     // of the login node
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
