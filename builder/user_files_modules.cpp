// The modulefile of the environment, for Lmod
// (https://lmod.readthedocs.io/en/latest/050_lua_modulefiles.html) and for Environment Modules
// (https://modules.readthedocs.io/en/latest/modulefile.html).
#include "builder/user_files_parts.hpp"

namespace wheelyard::builder::user_files {
namespace {

std::string in_quotes(std::string_view text, std::string_view escaped) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (escaped.find(c) != std::string_view::npos) quoted += '\\';
        quoted += c;
    }
    return quoted + "\"";
}
std::string lua(std::string_view text) {
    return in_quotes(text, "\\\"");
}
std::string tcl(std::string_view text) {
    return in_quotes(text, "\\\"$[]{};");
}

}  // namespace

std::string render_lua(const Words& words) {
    const std::string about = fill("{{wheels}} for Python {{python}} on {{site}}", words);
    std::string text = "-- Made by `wheelyard-builder site user-files`.\nhelp(" + lua(about + ".") +
                       ")\nwhatis(" + lua("Name: " + words.name) + ")\nwhatis(" +
                       lua("Version: " + words.version) + ")\nwhatis(" + lua("Description: " + about) + ")\n";
    for (const auto& folder : words.site.modules.use)
        text += "prepend_path(\"MODULEPATH\", " + lua(folder) + ")\n";
    // Unloaded with this module if it brought them.
    for (const auto& module : modules_of(words))
        text += "depends_on(" + lua(module) + ")\n";
    text += "local root = " + lua(words.users.directory.string()) +
            "\nprepend_path(\"PATH\", pathJoin(root, \"bin\"))\nsetenv(\"WHEELYARD_ENVIRONMENT\", root)\n";
    for (const auto& folder : words.users.library_path)
        text += "prepend_path(\"LD_LIBRARY_PATH\", " + lua(folder) + ")\n";
    for (const auto& [name, value] : lasting_environment(words))
        text += "setenv(" + lua(name) + ", " + lua(value) + ")\n";
    return text;
}

std::string render_tcl(const Words& words) {
    const std::string about = fill("{{wheels}} for Python {{python}} on {{site}}", words);
    std::string text =
        "#%Module1.0\n# Made by `wheelyard-builder site user-files`.\nproc ModulesHelp {} {\n    puts "
        "stderr " +
        tcl(about + ".") + "\n}\nmodule-whatis " + tcl(about) + "\nconflict " + tcl(words.name) + "\n";
    for (const auto& folder : words.site.modules.use)
        text += "prepend-path MODULEPATH " + tcl(folder) + "\n";
    for (const auto& module : modules_of(words))
        text += "if {![is-loaded " + module + "]} { module load " + module + " }\n";
    text += "set root " + tcl(words.users.directory.string()) +
            "\nprepend-path PATH $root/bin\nsetenv WHEELYARD_ENVIRONMENT $root\n";
    for (const auto& folder : words.users.library_path)
        text += "prepend-path LD_LIBRARY_PATH " + tcl(folder) + "\n";
    for (const auto& [name, value] : lasting_environment(words))
        text += "setenv " + name + " " + tcl(value) + "\n";
    return text;
}

}  // namespace wheelyard::builder::user_files
