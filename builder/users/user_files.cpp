#include "builder/users/user_files.hpp"

#include <array>
#include <utility>

#include "builder/site/script_setup.hpp"
#include "builder/users/user_files_parts.hpp"
#include "lib/base/encoding.hpp"
#include "lib/base/file.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;
using user_files::Words;

struct Kind {
    std::string_view path;
    std::string_view about;  // for README.md
    std::string (*render)(const Words&);
    bool executable;
};
constexpr std::array<Kind, 14> kinds = {{
    {"install-environment", "makes the environment; staff run it, once", user_files::render_install, true},
    {"modulefiles/{{module}}.lua", "for Lmod: `module use` this folder, `module load {{module}}`",
     user_files::render_lua, false},
    // Side by side, so that one `module use` serves both: Lmod prefers the other, the other system sees only
    // this.
    {"modulefiles/{{module}}", "the same for Environment Modules", user_files::render_tcl, false},
    {"extend-venv-activate",
     "`extend-venv-activate VENV`: a user's own virtual environment sees these wheels",
     user_files::render_extend_venv, true},
    {"conda/activate.d/{{name}}.sh", "into etc/conda/activate.d of a Conda environment: the variables",
     user_files::render_activate, false},
    {"conda/deactivate.d/{{name}}.sh", "into etc/conda/deactivate.d: and back", user_files::render_deactivate,
     false},
    {"job-environment.sh", "to be sourced by a job: how its ranks find each other, caches of its own",
     user_files::render_job_variables, false},
    {"run-rank", "what the launcher starts: RANK, WORLD_SIZE and LOCAL_RANK for torch.distributed",
     user_files::render_run_rank, true},
    {"job.sh", "a job, ready to be sent: job.sh PROGRAM.py ARGUMENTS", user_files::render_job, true},
    {"all_reduce.py", "what it runs without a program: one sum over all ranks", user_files::render_all_reduce,
     false},
    {"pack-environment", "the environment as one file, environment.tar", user_files::render_pack, true},
    {"unpack-environment", "`unpack-environment TAR FOLDER`, on every node: it works from there",
     user_files::render_unpack, true},
    {"libtorch/CMakeLists.txt", "a C++ program on the installed torch; libtorch/build makes and runs it",
     user_files::render_cmake_lists, false},
    {"libtorch/example.cpp", "its source", user_files::render_example, false},
}};
constexpr Kind build_kind = {"libtorch/build", "`libtorch/build FOLDER`", user_files::render_build, true};

UserFile render(const Kind& kind, const Words& words) {
    return {user_files::fill(kind.path, words), user_files::fill(kind.about, words), kind.render(words),
            kind.executable};
}

std::string render_readme(const std::vector<UserFile>& files, const Words& words) {
    std::string text =
        user_files::fill("# {{module}} on {{site}}\n\n{{wheels}} for Python {{python}}.\n\n", words);
    for (const auto& file : files)
        text += "- `" + file.path + "`: " + file.about + "\n";
    return text;
}

}  // namespace

base::Result<std::vector<UserFile>> render_user_files(const Site& site, const fs::path& place) {
    if (!site.users)
        return base::fail("site.no_users", "The site file does not say what its users get", site.name,
                          "add [users] (docs/reference/site.md)");
    if (!site.registry)
        return base::fail("site.no_registry", "Users install from an index, and this site has none",
                          site.name, "add [registry]");
    const auto slash = site.users->module.find('/');
    const Words words{site,
                      *site.users,
                      *site.python(site.users->python),
                      *site.accelerator(site.users->accelerator),
                      place,
                      site.users->module.substr(0, slash),
                      site.users->module.substr(slash + 1)};
    std::vector<UserFile> files;
    for (const auto& kind : kinds)
        files.push_back(render(kind, words));
    files.push_back(render(build_kind, words));
    files.push_back({"README.md", "", render_readme(files, words), false});
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

std::string fill(std::string_view text, const Words& words) {
    std::string filled(text);
    for (const auto& [name, value] : {std::pair<std::string, std::string>{"{{module}}", words.users.module},
                                      {"{{name}}", words.name},
                                      {"{{version}}", words.version},
                                      {"{{site}}", words.site.name},
                                      {"{{python}}", words.python.version},
                                      {"{{wheels}}", base::join(words.users.requirements, ", ")},
                                      {"{{root}}", base::quote_shell(words.users.directory.string())},
                                      {"{{place}}", base::quote_shell(words.place.string())}})
        filled = base::replace_all(filled, name, value);
    return filled;
}

Environment lasting_environment(const Words& words) {
    Environment all = {{"WHEELYARD_INDEX_URL", words.site.registry->simple_url()},
                       {"PIP_EXTRA_INDEX_URL", words.site.registry->simple_url()}};
    merge_environment(all, words.users.environment);
    return all;
}

std::vector<std::string> modules_of(const Words& words) {
    std::vector<std::string> all = words.site.modules.load;
    for (const auto* more : {&words.accelerator.modules, &words.python.modules})
        all.insert(all.end(), more->begin(), more->end());
    return all;
}

std::string render_enter(const Words& words) {
    if (words.site.modules.init.empty()) {
        std::string text = fill("PATH={{root}}/bin:$PATH\n", words);
        for (const auto& [name, value] : lasting_environment(words))
            text += "export " + name + "=" + base::quote_shell(value) + "\n";
        return text;
    }
    return "type module > /dev/null 2>&1 || . " + quote_expanding(words.site.modules.init) + "\n" +
           fill(R"sh(module use {{place}}/modulefiles
module load {{module}}
case ":${LOADEDMODULES-}:" in
*:{{module}}:*) ;;
*)
    echo "error: module {{module}} is not loaded; its reason stands above" >&2
    exit 69
    ;;
esac
)sh",
                words);
}

}  // namespace user_files

}  // namespace wheelyard::builder
