#include "builder/users/user_files.hpp"

#include <array>
#include <utility>

#include "builder/site/script_setup.hpp"
#include "builder/users/user_files_parts.hpp"
#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/simple/client_config.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;
using user_files::Input;

struct Kind {
    std::string_view path;
    std::string_view about;  // for README.md
    std::string (*render)(const Input&);
    bool executable;
};
constexpr std::array<Kind, 14> kinds = {{
    {"install-environment", "creates the environment; the site's staff run it once",
     user_files::render_install, true},
    {"modulefiles/{{module}}.lua", "for Lmod: `module use` this folder, `module load {{module}}`",
     user_files::render_lua, false},
    // In the same folder, so that one `module use` serves both systems: Lmod prefers NAME.lua, and
    // Environment Modules reads only NAME.
    {"modulefiles/{{module}}", "the modulefile for Environment Modules", user_files::render_tcl, false},
    {"extend-venv-activate",
     "`extend-venv-activate VENV` makes these wheels visible in a user's own virtual environment",
     user_files::render_extend_venv, true},
    {"conda/activate.d/{{name}}.sh",
     "copy to etc/conda/activate.d of a Conda environment: sets the variables", user_files::render_activate,
     false},
    {"conda/deactivate.d/{{name}}.sh", "copy to etc/conda/deactivate.d: restores the variables",
     user_files::render_deactivate, false},
    {"job-environment.sh", "sourced by a job: the rendezvous address of its ranks, private cache folders",
     user_files::render_job_variables, false},
    {"run-rank", "started by the launcher: sets RANK, WORLD_SIZE and LOCAL_RANK for torch.distributed",
     user_files::render_run_rank, true},
    {"job.sh", "a job script, ready to submit: job.sh PROGRAM.py ARGUMENTS", user_files::render_job, true},
    {"all_reduce.py", "the default program of job.sh: one sum over all ranks", user_files::render_all_reduce,
     false},
    {"pack-environment", "packs the environment into one file, environment.tar", user_files::render_pack,
     true},
    {"unpack-environment",
     "`unpack-environment TAR FOLDER` on each node: unpacks the environment, ready to use there",
     user_files::render_unpack, true},
    {"libtorch/CMakeLists.txt",
     "a C++ program that uses the installed torch; libtorch/build builds and runs it",
     user_files::render_cmake_lists, false},
    {"libtorch/example.cpp", "its source", user_files::render_example, false},
}};
constexpr Kind build_kind = {"libtorch/build", "`libtorch/build FOLDER`", user_files::render_build, true};

UserFile render(const Kind& kind, const Input& input) {
    return {user_files::fill(kind.path, input), user_files::fill(kind.about, input), kind.render(input),
            kind.executable};
}

std::string render_readme(const std::vector<UserFile>& files, const Input& input) {
    std::string text =
        user_files::fill("# {{module}} on {{site}}\n\n{{wheels}} for Python {{python}}.\n\n", input);
    for (const auto& file : files)
        text += "- `" + file.path + "`: " + file.about + "\n";
    if (!input.users.advice.empty()) text += "\nWhat the guide of " + input.site.name + " advises:\n\n";
    for (const auto& line : input.users.advice)
        text += "- " + line + "\n";
    return text;
}

// That of the builds, or another one of the same version and so of the same ABI.
PythonChoice python_of_users(const Site& site) {
    PythonChoice python = *site.python(site.users->python);
    if (!site.users->python_modules.empty())
        python = {python.version, "python" + python.version, "module", {}, {}, site.users->python_modules};
    return python;
}

}  // namespace

base::Result<std::vector<UserFile>> render_user_files(const Site& site, const fs::path& place) {
    if (!site.users)
        return base::fail("site.no_users", "The site file has no [users] table", site.name,
                          "add [users] (docs/reference/site.md)");
    if (!site.registry)
        return base::fail("site.no_registry", "Users install from an index, but this site has none",
                          site.name, "add [registry]");
    const auto slash = site.users->module.find('/');
    const PythonChoice python = python_of_users(site);
    const Input input{site,
                      *site.users,
                      python,
                      *site.accelerator(site.users->accelerator),
                      place,
                      site.users->module.substr(0, slash),
                      site.users->module.substr(slash + 1)};
    std::vector<UserFile> files;
    for (const auto& kind : kinds)
        files.push_back(render(kind, input));
    files.push_back(render(build_kind, input));
    files.push_back({"README.md", "", render_readme(files, input), false});
    return files;
}

base::Status write_user_files(const std::vector<UserFile>& files, const fs::path& place) {
    constexpr mode_t plain = 0644;
    constexpr mode_t program = 0755;
    for (const auto& file : files) {
        const fs::path path = place / file.path;
        WHEELYARD_TRY(base::make_directories(path.parent_path()));
        WHEELYARD_TRY(base::replace_file(path, file.text, file.executable ? program : plain));
    }
    return {};
}

namespace user_files {

namespace templates {  // templates/NAME
extern const std::string_view enter;
}

std::string fill(std::string_view text, const Input& input) {
    std::string filled(text);
    // A program that runs on GPUs where it finds some; without a kind it looks for the first.
    const auto* kind = accelerator::find_accelerator_kind(input.accelerator.kind);
    if (kind == nullptr) kind = accelerator::accelerator_kinds().front();
    for (const auto& [name, value] : {std::pair<std::string, std::string>{"{{module}}", input.users.module},
                                      {"{{name}}", input.name},
                                      {"{{version}}", input.version},
                                      {"{{site}}", input.site.name},
                                      {"{{python}}", input.python.version},
                                      {"{{wheels}}", base::join(input.users.requirements, ", ")},
                                      {"{{torch_device}}", std::string(kind->torch_device)},
                                      {"{{torch_constant}}", std::string(kind->torch_constant)},
                                      {"{{torch_backend}}", std::string(kind->torch_backend)},
                                      {"{{root}}", base::quote_shell(input.users.directory.string())},
                                      {"{{place}}", base::quote_shell(input.place.string())}})
        filled = base::replace_all(filled, name, value);
    return filled;
}

Environment lasting_environment(const Input& input) {
    Environment all = {{"WHEELYARD_INDEX_URL", input.site.registry->users_url()},
                       {"PIP_EXTRA_INDEX_URL", input.site.registry->users_url()}};
    const std::string host = simple::host_to_trust(input.site.registry->users_url());
    if (!host.empty()) all.emplace_back("PIP_TRUSTED_HOST", host);
    merge_environment(all, input.users.environment);
    return all;
}

std::string render_enter(const Input& input) {
    if (input.site.modules.init.empty()) {
        std::string text = fill("PATH={{root}}/bin:$PATH\n", input);
        for (const auto& [name, value] : lasting_environment(input))
            text += "export " + name + "=" + base::quote_shell(value) + "\n";
        return text;
    }
    return line_that_defines_module(input.site.modules.init) + "\n" + fill(templates::enter, input);
}

}  // namespace user_files

}  // namespace wheelyard::builder
