// A folder of links to this program, named like the compilers, caches and build tools on PATH. Builds share
// the folder of the same names only: a link without a program behind it would be found, and fail. No folder
// is removed, so that a compiler path recorded by a build stays valid. Outside a governed build a shim runs
// the real program.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::governor {

// The value of a variable; empty if it is not set.
[[nodiscard]] std::string environment(const char* name);
// Sets the variable in this process; removes it for an empty value.
void set_or_unset(const char* name, const std::string& value);
// PATH without the folder of shims.
[[nodiscard]] std::string path_without(const std::string& path, const std::string& folder);
// The first executable `name` in `path` that is not this program. A name with a slash is not searched.
[[nodiscard]] std::optional<std::string> find_real(const std::string& name, const std::string& path);

// The file that `name` resolves to through links, e.g. ccache for a g++ in its masquerade folder; "" for
// none.
[[nodiscard]] std::string resolved_program(const std::string& name, const std::string& path);

// The distributor that runs if `compiler` is searched in `path`: distcc, if g++ is found in its masquerade
// folder, or in that of a cache which comes before it; "" for none.
[[nodiscard]] std::string masquerading_distributor(const std::string& compiler, std::string path);

// Replaces the shims in `command`, also of another build's folder, by the next programs of that name on
// `path` without `folder`, since a cache distinguishes compilers by their files. After a cache, skips this
// program and masquerade folders of a cache; after a distributor, those of a distributor.
[[nodiscard]] std::vector<std::string> bypass_shims(std::vector<std::string> command,
                                                    const std::string& folder, const std::string& path);

// The names of the compilers, caches and build tools on `path`.
[[nodiscard]] std::set<std::string> shimmed_names(const std::string& path);
// Creates or completes the folder, with a link for each name.
[[nodiscard]] base::Status make_shims(const std::string& folder, const std::set<std::string>& names);
// The folder for these names: WHEELYARD_GOVERNOR_SHIMS, else `shims/HASH` in kept_folder().
[[nodiscard]] std::string shim_folder_of(const std::set<std::string>& names);
// The folder of the governed build that this process belongs to: WHEELYARD_GOVERNOR_SHIMS. Empty: it belongs
// to none.
[[nodiscard]] std::string shim_folder();
// The path of this executable; "" if unknown.
[[nodiscard]] std::string own_program();

enum class Jobs {
    as_given,  // the call is passed on unchanged
    window,    // -j with the window
    few,       // a small -j, for a make that cannot reach its parent's jobserver
    one,       // -j1, for such a make with several goals
};

[[nodiscard]] bool is_ninja(std::string_view name);
[[nodiscard]] bool is_make(std::string_view name);

[[nodiscard]] Jobs jobs_for_ninja(const std::vector<std::string>& arguments);

struct MakeEnvironment {
    std::string flags;            // MAKEFLAGS
    bool below_ours = false;      // a parent make got its -j from us
    bool jobserver_open = false;  // the jobserver in `flags` can be used
};
// `$(MAKE)` in a recipe shares its parent's jobserver and stays unchanged. A plain `make` cannot, because GNU
// make closes the descriptors; it would warn and continue with -j1. If the jobserver exists because of our
// -j, the shim prevents that warning. Several goals (`make clean all`) without a -j are made one after the
// other, so they must not run in parallel.
[[nodiscard]] Jobs jobs_for_make(const std::vector<std::string>& arguments,
                                 const MakeEnvironment& environment);

// The number of the last -j in the arguments of ninja or make, 0 for make's -j without one; nullopt without a
// -j, and for a call that builds nothing.
[[nodiscard]] std::optional<unsigned> given_jobs(bool of_ninja, const std::vector<std::string>& arguments);

// The jobserver in MAKEFLAGS: "3,4" (descriptors to read and to write), "fifo:PATH", or "".
[[nodiscard]] std::string jobserver_of(std::string_view makeflags);
// MAKEFLAGS without the jobserver and -j.
[[nodiscard]] std::string without_jobserver(std::string_view makeflags);

}  // namespace wheelyard::governor
