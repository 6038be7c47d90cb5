// The modulefile of the environment, for Lmod
// (https://lmod.readthedocs.io/en/latest/050_lua_modulefiles.html) and for Environment Modules
// (https://modules.readthedocs.io/en/latest/modulefile.html).
#include "builder/users/user_files_parts.hpp"
#include "lib/simple/modulefile_text.hpp"

namespace wheelyard::builder::user_files {
std::string render_lua(const Words& words) {
    const std::string about = fill("{{wheels}} for Python {{python}} on {{site}}", words);
    std::string text = "-- Made by `wheelyard-builder site user-files`.\nhelp(" +
                       simple::quote_lua(about + ".") + ")\nwhatis(" +
                       simple::quote_lua("Name: " + words.name) + ")\nwhatis(" +
                       simple::quote_lua("Version: " + words.version) + ")\nwhatis(" +
                       simple::quote_lua("Description: " + about) + ")\n";
    for (const auto& folder : words.site.modules.use)
        text += "prepend_path(\"MODULEPATH\", " + simple::quote_lua(folder) + ")\n";
    // Unloaded with this module if it brought them.
    for (const auto& module : modules_of(words))
        text += "depends_on(" + simple::quote_lua(module) + ")\n";
    text += "local root = " + simple::quote_lua(words.users.directory.string()) +
            "\nprepend_path(\"PATH\", pathJoin(root, \"bin\"))\nsetenv(\"WHEELYARD_ENVIRONMENT\", root)\n";
    for (const auto& folder : words.users.library_path)
        text += "prepend_path(\"LD_LIBRARY_PATH\", " + simple::quote_lua(folder) + ")\n";
    for (const auto& [name, value] : lasting_environment(words))
        text += "setenv(" + simple::quote_lua(name) + ", " + simple::quote_lua(value) + ")\n";
    return text;
}

std::string render_tcl(const Words& words) {
    const std::string about = fill("{{wheels}} for Python {{python}} on {{site}}", words);
    std::string text =
        "#%Module1.0\n# Made by `wheelyard-builder site user-files`.\nproc ModulesHelp {} {\n    puts "
        "stderr " +
        simple::quote_tcl(about + ".") + "\n}\nmodule-whatis " + simple::quote_tcl(about) + "\nconflict " +
        simple::quote_tcl(words.name) + "\n";
    for (const auto& folder : words.site.modules.use)
        text += "prepend-path MODULEPATH " + simple::quote_tcl(folder) + "\n";
    for (const auto& module : modules_of(words))
        text += "if {![is-loaded " + module + "]} { module load " + module + " }\n";
    text += "set root " + simple::quote_tcl(words.users.directory.string()) +
            "\nprepend-path PATH $root/bin\nsetenv WHEELYARD_ENVIRONMENT $root\n";
    for (const auto& folder : words.users.library_path)
        text += "prepend-path LD_LIBRARY_PATH " + simple::quote_tcl(folder) + "\n";
    for (const auto& [name, value] : lasting_environment(words))
        text += "setenv " + name + " " + simple::quote_tcl(value) + "\n";
    return text;
}

}  // namespace wheelyard::builder::user_files
