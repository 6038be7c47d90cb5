// Rules that many different causes share: the last of the table, so that any specific one comes first.
#include "builder/doctor/doctor_rules.hpp"

namespace wheelyard::builder {

const std::vector<DoctorRule>& general_rules() {
    using enum Weight;
    using enum Automatic;
    static const std::vector<DoctorRule> rules = {
        {"link.library_missing",
         {"cannot find -l", "unable to find library -l", "cannot find crt1.o", "cannot find scrt1.o",
          "cannot find crti.o", "library not found for -l", "ld: cannot find "},
         cause,
         no,
         "The linker cannot find a library.",
         "Load its module or install its development files, and add its folder to LIBRARY_PATH or LDFLAGS."
         " Modules: `load` in [modules] of site.toml; variables: `environment` in [build] of the recipe."},
        {"build.cmake_package",
         {"could not find a package configuration file provided by",
          "could not find * (missing:", "found unsuitable version",
          "the following required packages were not found", "but cmake did not find one",
          "could not find * using the following names", "could not find * using the following files",
          "but the target was not found", "unknown cmake command"},
         cause,
         no,
         "CMake cannot find a package that it needs.",
         "Load its module or install its development files, and add its prefix to CMAKE_PREFIX_PATH."
         " Modules: `load` in [modules] of site.toml; variables: `environment` in [build] of the recipe."},
        {"build.dependency",
         {"error: dependency \"", "error: dependency lookup for", "error: c shared or static library '",
          "neither a subproject directory nor a", "error: c header '", "error: c++ header '",
          "configure: error: * not found", "configure: error: could not find",
          "configure: error: cannot find", "configure: error: * is required", "configure: error: * missing",
          "please make sure the libxml2 and libxslt", "headers or library files could not be found for",
          "must be installed."},
         cause,
         no,
         "A library that the configuration asks for was not found.",
         "Load the library's module or install its development files; the lines before say where it was "
         "looked for (PKG_CONFIG_PATH, CMAKE_PREFIX_PATH, CPATH). Modules: `load` in [modules] of site.toml; "
         "variables: `environment` in [build] of the recipe."},
        {"compiler.error_directive",
         {"#error"},
         cause,
         no,
         "The source refuses to be compiled so, and says why: the text after #error.",
         "Do what the text asks for: a module, an option, another processor or compiler. Modules: `load` in "
         "[modules] of site.toml; variables: `environment` in [build] of the recipe."},
        {"compiler.missing_header",
         {"fatal error: *: no such file", "fatal error: * file not found", "cannot open source file \""},
         cause,
         no,
         "A header was not found: a library's development files are not installed, or not on the include "
         "path.",
         "Load the library's module, or add its folder to CPATH or CMAKE_PREFIX_PATH."
         " Modules: `load` in [modules] of site.toml; variables: `environment` in [build] of the recipe."},
        {"build.no_rule",
         {"no rule to make target*needed by", "missing and no known rule to make it"},
         cause,
         no,
         "A step needs a file that is not there and that no step makes: a library at a fixed path, or a file "
         "that the source lacks.",
         "If the file is a library, load its module or build in a new tree, so that it is looked for again; "
         "if it belongs to the source, use the complete one (submodules). Modules: `load` in [modules] of "
         "site.toml; variables: `environment` in [build] of the recipe."},
        {"build.no_target",
         {"no rule to make target"},
         cause,
         no,
         "The makefile has no such target: the command belongs to another version of the source.",
         "Use a target that the makefile has, in `before` or `configure` of [build] in the recipe; without a "
         "makefile in the folder, configure first."},
        {"build.program_missing",
         {"?program '*' not found", "but it wasn't found in /", "could not find `protoc`"},
         cause,
         no,
         "A program that the build calls is not installed, or not on PATH.",
         "Load its module, or add the package that contains it to `requires` in [build] of the recipe. "
         "Modules: `load` in [modules] of site.toml."},
        {"compiler.does_not_work",
         {"is not able to compile a simple test program", "compiler cannot create executables",
          "cannot compile programs.", "cannot run c compiled programs", "cannot run c++ compiled programs"},
         symptom,
         no,
         "The compiler cannot build even a program of one line: the lines below say why.",
         "Try it by hand on that node; often its own libraries are missing, a license server does not "
         "answer, or CFLAGS hold an option that it does not know.",
         false,
         true},
        {"python.import_name",
         {"importerror: cannot import name ", "attributeerror: module '"},
         cause,
         no,
         "A Python module does not have what another takes from it: their versions do not fit each other.",
         "Pin the module in the message to the release that the other expects: `requires` in [build] of the "
         "recipe, or of [test] if only the test fails."},
        {"build.rust_script",
         {"failed to run custom build command for"},
         symptom,
         no,
         "A Rust package's own build script failed; the first line after `--- stderr` is its reason.",
         "Read that line: it is the first error.",
         false,
         true},
        {"machine.crash",
         {"segmentation fault", "(core dumped)"},
         symptom,
         no,
         "A program of the build or the test crashed.",
         "Run it by hand on that node; libraries of different versions (CUDA, MPI, libstdc++) crash on "
         "import."},
        {"build.stopped",
         {"ninja: build stopped: subcommand failed", "compilation terminated.", "failed building wheel for",
          "metadata-generation-failed", "did not run successfully", "error compiling objects for extension",
          "could not build wheels for", "legacy-install-failure"},
         symptom,
         no,
         "A command of the build failed; the cause is further up in the log.",
         "Read the first error, not the last line.",
         false,
         true},
    };
    return rules;
}

}  // namespace wheelyard::builder
