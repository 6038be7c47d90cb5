// Environment variables of ccache(1), and one byte in a file that has no name.
#include "builder/governor/compiler_cache.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "builder/governor/compiler_process.hpp"
#include "builder/governor/limits.hpp"
#include "builder/governor/shims.hpp"
#include "lib/base/process.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::governor {
namespace {

namespace fs = std::filesystem;

constexpr const char* prefix_variable = "CCACHE_PREFIX";
constexpr const char* prefix_of_cpp_variable = "CCACHE_PREFIX_CPP";
constexpr const char* asking_variable = "WHEELYARD_GOVERNOR_ASKS_CACHE";
constexpr const char* noted_variable = "WHEELYARD_GOVERNOR_COMPILED";  // a descriptor

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : value;
}

void set_or_unset(const char* name, const std::string& value) {
    if (value.empty()) {
        ::unsetenv(name);
    } else {
        ::setenv(name, value.c_str(), 1);
    }
}

struct Prefixes {
    std::string prefix, prefix_of_cpp;
};

// As ccache has them from its files and its environment: "(default) prefix_command = ". Nothing where it does
// not say.
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

}  // namespace

void prepare_cache(const std::string& folder, const std::string& path) {
    ::unsetenv(cache_variable);
    const auto ccache = find_real("ccache", path);
    const std::string link = folder + "/" + cache_miss_link;
    // ccache divides its prefix at spaces.
    if (!ccache || link.find(' ') != std::string::npos) return;
    if (::symlink(own_program().c_str(), link.c_str()) != 0) return;
    const auto theirs = prefixes_of(*ccache);
    if (!theirs) return;  // its user's prefix must not get lost
    ::setenv(prefix_variable, link.c_str(), 1);
    ::setenv(prefix_of_cpp_variable, link.c_str(), 1);
    const auto ours = prefixes_of(*ccache);
    if (ours && ours->prefix == link && ours->prefix_of_cpp == link)
        ::setenv(cache_variable, resolved_program(*ccache, path).c_str(), 1);
    set_or_unset(prefix_variable, theirs->prefix);
    set_or_unset(prefix_of_cpp_variable, theirs->prefix_of_cpp);
}

std::optional<CompilerCache> CompilerCache::find(const std::string& program, const std::string& socket_path) {
    if (program.empty() || program != environment(cache_variable)) return std::nullopt;
    CompilerCache cache;
    cache.link_ = socket_path.substr(0, socket_path.rfind('/') + 1) + cache_miss_link;
    cache.prefix_ = environment(prefix_variable);
    cache.prefix_of_cpp_ = environment(prefix_of_cpp_variable);
    cache.noted_ = base::Fd(::memfd_create("compilers that ran", 0));  // inherited
    if (!cache.noted_ || ::access(cache.link_.c_str(), X_OK) != 0) return std::nullopt;
    return cache;
}

void CompilerCache::only_ask() {
    ::setenv(prefix_variable, link_.c_str(), 1);
    ::setenv(prefix_of_cpp_variable, link_.c_str(), 1);
    ::setenv(asking_variable, "1", 1);
}

void CompilerCache::let_compile() {
    ::setenv(prefix_variable, (prefix_.empty() ? link_ : link_ + " " + prefix_).c_str(), 1);
    set_or_unset(prefix_of_cpp_variable, prefix_of_cpp_);
    ::unsetenv(asking_variable);
    ::setenv(noted_variable, std::to_string(noted_.get()).c_str(), 1);
    if (::ftruncate(noted_.get(), 0) != 0) errno = 0;  // of a file in memory it cannot fail
}

bool CompilerCache::has_compiled() const {
    struct stat status {};
    return ::fstat(noted_.get(), &status) == 0 && status.st_size > 0;
}

void run_cache_miss(const std::vector<std::string>& arguments) {
    if (std::getenv(asking_variable) != nullptr) {
        // What it will not cache at all ccache becomes itself: then our parent is the launcher.
        const pid_t parent = ::getppid();
        const std::string exe = "/proc/" + std::to_string(parent) + "/exe";
        std::error_code error;
        const auto program = fs::read_symlink(exe, error);
        if (!error && program.string() != own_program()) ::kill(parent, SIGTERM);
        ::_exit(1);
    }
    if (const auto noted = base::parse_decimal(environment(noted_variable))) {
        if (::write(static_cast<int>(*noted), "1", 1) < 0) errno = 0;  // then it counts as a hit: not learnt
    }
    ::unsetenv(noted_variable);
    if (arguments.empty()) {
        std::fprintf(stderr, "wheelyard-governor: %s has no command\n", cache_miss_link);
        ::_exit(2);
    }
    become(arguments);
}

}  // namespace wheelyard::governor
