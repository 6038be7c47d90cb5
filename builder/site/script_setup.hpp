// The commands that set up the site's environment in a job script: modules, Conda, compilers, variables. The
// agent also runs them on the login node, to probe a Python that only a module provides. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "builder/site/recipe.hpp"
#include "builder/site/site.hpp"

namespace wheelyard::builder {

// Replaces {name} in a recipe's text by a value of the build; ${NAME} is left for the job's shell to expand.
using Placeholders = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] std::string fill_placeholders(std::string_view text, const Placeholders& values);

// The placeholders of one build: version, public_version, label, against, against_public, cores, promises
// ("MKL MPI"), torch_device ("cuda"; without GPUs "cpu"), launch_2 (starts two ranks), and of each row of
// lib/accelerator its architectures: cuda_architectures ("9.0"), rocm_architectures ("gfx90a").
struct PlaceholderInput {
    const Site& site;
    std::string version;
    std::string against;      // "torch==2.4.0+cu123", or empty
    std::string accelerator;  // a name of the site's, or empty
    std::vector<std::string> promises = {};
};
[[nodiscard]] Placeholders placeholders_of(const PlaceholderInput& input);

// The command prefix that starts nodes × ranks_per_node MPI processes; "mpiexec -n RANKS" where the site sets
// none.
[[nodiscard]] std::string render_launcher(const Site& site, int nodes, int ranks_per_node);

// Loads modules and activates Conda; empty where the site uses neither. `begin` is the shell function that
// marks the start of a phase ("begin modules"); with an empty one no phases are marked.
[[nodiscard]] std::string render_setup(const Site& site, const PythonChoice* python,
                                       const Accelerator* accelerator, std::string_view begin);

// The same for the shell of a user: lines without a check, which would end it.
[[nodiscard]] std::vector<std::string> lines_of_user_setup(const Site& site, const PythonChoice& python,
                                                           const Accelerator* accelerator);

// The modules to load, in this order; nullptr: without those of a Python, of an accelerator.
[[nodiscard]] std::vector<std::string> modules_of(const Site& site, const PythonChoice* python,
                                                  const Accelerator* accelerator);
// Defines `module` in a shell that lacks it; `init` is not empty.
[[nodiscard]] std::string line_that_defines_module(const std::string& init);
// What comes between that and `module load`.
[[nodiscard]] std::string render_module_settings(const ModuleSettings& modules);

// Quotes `text` as one word of bash in which the job expands "${NAME}" and everything else is literal.
[[nodiscard]] std::string quote_expanding(std::string_view text);
[[nodiscard]] std::string render_environment(const Environment& environment, std::string_view why);

// Variables that are exported together, under a comment.
struct ExportGroup {
    std::string why;
    Environment variables;
};
// The default of SOURCE_DATE_EPOCH in every build: 2020-02-02. Zip archives cannot have times before 1980.
inline constexpr std::string_view source_date_epoch = "1580601600";

// For any build: SOURCE_DATE_EPOCH, compilers, then the variables of the site, the accelerator and the
// recipe.
[[nodiscard]] std::vector<ExportGroup> exports_of_build(const Site& site, const Accelerator* accelerator,
                                                        const Environment& recipe,
                                                        const Placeholders& values);
// For a build in a job: the same, and the proxies and the scratch folder of the job's machine.
[[nodiscard]] std::vector<ExportGroup> exports_of_job(const Site& site, const Accelerator* accelerator,
                                                      const Environment& recipe, const Placeholders& values);
[[nodiscard]] std::string render_exports(const std::vector<ExportGroup>& groups);

// Commands in the advice of an error, with the names that make them complete: a person can paste them.

// "wheelyard-builder retry torch-2.4.0-cp312 --site /etc/wheelyard/site.toml"; `command`: "retry"; `name`:
// may be empty.
[[nodiscard]] std::string pasted_command(const std::string& command, const std::string& name,
                                         const Site& site);

// Completes "wheelyard-builder retry" and "wheelyard-builder logs" in `advice`, which must not name a cell
// yet. The agent does so once, when an attempt fails.
[[nodiscard]] std::string complete_commands(const std::string& advice, const std::string& cell,
                                            const std::string& attempt, const Site& site);

}  // namespace wheelyard::builder
