// The part of a build script that makes the site's environment: modules, Conda, compilers, variables. Also
// what the agent runs on the login node to look at a Python that only a module brings. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "builder/site/recipe.hpp"
#include "builder/site/site.hpp"

namespace wheelyard::builder {

// {name} in a recipe's texts stands for a value of the build; ${NAME} is left to the job's shell.
using Placeholders = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] std::string fill_placeholders(std::string_view text, const Placeholders& values);

// Of one build: version, public_version, label, against, against_public, cores, cuda_architectures ("9.0"),
// rocm_architectures ("gfx90a").
struct PlaceholderInput {
    const Site& site;
    std::string version;
    std::string against;      // "torch==2.4.0+cu123", or empty
    std::string accelerator;  // of the site's, or empty
};
[[nodiscard]] Placeholders placeholders_of(const PlaceholderInput& input);

// The site's way to start `ranks` MPI processes.
[[nodiscard]] std::string render_launcher(const Site& site, int nodes, int ranks_per_node);

// Loads modules and activates Conda; nothing where the site has neither. `begin` marks phases where it is
// defined: "begin modules"; an empty one leaves the marks out.
[[nodiscard]] std::string render_setup(const Site& site, const PythonChoice* python,
                                       const Accelerator* accelerator, std::string_view begin);

// One word of bash: "${NAME}" is expanded by the job, everything else stands for itself.
[[nodiscard]] std::string quote_expanding(std::string_view text);
[[nodiscard]] std::string render_environment(const Environment& environment, std::string_view why);

// What a script exports, in its order, and why.
struct ExportGroup {
    std::string why;
    Environment variables;
};
// Of a build, wherever it runs: compilers, then the variables of site, accelerator and recipe.
[[nodiscard]] std::vector<ExportGroup> exports_of_build(const Site& site, const Accelerator* accelerator,
                                                        const Environment& recipe,
                                                        const Placeholders& values);
// The same in a job: with the proxies and the scratch of its machine.
[[nodiscard]] std::vector<ExportGroup> exports_of_job(const Site& site, const Accelerator* accelerator,
                                                      const Environment& recipe, const Placeholders& values);
[[nodiscard]] std::string render_exports(const std::vector<ExportGroup>& groups);

}  // namespace wheelyard::builder
