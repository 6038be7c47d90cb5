// Writes the library, and edits LD_PRELOAD and ASAN_OPTIONS.
#include "builder/governor/launch/interposer.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "builder/governor/admission/history.hpp"
#include "builder/governor/launch/message.hpp"
#include "builder/governor/launch/shims.hpp"
#include "builder/governor/memory/limits.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/fd.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace {

// The interposer is a tenth of that.
constexpr std::uint64_t max_interposer_bytes = mib;

// The loader maps code this way; a file system that is mounted noexec refuses it.
bool can_load(const std::string& path) {
    const base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return false;
    void* mapped = ::mmap(nullptr, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd.get(), 0);
    if (mapped == MAP_FAILED) return false;
    ::munmap(mapped, 1);
    return true;
}

std::string without(const std::string& list, std::string_view separators, std::string_view unwanted) {
    std::string kept;
    std::string_view rest = list;
    while (!rest.empty()) {
        const auto end = std::min(rest.find_first_of(separators), rest.size());
        const auto one = rest.substr(0, end);
        if (!one.empty() && one != unwanted) kept += (kept.empty() ? "" : ":") + std::string(one);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return kept;
}

}  // namespace

base::Result<std::string> install_interposer(const std::vector<std::string>& folders) {
    const auto bytes = interposer_bytes();
    constexpr std::string_view prefix = "libwheelyard-exec-";
    const std::string name = std::string(prefix) + std::to_string(base::hash_text(bytes)) + ".so";
    std::string reasons;
    for (const auto& folder : folders) {
        const std::string path = folder + "/" + name;
        // The loader splits LD_PRELOAD at these, and expands the last.
        if (path.find_first_of(": $") != std::string::npos) continue;
        // First: in a folder that another user can write, a good library could be replaced later.
        if (!prepare_kept(folder) || !base::make_directories(folder)) continue;
        const auto there = base::read_file(path, max_interposer_bytes);
        const bool complete = there && *there == bytes;
        mark_used(path);
        remove_unused(folder, prefix);
        if (complete && can_load(path)) return path;
        if (complete || !base::replace_file(path, bytes)) continue;
        if (can_load(path)) return path;
        ::unlink(path.c_str());
    }
    return base::fail("governor.interposer", "No folder from which a library can be loaded",
                      base::join(folders, ", "), "let TMPDIR name one that is not mounted noexec");
}

std::string without_library(const std::string& preload, const std::string& library) {
    return without(preload, ": ", library);
}

std::string without_asan_option(const std::string& options) {
    return without(options, ":", asan_option);
}

void preload(const std::string& library) {
    const std::string before = without_library(environment("LD_PRELOAD"), environment(interposer_variable));
    const std::string options = without_asan_option(environment("ASAN_OPTIONS"));
    set_or_unset(interposer_variable, library);
    if (library.empty()) {
        set_or_unset("LD_PRELOAD", before);
        set_or_unset("ASAN_OPTIONS", options);
        return;
    }
    set_or_unset("LD_PRELOAD", library + (before.empty() ? "" : ":" + before));
    set_or_unset("ASAN_OPTIONS", (options.empty() ? "" : options + ":") + asan_option);
    set_or_unset(program_variable, own_program());
    set_or_unset(shims_variable, shim_folder());
}

void mark_held() {
    ::setenv(held_variable, "1", 1);
    ::setenv("PATH", path_without(environment("PATH"), shim_folder()).c_str(), 1);
    if (std::getenv(interposer_variable) != nullptr) preload("");
}

}  // namespace wheelyard::governor
