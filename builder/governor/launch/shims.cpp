// Creates the shims, and finds the programs behind them.
#include "builder/governor/launch/shims.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "builder/governor/admission/history.hpp"
#include "builder/governor/launch/compile_command.hpp"
#include "builder/governor/launch/message.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace {

constexpr unsigned max_masquerade_folders = 4;  // on PATH before the compiler: ccache's, distcc's

namespace fs = std::filesystem;

bool is_executable(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

bool is_own(const std::string& path) {
    struct stat other {
    }, ours{};
    return ::stat(path.c_str(), &other) == 0 && ::stat("/proc/self/exe", &ours) == 0 &&
           other.st_dev == ours.st_dev && other.st_ino == ours.st_ino;
}

bool is_compiler_wrapper(std::string_view name) {
    return is_cache_name(name) || is_distributor_name(name);
}

std::string canonical(const std::string& program) {
    std::error_code error;
    const auto file = fs::canonical(program, error);
    return error ? std::string() : file.string();
}

// The compiler `name` behind the masquerade folders of wrappers that the command line names already.
std::optional<std::string> find_behind(const std::string& name, std::string path, bool cached,
                                       bool distributed) {
    auto real = find_real(name, path);
    for (unsigned passed = 0; real && passed < max_masquerade_folders; ++passed) {
        const std::string program = canonical(*real);
        const bool twice = (cached && is_cache_name(name_of(program))) ||
                           (distributed && is_distributor_name(name_of(program)));
        if (!twice) break;
        path = path_without(path, folder_of(*real));
        real = find_real(name, path);
    }
    return real;
}

}  // namespace

std::string own_program() {
    std::error_code error;
    const auto path = fs::read_symlink("/proc/self/exe", error);
    return error ? std::string() : path.string();
}

std::string shim_folder_of(const std::set<std::string>& names) {
    if (auto set = shim_folder(); !set.empty()) return set;
    const auto hash = base::hash_text(base::join(std::vector(names.begin(), names.end()), "/"));
    return kept_folder() / "shims" / std::to_string(hash);
}

std::string shim_folder() {
    return environment(shims_variable);
}

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

std::string path_without(const std::string& path, const std::string& folder) {
    if (folder.empty()) return path;
    std::vector<std::string> kept;
    for (const auto part : base::split(path, ':')) {
        if (part != folder) kept.emplace_back(part);
    }
    return base::join(kept, ":");
}

std::optional<std::string> find_real(const std::string& name, const std::string& path) {
    if (name.find('/') != std::string::npos) {
        return is_executable(name) && !is_own(name) ? std::optional(name) : std::nullopt;
    }
    for (const auto part : base::split(path, ':')) {
        const std::string candidate = (part.empty() ? "." : std::string(part)) + "/" + name;
        if (is_executable(candidate) && !is_own(candidate)) return candidate;
    }
    return std::nullopt;
}

std::string resolved_program(const std::string& name, const std::string& path) {
    const auto found = find_real(name, path);
    return found ? canonical(*found) : std::string();
}

std::string masquerading_distributor(const std::string& compiler, std::string path) {
    auto real = find_real(compiler, path);
    for (unsigned passed = 0; real && passed < max_masquerade_folders; ++passed) {
        std::string program = canonical(*real);
        if (is_distributor_name(name_of(program))) return program;
        if (!is_cache_name(name_of(program))) return {};
        path = path_without(path, folder_of(*real));
        real = find_real(std::string(name_of(compiler)), path);
    }
    return {};
}

std::vector<std::string> bypass_shims(std::vector<std::string> command, const std::string& folder,
                                      const std::string& path) {
    const std::string search = path_without(path, folder);
    bool cached = false, distributed = false;
    for (std::size_t i = 0; i < command.size(); ++i) {
        const std::string name(name_of(command[i]));
        if (command[i].find('/') != std::string::npos && is_own(command[i])) {
            if (auto real = find_behind(name, search, cached, distributed)) command[i] = std::move(*real);
        }
        if (!is_compiler_wrapper(name)) break;
        (is_cache_name(name) ? cached : distributed) = true;
        const auto next = command.begin() + static_cast<std::ptrdiff_t>(i) + 1;
        if (command.end() - next > 3 && is_own(*next) && next[1] == "launch" && next[2] == "--")
            command.erase(next, next + 3);
    }
    return command;
}

std::set<std::string> shimmed_names(const std::string& path) {
    std::set<std::string> names;
    for (const auto part : base::split(path, ':')) {
        if (part.empty()) continue;
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(fs::path(part), error)) {
            std::string name = entry.path().filename().string();
            const bool is_shimmed =
                is_compiler_name(name) || is_compiler_wrapper(name) || is_ninja(name) || is_make(name);
            if (is_shimmed && find_real(name, path)) names.insert(std::move(name));
        }
    }
    return names;
}

base::Status make_shims(const std::string& folder, const std::set<std::string>& names) {
    const std::string program = own_program();
    WHEELYARD_TRY(prepare_kept(folder));
    WHEELYARD_TRY(base::make_directories(folder));
    ::chmod(folder.c_str(), 0700);
    mark_used(folder);
    for (const auto& name : names) {
        const std::string link = folder + "/" + name;
        std::error_code error;
        if (fs::read_symlink(link, error) == fs::path(program)) continue;
        const std::string temporary = link + ".tmp." + std::to_string(::getpid());
        if (::symlink(program.c_str(), temporary.c_str()) != 0 ||
            ::rename(temporary.c_str(), link.c_str()) != 0) {
            return base::fail_errno("symlink", link, errno);
        }
    }
    return {};
}

}  // namespace wheelyard::governor
