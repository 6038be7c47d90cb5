// Environment variables of ccache(1), and a memory file that records whether a compiler ran.
#include "builder/governor/launch/compiler_cache.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "builder/governor/launch/compile_command.hpp"
#include "builder/governor/launch/compiler_process.hpp"
#include "builder/governor/launch/shims.hpp"
#include "builder/governor/memory/limits.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace {

namespace fs = std::filesystem;

constexpr const char* prefix_variable = "CCACHE_PREFIX";
constexpr const char* prefix_of_cpp_variable = "CCACHE_PREFIX_CPP";
constexpr const char* asking_variable = "WHEELYARD_GOVERNOR_ASKS_CACHE";
constexpr const char* noted_variable = "WHEELYARD_GOVERNOR_COMPILED";  // a descriptor

bool is_ccache(const std::string& program) {
    return name_of(program).starts_with("ccache");
}

struct Prefixes {
    std::string prefix, prefix_of_cpp;
};

// The prefixes from ccache's configuration and environment, as in "(default) prefix_command = "; nullopt if
// ccache does not report them.
std::optional<Prefixes> prefixes_of(const std::string& ccache) {
    base::Command command;
    command.argv = {ccache, "--show-config"};
    command.timeout_ms = version_timeout_ms;
    const auto finished = base::run_command(command);
    if (!finished || finished->exit_code != 0) return std::nullopt;
    Prefixes found;
    for (const auto line : base::split_lines(finished->out)) {
        for (const auto& [name, value] : {std::pair{") prefix_command = ", &found.prefix},
                                          std::pair{") prefix_command_cpp = ", &found.prefix_of_cpp}}) {
            if (const auto at = line.find(name); at != std::string_view::npos)
                *value = base::trim(line.substr(at + std::string_view(name).size()));
        }
    }
    return found;
}

void set_prefixes(const std::string& prefix, const std::string& prefix_of_cpp) {
    set_or_unset(prefix_variable, prefix);
    set_or_unset(prefix_of_cpp_variable, prefix_of_cpp);
}

// The configured prefixes, provided that `ccache` lets the environment replace them by `link`.
std::optional<Prefixes> replaceable_prefixes(const std::string& ccache, const std::string& link) {
    const Prefixes of_this_compile{environment(prefix_variable), environment(prefix_of_cpp_variable)};
    set_prefixes("", "");
    const auto theirs = prefixes_of(ccache);
    set_prefixes(link, link);
    const auto ours = prefixes_of(ccache);
    set_prefixes(of_this_compile.prefix, of_this_compile.prefix_of_cpp);
    return ours && ours->prefix == link && ours->prefix_of_cpp == link ? theirs : std::nullopt;
}

// Creates the link. Returns the text that the build's launchers read, "PROGRAM\nPREFIX\nPREFIX_CPP\n", or ""
// if `ccache` cannot be looked up.
std::string prepare(const std::string& folder, const std::string& ccache) {
    const std::string link = folder + "/" + cache_miss_link;
    // ccache splits its prefix at spaces.
    if (link.find(' ') != std::string::npos) return {};
    if (::symlink(own_program().c_str(), link.c_str()) != 0 && errno != EEXIST) return {};
    const auto theirs = replaceable_prefixes(ccache, link);
    return theirs ? ccache + "\n" + theirs->prefix + "\n" + theirs->prefix_of_cpp + "\n" : std::string();
}

// The text of prepare(), computed once per build under a lock.
std::optional<std::string> prepared_once(const std::string& folder, const std::string& ccache) {
    const std::string path = folder + "/ccache", temporary = path + ".tmp";
    if (auto text = base::read_file(path, max_proc_file_bytes)) return std::move(*text);
    const base::Fd lock(::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    while (!lock || ::flock(lock.get(), LOCK_EX) != 0) {
        if (!lock || errno != EINTR) return std::nullopt;
    }
    if (auto text = base::read_file(path, max_proc_file_bytes)) return std::move(*text);
    auto text = prepare(folder, ccache);
    const base::Fd file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file || !base::write_all(file.get(), text) || ::rename(temporary.c_str(), path.c_str()) != 0)
        return std::nullopt;
    return text;
}

}  // namespace

std::string CompilerCache::prefix_program_of(const std::string& program) {
    return is_ccache(program) ? first_word(environment(prefix_variable)) : std::string();
}

std::optional<CompilerCache> CompilerCache::find(const std::string& program, const std::string& socket_path) {
    if (!is_ccache(program)) return std::nullopt;
    const std::string folder = folder_of(socket_path);
    const auto text = prepared_once(folder, program);
    const auto lines = base::split_lines(text ? *text : std::string_view());
    if (lines.size() < 3 || lines[0] != program) return std::nullopt;
    CompilerCache cache;
    cache.link_ = folder + "/" + cache_miss_link;
    cache.prefix_ = environment(prefix_variable);
    cache.prefix_of_cpp_ = environment(prefix_of_cpp_variable);
    // For ccache too, the environment takes precedence over the configuration.
    if (cache.prefix_.empty()) cache.prefix_ = lines[1];
    if (cache.prefix_of_cpp_.empty()) cache.prefix_of_cpp_ = lines[2];
    cache.noted_ = base::Fd(::memfd_create("compilers that ran", 0));  // inherited
    if (!cache.noted_ || ::access(cache.link_.c_str(), X_OK) != 0) return std::nullopt;
    return cache;
}

void CompilerCache::prepare_lookup() {
    set_prefixes(link_, link_);
    ::setenv(asking_variable, "1", 1);
}

void CompilerCache::prepare_compile() {
    ::unsetenv(asking_variable);
    // A cleaner of temporary folders may have removed the link while this compile waited.
    if (::access(link_.c_str(), X_OK) != 0) return set_prefixes(prefix_, prefix_of_cpp_);
    set_prefixes(prefix_.empty() ? link_ : link_ + " " + prefix_, prefix_of_cpp_);
    ::setenv(noted_variable, std::to_string(noted_.get()).c_str(), 1);
    if (::ftruncate(noted_.get(), 0) != 0) errno = 0;  // cannot fail for a memory file
}

bool CompilerCache::has_compiled() const {
    struct stat status {};
    return ::fstat(noted_.get(), &status) == 0 && status.st_size > 0;
}

void run_cache_miss(const std::vector<std::string>& arguments) {
    if (std::getenv(asking_variable) != nullptr) {
        // For a call that it never caches, ccache becomes this program; then the parent is the launcher.
        const pid_t parent = ::getppid();
        const std::string exe = "/proc/" + std::to_string(parent) + "/exe";
        std::error_code error;
        const auto program = fs::read_symlink(exe, error);
        if (!error && program.string() != own_program()) ::kill(parent, SIGTERM);
        ::_exit(1);
    }
    if (const auto noted = base::parse_decimal(environment(noted_variable))) {
        // If the write fails, the compile counts as a hit and is not measured.
        if (::write(static_cast<int>(*noted), "1", 1) < 0) errno = 0;
    }
    ::unsetenv(noted_variable);
    if (arguments.empty()) {
        base::print(stderr, "wheelyard-governor: %s needs a command\n", cache_miss_link);
        ::_exit(2);
    }
    become(arguments);
}

}  // namespace wheelyard::governor
