// Runs the self-test in one shell.
#include "builder/governor/launch/coverage.hpp"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "builder/governor/launch/compiler_names.hpp"
#include "builder/governor/launch/compiler_process.hpp"
#include "builder/governor/launch/message.hpp"
#include "builder/governor/launch/shims.hpp"
#include "lib/base/files/fd.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace templates {  // templates/NAME

// Prints 1, 0, or - for a program that does not exist, of each form.
extern const std::string_view probe_forms;

}  // namespace templates

namespace {

// Variables whose value is a command line of a compiler.
constexpr std::array command_variables = {
    "CC",   "CXX",   "CPP",   "FC",     "F77",   "F90",      "CUDACXX",     "CUDAHOSTCXX", "HIPCXX",
    "NVCC", "HIPCC", "MPICC", "MPICXX", "MPIFC", "LDSHARED", "LDCXXSHARED", "PYTORCH_NVCC"};

// Variables whose value is a folder of a toolkit, and the compiler in it.
struct Toolkit {
    const char *variable, *compiler;
};
constexpr std::array toolkits = {Toolkit{"CUDA_HOME", "bin/nvcc"}, Toolkit{"CUDA_PATH", "bin/nvcc"},
                                 Toolkit{"ROCM_HOME", "bin/hipcc"}, Toolkit{"ROCM_PATH", "bin/hipcc"},
                                 Toolkit{"HIP_PATH", "bin/hipcc"}};

constexpr std::string_view answer = "wheelyard-governor";

std::string quoted(const std::string& word) {
    std::string text = "'";
    for (const char c : word)
        text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

std::string get(const std::map<std::string, std::string>& environment, const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
}

// The first word that is neither a cache nor a distributor.
std::string_view compiler_of(std::string_view command) {
    for (const auto word : base::split(command, ' ')) {
        if (!word.empty() && !is_cache_name(name_of(word)) && !is_distributor_name(name_of(word)))
            return word;
    }
    return {};
}

// A program that compiles nothing under a compiler's name. It lies in the system's folders: `folder` may be
// noexec.
std::string stand_in_below(const std::string& folder) {
    std::string path = folder + "/cc";
    for (const char* program : {"/bin/false", "/usr/bin/false", "/bin/true", "/usr/bin/true"}) {
        if (::access(program, X_OK) == 0 && (::symlink(program, path.c_str()) == 0 || errno == EEXIST)) break;
    }
    return path;
}

}  // namespace

std::vector<Form> forms_of(const std::map<std::string, std::string>& environment, const std::string& folder) {
    std::vector<Form> forms;
    const std::string search = path_without(get(environment, "PATH"), shim_folder());
    for (const auto name : compilers) {
        if (find_real(std::string(name), search)) {
            forms.push_back({"by name", std::string(name)});
            break;
        }
    }
    const std::string stand_in = quoted(stand_in_below(folder));
    forms.push_back({by_path, stand_in});
    if (find_real("ccache", search)) forms.push_back({"ccache", "ccache " + stand_in});
    for (const char* name : command_variables) {
        if (const auto command = get(environment, name); !base::trim(command).empty())
            forms.push_back({name, command});
    }
    for (const auto& [variable, compiler] : toolkits) {
        const auto home = get(environment, variable);
        if (!home.empty()) forms.push_back({variable, quoted(home + "/" + compiler)});
    }
    return forms;
}

std::vector<Form> probe(const std::vector<Form>& forms) {
    base::Command command;
    command.argv = {"/bin/sh", "-c", std::string(templates::probe_forms), "sh"};
    for (const auto& form : forms)
        command.argv.push_back(form.command);
    command.environment = base::current_environment();
    (*command.environment)[probe_variable] = "1";
    command.timeout_ms = version_timeout_ms;
    const auto finished = base::run_command(command);
    const auto lines = base::split_lines(finished ? std::string_view(finished->out) : std::string_view());
    std::vector<Form> tested;
    for (std::size_t i = 0; i < forms.size(); ++i) {
        const std::string_view line = i < lines.size() ? lines[i] : std::string_view();
        if (line == "-") continue;
        tested.push_back(forms[i]);
        tested.back().intercepted = line == "1";
    }
    return tested;
}

void answer_probe() {
    base::print(stdout, "%.*s\n", static_cast<int>(answer.size()), answer.data());
    std::fflush(stdout);
    ::_exit(0);
}

bool names_unknown_compiler(const std::vector<std::string>& words) {
    return std::any_of(words.begin(), words.end(), [](std::string_view word) {
        const auto equals = word.find('=');
        if (equals == std::string_view::npos) return false;
        const auto is_named = [&](const char* name) { return word.substr(0, equals) == name; };
        if (std::none_of(command_variables.begin(), command_variables.end(), is_named)) return false;
        const auto compiler = compiler_of(word.substr(equals + 1));
        return !compiler.empty() && !is_compiler_name(name_of(compiler));
    });
}

bool is_dynamic(const std::string& program) {
    constexpr std::size_t max_segments = 64;
    const base::Fd file(::open(program.c_str(), O_RDONLY | O_CLOEXEC));
    Elf64_Ehdr header{};
    if (!file || ::pread(file.get(), &header, sizeof header, 0) != ssize_t{sizeof header} ||
        std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return true;  // a script: its interpreter runs it
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) return false;
    for (std::size_t i = 0; i < std::min<std::size_t>(header.e_phnum, max_segments); ++i) {
        Elf64_Phdr segment{};
        const auto at = static_cast<off_t>(header.e_phoff + i * sizeof segment);
        if (::pread(file.get(), &segment, sizeof segment, at) != ssize_t{sizeof segment}) return false;
        if (segment.p_type == PT_INTERP) return true;
    }
    return false;
}

std::string Coverage::text() const {
    std::string text = "-j stays the build tool's own, at most " + std::to_string(jobs) + " (" +
                       base::render_bytes(static_cast<std::uint64_t>(peak_bytes)) +
                       (peak_is_known ? ", this build's largest known compile" : " each, as none is known") +
                       ", of " + base::render_bytes(static_cast<std::uint64_t>(limit_bytes)) + "): ";
    if (!reason.empty()) return text + reason;
    std::vector<std::string> unseen;
    for (const auto& form : forms) {
        const bool is_ours = form.name.starts_with("by ") || form.name == "ccache";  // we chose the compiler
        if (!form.intercepted) unseen.push_back(is_ours ? form.name : form.name + " (" + form.command + ")");
    }
    return text + "compilers called like this do not pass through the governor: " + base::join(unseen, ", ");
}

unsigned jobs_that_fit(double limit_bytes, double peak_bytes, unsigned wanted) {
    const double jobs = limit_bytes / std::max(peak_bytes, 1.0);
    return static_cast<unsigned>(std::clamp(jobs, 1.0, static_cast<double>(std::max(wanted, 1u))));
}

}  // namespace wheelyard::governor
