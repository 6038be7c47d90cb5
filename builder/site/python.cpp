// Runs the interpreter with a probe script and parses what it prints.
#include "builder/site/python.hpp"

#include "builder/schedule/batch_survey.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/pip_config.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {

namespace {

constexpr std::int64_t venv_timeout_ms = 300'000;  // creates a venv with pip on a slow file system
// Starts a Python on a cold network file system.
constexpr std::int64_t probe_timeout_ms = 30'000;

}  // namespace
namespace templates {  // templates/NAME

// Prints one line of JSON. os.confstr is the way packaging.tags finds the version of glibc; Py_GIL_DISABLED
// marks the free-threaded ABI (PEP 703).
extern const std::string_view python_probe;
// Runs the pip that a venv would get, out of the wheel that venv unpacks, which takes a third of the time:
// ensurepip's own, or the distributor's (WHEEL_PKG_DIR since Python 3.10; Debian names its folder only in a
// patch).
extern const std::string_view pip_of_ensurepip;

}  // namespace templates

namespace {

namespace fs = std::filesystem;

void read_libc(std::string_view libc, wheel::Environment& environment) {  // "glibc 2.36"
    if (!libc.starts_with("glibc ")) return;
    const auto parts = base::split(libc.substr(6), '.');
    if (parts.size() < 2) return;
    environment.glibc_major = static_cast<int>(base::parse_decimal(parts[0]).value_or(0));
    environment.glibc_minor = static_cast<int>(base::parse_decimal(parts[1]).value_or(0));
}

// pip's built-in default index, from its help text; empty when there is no pip. `pip`: the options of Python
// that run it.
base::Result<std::string> ask_pip_of(const fs::path& python,
                                     const std::vector<std::string>& pip = {"-m", "pip"}) {
    base::Command command;
    command.argv = {python.string()};
    command.argv.insert(command.argv.end(), pip.begin(), pip.end());
    command.argv.insert(command.argv.end(), {"download", "--help"});
    command.timeout_ms = probe_timeout_ms;
    WHEELYARD_ASSIGN(const auto answer, base::run_command(command));
    return simple::parse_default_index(answer.out);
}

}  // namespace

std::string Python::tag() const {
    return std::string(environment.cpython ? "cp" : "pp") + std::to_string(environment.python_major) +
           std::to_string(environment.python_minor) + (environment.free_threaded ? "t" : "");
}

base::Result<Python> parse_python(std::string_view answer, const PythonChoice& choice) {
    const auto broken = [&](const base::Error& error) {
        return base::fail(
            "python.broken",
            "Python " + choice.version + ": its answer to the probe is not valid: " + error.sentence,
            choice.executable, "run it by hand: PYTHON -c 'import json, sysconfig'");
    };
    const auto json = io::parse_json(base::trim(answer));
    if (!json) return broken(json.error());
    const auto prefix = json->string_at("prefix");
    const auto full_version = json->string_at("full_version");
    const auto major = json->int_at("major");
    const auto minor = json->int_at("minor");
    if (!prefix) return broken(prefix.error());
    if (!full_version) return broken(full_version.error());
    if (!major) return broken(major.error());
    if (!minor) return broken(minor.error());

    Python python;
    python.version = choice.version;
    python.executable = choice.executable;
    python.full_version = *full_version;
    python.prefix = *prefix;
    python.environment.python_major = static_cast<int>(*major);
    python.environment.python_minor = static_cast<int>(*minor);
    python.environment.cpython = json->string_or("implementation", "cpython") == "cpython";
    python.environment.free_threaded = json->bool_or("free_threaded", false);
    python.environment.machine = json->string_or("machine", "");
    read_libc(json->string_or("libc", ""), python.environment);
    python.tags = wheel::supported_tags(python.environment);
    const std::string found = std::to_string(*major) + "." + std::to_string(*minor);
    if (found != choice.version) {
        return base::fail("python.other_version",
                          "The interpreter for Python " + choice.version + " is Python " + found,
                          choice.executable,
                          "set `executable` of that [[python]] in site.toml to a Python of this version");
    }
    return python;
}

namespace {

// Finds the interpreter on PATH after `setup`: it may exist only in a module.
base::Result<std::string> find_after(const PythonChoice& choice, const std::string& setup) {
    base::Command command;
    command.argv = {"/bin/bash", "-c", "set -eu\n{ " + setup + "\n} >&2\ncommand -v -- \"$0\"",
                    choice.executable};
    command.timeout_ms = probe_timeout_ms;
    const auto answer = base::run_command(command);
    const std::string path = answer ? std::string(base::trim(answer->out)) : "";
    if (answer && answer->exit_code == 0 && path.starts_with('/')) return path;
    return base::fail("python.missing",
                      "No Python " + choice.version + " on PATH after loading the site's modules" +
                          (answer && !base::trim(answer->err).empty() ? ": " + reason_in(answer->err) : ""),
                      choice.executable,
                      "run `wheelyard-builder site check`, which names the module that fails");
}

}  // namespace

base::Result<Python> probe_python(const PythonChoice& choice, const std::string& setup) {
    PythonChoice found = choice;
    if (!setup.empty()) {
        WHEELYARD_ASSIGN(found.executable, find_after(choice, setup));
    } else if (!fs::path(choice.executable).is_absolute()) {
        const auto path = base::find_program(choice.executable);
        if (!path) {
            return base::fail("python.missing", "No Python " + choice.version + " on PATH", choice.executable,
                              "install it, or set `executable` in [[python]] to its path");
        }
        found.executable = path->string();
    }
    base::Command command;
    command.argv = {found.executable, "-I", "-c", std::string(templates::python_probe)};
    if (!setup.empty()) {  // its libraries may come from a module too
        command.argv = {"/bin/bash", "-c", "set -eu\n{ " + setup + "\n} >&2\nexec \"$0\" -I -c \"$1\"",
                        found.executable, std::string(templates::python_probe)};
    }
    command.timeout_ms = probe_timeout_ms;
    const auto answer = base::run_command(command);
    if (!answer) {
        return base::fail("python.missing",
                          "Python " + choice.version + " cannot be started: " + answer.error().sentence,
                          found.executable, "install it, or correct `executable` in [[python]]");
    }
    if (answer->exit_code != 0) {
        return base::fail("python.broken",
                          "Python " + choice.version + " fails when it is probed (exit " +
                              std::to_string(answer->exit_code) +
                              "): " + std::string(base::trim(answer->err)),
                          found.executable, "repair it, or set `executable` in [[python]] to another one");
    }
    return parse_python(answer->out, found);
}

base::Result<std::string> ask_default_index(const Python& python) {
    WHEELYARD_ASSIGN(std::string index, ask_pip_of(python.executable));
    if (!index.empty()) return index;
    // Debian's Python has no pip; the jobs use that of a venv.
    WHEELYARD_ASSIGN(index,
                     ask_pip_of(python.executable, {"-I", "-c", std::string(templates::pip_of_ensurepip)}));
    if (!index.empty()) return index;
    WHEELYARD_ASSIGN(const auto folder, base::TempDir::make("wheelyard-pip"));
    base::Command command;
    command.argv = {python.executable.string(), "-I", "-m", "venv", folder.path().string()};
    command.timeout_ms = venv_timeout_ms;
    WHEELYARD_ASSIGN(const auto made, base::run_command(command));
    if (made.exit_code == 0) {
        WHEELYARD_ASSIGN(index, ask_pip_of(folder.path() / "bin/python"));
        if (!index.empty()) return index;
    }
    return base::fail_as(
        base::ErrorKind::other, base::Recovery::person,
        {"pip.no_index",
         "No index is configured, and neither the pip of this Python nor the pip of a new venv names a "
         "default index",
         python.executable.string(),
         "set PIP_INDEX_URL or index-url in pip.conf; jobs need the venv module (Debian: python3-venv)"});
}

}  // namespace wheelyard::builder
