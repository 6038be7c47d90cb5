// Modules are loaded in the order of the site file. The script then checks that they are loaded, because
// `module` and Conda's own scripts fail under `set -eu` and have to run without it.
#include "builder/site/script_setup.hpp"

#include <algorithm>

#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/version.hpp"
#include "lib/wire/cpu_options.hpp"

namespace wheelyard::builder {

namespace templates {  // templates/NAME

extern const std::string_view check_conda, check_modules;

}  // namespace templates

namespace {

using base::quote_shell;

std::string quoted(const std::vector<std::string>& words) {
    std::vector<std::string> all;
    for (const auto& word : words)
        all.push_back(quote_shell(word));
    return base::join(all, " ");
}

std::string render_modules(const Site& site, const std::vector<std::string>& modules,
                           std::string_view begin) {
    if (modules.empty()) return "";
    std::string text = "\n";
    if (!begin.empty()) text += std::string(begin) + " modules\n";
    text +=
        "set +eu # `module` and the scripts that modulefiles source can fail under -eu; the result is "
        "checked below\n";
    if (!site.modules.init.empty()) text += line_that_defines_module(site.modules.init) + "\n";
    text += render_module_settings(site.modules);
    text += "module load " + quoted(modules) + "\nset -eu\n";
    return text + base::replace_all(templates::check_modules, "{{modules}}", quoted(modules));
}

std::string render_conda(const PythonChoice* python, std::string_view begin) {
    if (python == nullptr || python->source != "conda") return "";
    const std::string root = python->conda.string();
    const std::string environment = quote_shell(python->conda_environment.string());
    std::string text = "\n";
    if (!begin.empty()) text += std::string(begin) + " conda\n";
    text += "set +eu # the scripts in Conda's activate.d can fail under -eu\n";
    text += ". " + quote_shell(root + "/etc/profile.d/conda.sh") + "\n";
    text += "conda activate " + environment + "\nset -eu\n";
    return text + base::replace_all(templates::check_conda, "{{environment}}", environment);
}

// Those of the accelerator as the variable of its build lists them; empty: it is of another kind.
std::string architectures_of(const Accelerator* accelerator, const accelerator::AcceleratorKind& kind) {
    if (accelerator == nullptr || accelerator->kind != kind.name) return "";
    std::vector<std::string> all;
    for (const auto& one : accelerator->architectures)
        all.push_back(kind.architecture_flag == nullptr ? one : kind.architecture_flag(one));
    return base::join(all, kind.flag_separator);
}

}  // namespace

std::string fill_placeholders(std::string_view text, const Placeholders& values) {
    std::string filled;
    for (std::size_t at = 0; at < text.size();) {
        const auto close = text[at] == '{' ? text.find('}', at) : std::string_view::npos;
        const bool of_the_shell = at > 0 && text[at - 1] == '$';
        if (close != std::string_view::npos && !of_the_shell) {
            const auto name = text.substr(at + 1, close - at - 1);
            const auto value = std::find_if(values.begin(), values.end(),
                                            [&](const auto& row) { return row.first == name; });
            if (value != values.end()) {
                filled += value->second;
                at = close + 1;
                continue;
            }
        }
        filled += text[at++];
    }
    return filled;
}

Placeholders placeholders_of(const PlaceholderInput& input) {
    const Accelerator* accelerator = input.site.accelerator(input.accelerator);
    const auto plus = input.version.find('+');
    const std::string against =
        input.against.substr(std::min(input.against.size(), input.against.find("==")));
    const std::string other = against.empty() ? "" : against.substr(2);
    Placeholders all = {{"version", input.version},
                        {"public_version", without_label(input.version)},
                        {"label", plus == std::string::npos ? "" : input.version.substr(plus + 1)},
                        {"against", other},
                        {"against_public", without_label(other)},
                        {"cores", std::to_string(input.site.cores)},
                        {"promises", base::join(input.promises, " ")},
                        {"launch_2", render_launcher(input.site, 1, 2)}};
    const auto* kind_here =
        accelerator == nullptr ? nullptr : accelerator::find_accelerator_kind(accelerator->kind);
    all.emplace_back("torch_device", kind_here == nullptr ? accelerator::cpu : kind_here->torch_device);
    for (const auto* kind : accelerator::accelerator_kinds())
        all.emplace_back(std::string(kind->name) + "_architectures", architectures_of(accelerator, *kind));
    return all;
}

std::string render_launcher(const Site& site, int nodes, int ranks_per_node) {
    return fill_placeholders(site.launcher.empty() ? "mpiexec -n {ranks}" : site.launcher,
                             {{"nodes", std::to_string(nodes)},
                              {"ranks", std::to_string(nodes * ranks_per_node)},
                              {"ranks_per_node", std::to_string(ranks_per_node)}});
}

std::string render_setup(const Site& site, const PythonChoice* python, const Accelerator* accelerator,
                         std::string_view begin) {
    return render_modules(site, modules_of(site, python, accelerator), begin) + render_conda(python, begin);
}

std::vector<std::string> lines_of_user_setup(const Site& site, const PythonChoice& python,
                                             const Accelerator* accelerator) {
    std::vector<std::string> lines;
    if (const auto modules = modules_of(site, &python, accelerator); !modules.empty()) {
        if (!site.modules.init.empty()) lines.push_back(line_that_defines_module(site.modules.init));
        const std::string settings = render_module_settings(site.modules);
        for (const std::string_view line : base::split_lines(settings))
            if (!line.empty()) lines.emplace_back(line);
        lines.push_back("module load " + quoted(modules));
    }
    if (python.source == "conda") {
        lines.push_back(". " + quote_shell(python.conda.string() + "/etc/profile.d/conda.sh"));
        lines.push_back("conda activate " + quote_shell(python.conda_environment.string()));
    }
    return lines;
}

std::vector<std::string> modules_of(const Site& site, const PythonChoice* python,
                                    const Accelerator* accelerator) {
    std::vector<std::string> all = site.modules.load;
    if (accelerator != nullptr)
        all.insert(all.end(), accelerator->modules.begin(), accelerator->modules.end());
    if (python != nullptr) all.insert(all.end(), python->modules.begin(), python->modules.end());
    return all;
}

std::string line_that_defines_module(const std::string& init) {
    return "type module > /dev/null 2>&1 || . " + quote_expanding(init);
}

std::string render_module_settings(const ModuleSettings& modules) {
    std::string text = modules.purge ? "module purge\n" : "";
    for (const auto& [name, value] : modules.environment)
        text += "export " + name + "=" + quote_expanding(value) + "\n";
    for (const auto& folder : modules.use)
        text += "module use " + quote_expanding(folder) + "\n";
    return text;
}

std::string quote_expanding(std::string_view text) {
    if (text.find("${") == std::string_view::npos) return quote_shell(std::string(text));
    std::string quoted_text = "\"";
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool variable = text[at] == '$' && at + 1 < text.size() && text[at + 1] == '{';
        if (std::string_view("\"\\`$").find(text[at]) != std::string_view::npos && !variable)
            quoted_text += '\\';
        quoted_text += text[at];
    }
    return quoted_text + "\"";
}

std::string render_environment(const Environment& environment, std::string_view why) {
    if (environment.empty()) return "";
    std::string text = "\n# " + std::string(why) + "\n";
    for (const auto& [name, value] : environment)
        text += "export " + name + "=" + quote_expanding(value) + "\n";
    return text;
}

std::vector<ExportGroup> exports_of_build(const Site& site, const Accelerator* accelerator,
                                          const Environment& recipe, const Placeholders& values) {
    Environment compilers;
    for (const auto& [name, value] :
         {std::pair{"CC", site.compilers.c}, std::pair{"CXX", site.compilers.cxx},
          std::pair{"FC", site.compilers.fortran}, std::pair{"MPICC", site.compilers.mpi_c}}) {
        if (!value.empty()) compilers.emplace_back(name, value);
    }
    Environment filled;
    for (const auto& [name, value] : recipe)
        filled.emplace_back(name, fill_placeholders(value, values));
    std::vector<ExportGroup> groups = {
        {"The time that tools write instead of the clock's, so that builds can be repeated.",
         {{"SOURCE_DATE_EPOCH", std::string(source_date_epoch)}}},
        {"The site's compilers.", std::move(compilers)},
        {"From site.toml.", site.environment}};
    if (accelerator != nullptr)
        groups.push_back({"For accelerator " + accelerator->name + ".", accelerator->environment});
    groups.push_back({"From the recipe.", std::move(filled)});
    // Without the note nobody can tell from the wheel which processors load it.
    std::string linker = "${LDFLAGS-}";
    Environment options;
    for (const auto& group : groups) {
        for (const auto& [name, value] : group.variables) {
            std::erase_if(options, [&, key = name](const auto& one) { return one.first == key; });
            options.emplace_back(name, value);
            if (name == "LDFLAGS") linker = value;
        }
    }
    if (const auto cpu = wire::cpu_of_options(options); cpu.starts_with("x86-64"))
        groups.push_back({"The files note the processor that they are compiled for.",
                          {{"LDFLAGS", linker + (linker.empty() ? "" : " ") + "-Wl,-z," + cpu}}});
    return groups;
}

std::vector<ExportGroup> exports_of_job(const Site& site, const Accelerator* accelerator,
                                        const Environment& recipe, const Placeholders& values) {
    Environment machine = site.proxies;
    if (!site.temporary.empty()) machine.emplace_back("TMPDIR", site.temporary);
    std::vector<ExportGroup> groups = exports_of_build(site, accelerator, recipe, values);
    groups.insert(groups.begin() + 2, {"The site's network and scratch.", std::move(machine)});
    return groups;
}

std::string render_exports(const std::vector<ExportGroup>& groups) {
    std::string text;
    for (const auto& group : groups)
        text += render_environment(group.variables, group.why);
    return text;
}

namespace {

constexpr std::string_view program = "wheelyard-builder ";

}  // namespace

std::string pasted_command(const std::string& command, const std::string& name, const Site& site) {
    return std::string(program) + command + (name.empty() ? "" : " " + base::quote_shell(name)) +
           (site.file.empty() ? "" : " --site " + base::quote_shell(site.file.string()));
}

std::string complete_commands(const std::string& advice, const std::string& cell, const std::string& attempt,
                              const Site& site) {
    const std::string with_cell =
        base::replace_all(advice, std::string(program) + "retry", pasted_command("retry", cell, site));
    return base::replace_all(with_cell, std::string(program) + "logs", pasted_command("logs", attempt, site));
}

}  // namespace wheelyard::builder
